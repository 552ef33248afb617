"""Forms of one English word: *cheap* and *cheaper*, *stands*, *standing* and *stood*."""

from functools import cache
from importlib.resources import files

_ENDINGS = frozenset("s es ed d er r est st ing ly y ies ied ier iest ily".split())
_INFLECTIONS = {
    "s": "",
    "es": "",
    "ed": "",
    "d": "",
    "ing": "",
    "ies": "y",
    "ied": "y",
    "est": "er",
}
"""Endings, and what they stand in the place of: *tries* is of *try*, *highest* of *higher*."""
_SHORTEST_STEM = 3


def is_form(word: str, other: str) -> bool:
    """Whether two words look like forms of one, by their endings or as irregular ones."""
    # Of one length, *employer* would be a form of *employee*, though not the other way round.
    if len(word) != len(other) and differ_by_ending(word, other):
        return True
    return not _base_forms(word).isdisjoint(_base_forms(other))


def differ_by_ending(word: str, other: str) -> bool:
    """Whether the longer word looks like the other with an ending: *cheap*, *cheaper*."""
    short, long = sorted((word, other), key=len)
    stems = {short, short.removesuffix("e"), short.removesuffix("y"), short + short[-1:]}
    return any(long.startswith(stem) and long[len(stem) :] in _ENDINGS for stem in stems if stem)


@cache
def _base_forms(word: str) -> frozenset[str]:
    """What a word may be an inflected form of; some of it is a stem that is no word itself."""
    stems = {
        word.removesuffix(ending) + instead
        for ending, instead in _INFLECTIONS.items()
        if word.endswith(ending) and len(word) - len(ending) + len(instead) >= _SHORTEST_STEM
    }
    # *stopping* is of *stop*, and *writing* of *write*.
    stems |= {stem[:-1] for stem in stems if stem[-1:] == stem[-2:-1]}
    stems |= {f"{stem}e" for stem in stems if word.endswith("ing")}
    return frozenset({word, *stems, *_irregular().get(word, ())})


@cache
def _irregular() -> dict[str, list[str]]:
    """By form, the base forms."""
    text = (files("pair2vec.relations") / "data" / "irregular_forms.txt").read_text()
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        base, *forms = line.split()
        if base != "#":
            for form in forms:
                found.setdefault(form, []).append(base)
    return found

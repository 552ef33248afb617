"""Forms of English words by spelling: inflections, negations, and known forms of unknown words."""

import re
from collections.abc import Container, Iterator
from functools import cache, lru_cache
from importlib.resources import files

ENDINGS = frozenset("s es ed d er r est st ing ly y ies ied ier iest ily".split())
"""With one of them, or without, two words of different length are forms of one."""
INFLECTIONS = {
    "s": "",
    "es": "",
    "ed": "",
    "d": "",
    "ing": "",
    "ies": "y",
    "ied": "y",
    "est": "er",
}
"""Endings, and what they replace: *tries* is a form of *try*, *highest* of *higher*."""
_SHORTEST_STEM = 3
_REMEMBERED = 1 << 17
"""Words whose forms are remembered: more than a vocabulary has, fewer than users may invent."""

NEGATING_PREFIXES = frozenset(
    "un in im il ir dis non non- mis de anti anti- counter counter-".split()
)
_SHORTEST_NEGATED = 4
"""*into* is no negation of *to*."""
OPPOSITE_PREFIXES = tuple(
    tuple(pair.split("/"))
    for pair in """en/de up/down on/off in/out over/under max/min pre/post inter/intra hyper/hypo
    macro/micro mono/poly""".split()
)

SPELLINGS = (("our", "or"), ("or", "our"), ("ise", "ize"), ("ize", "ise"))
"""British and American spellings of a part of a word."""
FORMS = (
    *(("", "s"), ("", "es"), ("s", ""), ("es", ""), ("y", "ies"), ("ies", "y")),
    *(("", "d"), ("", "ed"), ("", "ing"), ("e", "ing")),
)
"""Endings, and what may be in their place in a known form."""
VARIANTS = (("isation", "ization"), ("ise", "ize"), ("yse", "yze"), ("our", "or"), ("ogue", "og"))
"""What British and American spellings of one word differ in."""
_SHORTEST_PART = 3
_SHORTEST_HEAD = 4
"""Letters of a part of a compound, and of its head."""


def is_form(word: str, other: str) -> bool:
    """Whether two words look like forms of one: *cheap* and *cheaper*, *stands* and *stood*."""
    # Of equal length, *employer* would be a form of *employee*, though not the other way round.
    may_differ = len(word) != len(other) and word[:1] == other[:1]
    if may_differ and differ_by_ending(word, other):
        return True
    return not base_forms(word).isdisjoint(base_forms(other))


def differ_by_ending(word: str, other: str) -> bool:
    """Whether the longer word looks like the other with an ending: *cheap*, *cheaper*."""
    short, long = sorted((word, other), key=len)
    stems = {short, short.removesuffix("e"), short.removesuffix("y"), short + short[-1:]}
    return any(long.startswith(stem) and long[len(stem) :] in ENDINGS for stem in stems if stem)


@lru_cache(maxsize=_REMEMBERED)
def base_forms(word: str) -> frozenset[str]:
    """What a word may be an inflected form of; some of them are stems that are no words."""
    stems = {
        word.removesuffix(ending) + replaced
        for ending, replaced in INFLECTIONS.items()
        if word.endswith(ending) and len(word) - len(ending) + len(replaced) >= _SHORTEST_STEM
    }
    # *stopping* is a form of *stop*, and *writing* of *write*.
    stems |= {stem[:-1] for stem in stems if stem[-1:] == stem[-2:-1]}
    stems |= {f"{stem}e" for stem in stems if word.endswith("ing")}
    return frozenset({word, *stems, *irregular_bases().get(word, ())})


@cache
def irregular_bases() -> dict[str, list[str]]:
    """The base forms of each irregular form."""
    text = (files("pair2vec.relations") / "data" / "irregular_forms.txt").read_text()
    bases: dict[str, list[str]] = {}
    for line in text.splitlines():
        base, *forms = line.split()
        if base != "#":
            for form in forms:
                bases.setdefault(form, []).append(base)
    return bases


@lru_cache(maxsize=_REMEMBERED)
def spelling_key(word: str) -> str:
    """The same for British and American spellings of a word; itself may be no word."""
    for british, american in VARIANTS:
        word = word.replace(british, american)
    return word


def is_negated_form(word: str, other: str) -> bool:
    """Whether one of two words looks like the negation of the other: *unfair* and *fair*.

    *useful* and *useless* negate each other. Some that look so do not: *port* and *import*. Such
    opposites seldom occur together, for a sentence with one hardly needs the other: their spelling
    says what contexts do not.
    """
    # Nearly all pairs end here, and there may be millions.
    if word[-1:] != other[-1:] and not word.endswith("ful") and not other.endswith("ful"):
        return False
    short, long = sorted((word, other), key=len)
    if long.endswith(short):
        prefix = long[: len(long) - len(short)]
        return len(short) >= _SHORTEST_NEGATED and prefix in NEGATING_PREFIXES
    having, lacking = (word, other) if word.endswith("ful") else (other, word)
    return having.endswith("ful") and lacking == having.removesuffix("ful") + "less"


def differ_by_prefix(word: str, other: str) -> bool:
    """Whether the beginnings of two words are opposites: *unfair*, *fair*; *encode*, *decode*."""
    if is_negated_form(word, other):
        return True
    return any(
        len(one) >= len(first) + _SHORTEST_NEGATED
        and one.startswith(first)
        and two == second + one[len(first) :]
        for one, two in ((word, other), (other, word))
        for first, second in OPPOSITE_PREFIXES
    )


def closest_known_form(word: str, known: Container[str]) -> str | None:
    """The known word to use for one that may be out of the vocabulary; None if there is none.

    A known word is its own; ``Body_part`` is read as *part*, ``trouser`` as *trousers*,
    ``bookcase`` as *case*.
    """
    return next((spelling for spelling in spelling_variants(word) if spelling in known), None) or (
        _head(word.lower(), known)
    )


def spelling_variants(word: str) -> Iterator[str]:
    """The word in lower case; then its other spellings and forms, the most likely first."""
    lower = word.lower()
    yield lower
    for joint in ("", "-"):
        joined = re.sub(r"[-_ ]", joint, lower)
        if joined != lower:
            yield joined
    for ending, other in FORMS:
        if lower.endswith(ending):
            yield lower[: len(lower) - len(ending)] + other
    for part, other in SPELLINGS:
        if part in lower:
            yield lower.replace(part, other)
    # The head of a term comes last: a body part is a part.
    parts = re.split(r"[-_ ]", lower)
    yield from (part for part in reversed(parts[1:] and parts) if len(part) >= _SHORTEST_PART)


def _head(word: str, known: Container[str]) -> str | None:
    """The longest known ending of a compound whose beginning is known, too."""
    cuts = range(_SHORTEST_PART, len(word) - _SHORTEST_HEAD + 1)
    return next((word[cut:] for cut in cuts if word[:cut] in known and word[cut:] in known), None)

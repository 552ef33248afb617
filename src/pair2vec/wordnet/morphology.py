"""Base forms of words, as WordNet finds them (Morphy, morphy(7WN)).

A form is looked for in the list of irregular ones; if it is not there, endings are taken off by the
rules of its part of speech, and the first rule that gives a word of WordNet's decides. The form
itself counts as well if WordNet has it: *saw* is a noun of its own and the past of *see*.
"""

from collections.abc import Iterator
from typing import NamedTuple

from pair2vec.wordnet.dictionary import WordNet
from pair2vec.wordnet.synsets import PARTS

_RULES: dict[str, tuple[tuple[str, str], ...]] = {
    "n": (
        *(("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh")),
        *(("men", "man"), ("ies", "y")),
    ),
    "v": (
        *(("s", ""), ("ies", "y"), ("es", "e"), ("es", "")),
        *(("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    ),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}
"""Endings, and what takes their place."""

_MEASURE = "ful"
"""A noun such as *boxful* has its plural before this: *boxesful*."""


class Lemma(NamedTuple):
    """A base form and its part of speech."""

    spelling: str
    part: str


def base_forms(wordnet: WordNet, word: str) -> frozenset[Lemma]:
    """All base forms of a word that WordNet has, in any part of speech.

    The word is taken in lower case; blanks in it are those of a collocation.
    """
    spelling = "_".join(word.lower().split())
    return frozenset(
        Lemma(form, part) for part in PARTS for form in morphy(wordnet, spelling, part)
    )


def morphy(wordnet: WordNet, form: str, part: str) -> list[str]:
    """The base forms of `form`, in lower case and with ``_`` for blanks, as a part of speech."""
    found = [form] if wordnet.has(form, part) else []
    changed = [base for base in _changed(wordnet, form, part) if wordnet.has(base, part)]
    return list(dict.fromkeys(found + changed))


def _changed(wordnet: WordNet, form: str, part: str) -> list[str]:
    """What a form may be one of, whether WordNet has it or not."""
    if irregular := wordnet.irregular(form, part):
        return list(irregular)
    if "_" in form:
        return list(_collocations(wordnet, form, part))
    return _detached(wordnet, form, part)


def _detached(wordnet: WordNet, form: str, part: str) -> list[str]:
    """By the first rule that gives a word of WordNet's: *hoping* is of *hope*, not of *hop*."""
    stem, measure = form, ""
    if part == "n":
        if form.endswith(_MEASURE):
            stem, measure = form.removesuffix(_MEASURE), _MEASURE
        elif form.endswith("ss") or len(form) <= 2:
            return []
    for ending, instead in _RULES[part]:
        if stem.endswith(ending):
            base = f"{stem.removesuffix(ending)}{instead}{measure}"
            if wordnet.has(base, part):
                return [base]
    return []


def _collocations(wordnet: WordNet, form: str, part: str) -> Iterator[str]:
    """With the first word in its base form, with the last, and with every word.

    That is *attorneys general* and *looked up*; *glasses of wines* has no rule, as in WordNet.
    """
    words = form.split("_")
    bases = [_first_base(wordnet, word, part) for word in words]
    yield "_".join([bases[0], *words[1:]])
    yield "_".join([*words[:-1], bases[-1]])
    yield "_".join(bases)


def _first_base(wordnet: WordNet, word: str, part: str) -> str:
    """A word of a collocation in its base form; the word itself if none is known."""
    bases = (base for base in _changed(wordnet, word, part) if wordnet.has(base, part))
    return next(bases, word)

"""Base forms of words, as WordNet finds them (Morphy, morphy(7WN)).

A form is looked up in the exception list; if it is not there, suffixes are detached by the rules of
its part of speech (pos), and the first rule that gives a lemma of WordNet applies. The form itself
counts as well if it is a lemma: *saw* is a noun of its own and the past of *see*.
"""

from collections.abc import Iterator
from typing import NamedTuple

from pair2vec.wordnet.dictionary import POS_FILES, WordNet

_DETACHMENT_RULES: dict[str, tuple[tuple[str, str], ...]] = {
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
"""Suffixes, and the endings that replace them."""

_FUL = "ful"
"""A noun such as *boxful* is inflected before this suffix: *boxesful*."""


class Lemma(NamedTuple):
    """A base form and its part of speech."""

    spelling: str
    pos: str


def base_forms(wordnet: WordNet, word: str) -> frozenset[Lemma]:
    """All base forms of a word that are in WordNet, in any part of speech.

    Case is ignored; a word with blanks is a collocation.
    """
    spelling = "_".join(word.lower().split())
    return frozenset(
        Lemma(form, pos) for pos in POS_FILES for form in morphy(wordnet, spelling, pos)
    )


def morphy(wordnet: WordNet, form: str, pos: str) -> list[str]:
    """The base forms of `form`, in lower case and with ``_`` for blanks, as a part of speech."""
    own = [form] if wordnet.has_lemma(form, pos) else []
    return list(dict.fromkeys(own + _other_bases(wordnet, form, pos)))


def _other_bases(wordnet: WordNet, form: str, pos: str) -> list[str]:
    """The base forms beside the form itself."""
    candidates: list[str] = list(wordnet.irregular_bases(form, pos))
    if not candidates:
        candidates = list(
            _collocation_bases(wordnet, form, pos)
            if "_" in form
            else _detach_suffix(wordnet, form, pos)
        )
    return [base for base in candidates if wordnet.has_lemma(base, pos)]


def _detach_suffix(wordnet: WordNet, form: str, pos: str) -> list[str]:
    """By the first rule that gives a lemma: *hoping* is of *hope*, not of *hop*."""
    stem, ful = form, ""
    if pos == "n":
        if form.endswith(_FUL):
            stem, ful = form.removesuffix(_FUL), _FUL
        elif form.endswith("ss") or len(form) <= 2:
            return []
    for suffix, ending in _DETACHMENT_RULES[pos]:
        if stem.endswith(suffix):
            base = f"{stem.removesuffix(suffix)}{ending}{ful}"
            if wordnet.has_lemma(base, pos):
                return [base]
    return []


def _collocation_bases(wordnet: WordNet, form: str, pos: str) -> Iterator[str]:
    """With the first word in its base form, with the last, and with every word.

    That is *attorneys general* and *looked up*; *glasses of wines* has no rule, as in WordNet.
    """
    words = form.split("_")
    bases = [next(iter(_other_bases(wordnet, word, pos)), word) for word in words]
    yield "_".join([bases[0], *words[1:]])
    yield "_".join([*words[:-1], bases[-1]])
    yield "_".join(bases)

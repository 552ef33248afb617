"""The entries of some terms: candidates, their relations, and what the text says of them.

Done by any number of processes, each of which opens corpus and model once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pair2vec.lexicon.candidates import Candidates
from pair2vec.lexicon.entries import Entry
from pair2vec.lexicon.evidence import find_evidence
from pair2vec.lexicon.occurrences import Occurrences, open_occurrences
from pair2vec.lexicon.telling import Telling
from pair2vec.lexicon.terms import Terms, terms_of
from pair2vec.query import Pair2vec, load
from pair2vec.query.relation_definitions import NONE
from pair2vec.text.corpus import open_corpus
from pair2vec.text.spelling import WordPair


@dataclass(frozen=True, kw_only=True, slots=True)
class LexiconConfig:
    """What is an entry."""

    relations: tuple[str, ...] = ()
    """Which are wanted; none means all."""
    probability: float = 0.65
    """The least of an entry."""
    unrelated: float = 0.9
    """The share of candidates that have none of the relations."""
    per_term: int = 20
    """The most entries of a term, the likeliest."""
    evidence: int = 3
    """The most sentences of an entry."""
    needs_evidence: bool = False
    """Whether an entry without a sentence is left out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LexiconPlaces:
    """Where everything is; small, to be sent to other processes."""

    corpus: Path
    model: Path
    relations: Path | None
    terms: tuple[str, ...]


class Portion(NamedTuple):
    """A part of the work: the terms from one number to another."""

    places: LexiconPlaces
    config: LexiconConfig
    first: int
    last: int


class Made(NamedTuple):
    """A part of the lexicon."""

    first: int
    last: int
    entries: list[Entry]


def make_portion(portion: Portion) -> Made:
    """The entries of its terms, in the order of the terms, the likeliest first."""
    workshop = _workshop(portion.places)
    entries: list[Entry] = []
    for term in range(portion.first, portion.last):
        entries += workshop.entries(term, portion.config)
    return Made(portion.first, portion.last, entries)


@cache
def _workshop(places: LexiconPlaces) -> "Workshop":
    return Workshop(places)


class Workshop:
    """Everything open that the work needs."""

    def __init__(self, places: LexiconPlaces) -> None:
        self._model: Pair2vec = load(places.model)
        self._index: Occurrences = open_occurrences(open_corpus(places.corpus))
        vocabulary = self._index.corpus.vocabulary
        self._terms: Terms = terms_of(places.terms, vocabulary, self._model.vocabulary)
        self._candidates = Candidates(self._index, self._terms, self._model.unit_words)
        self._relations = self._model.relations(places.relations)
        self._telling = Telling(self._model, self._relations.definitions, vocabulary)

    def entries(self, term: int, config: LexiconConfig) -> list[Entry]:
        """Of one term."""
        words = self._terms.words
        partners = self._candidates.of(term).tolist()
        if not partners:
            return []
        pairs = [(words[term], words[other]) for other in partners]
        found = self._relations.score(pairs, unrelated=config.unrelated)
        names = np.array(self._relations.names)
        best = found.argmax(axis=1)
        likely = found[np.arange(len(partners)), best]
        wanted = (names[best] != NONE) & (likely >= config.probability)
        if config.relations:
            wanted &= np.isin(names[best], config.relations)
        order = [row for row in np.argsort(-likely, kind="stable").tolist() if wanted[row]]
        made = (
            self._entry(term, partners[row], str(names[best[row]]), float(likely[row]), config)
            for row in order
        )
        kept = (entry for entry in made if entry.evidence or not config.needs_evidence)
        return [entry for entry, _ in zip(kept, range(config.per_term), strict=False)]

    def _entry(
        self, term: int, other: int, relation: str, probability: float, config: LexiconConfig
    ) -> Entry:
        ids = self._terms.in_corpus
        pair = WordPair(int(ids[term]), int(ids[other]))
        fit = self._telling.of(relation)
        evidence = find_evidence(self._index, pair, fit, top=config.evidence)
        words = self._terms.words
        return Entry(words[term], relation, words[other], probability, evidence)


def portions(
    places: LexiconPlaces, config: LexiconConfig, done: Sequence[int], size: int
) -> list[Portion]:
    """The work that is left; `done` are the first terms of what is there already."""
    starts = range(0, len(places.terms), size)
    return [
        Portion(places, config, start, min(start + size, len(places.terms)))
        for start in starts
        if start not in done
    ]

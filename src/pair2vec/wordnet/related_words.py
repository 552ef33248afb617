"""All related pairs among given words, without asking for each pair.

Words meet in synsets: x and y are synonyms if both are in one, y is above x if y is in one that is
above x, and so on. So each relation is a join of two lists, (word, synset) by synset, and what it
costs is the related pairs, not all pairs.
"""

from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import Int64Array
from pair2vec.wordnet.dictionary import WordNet
from pair2vec.wordnet.morphology import Lemma, base_forms
from pair2vec.wordnet.relations import EDGES, WORDNET_RELATIONS, Senses


class RelatedWords(NamedTuple):
    """The words that WordNet has, numbered, and all pairs of numbers with a relation."""

    numbers: dict[str, int]
    """From 1, by word in lower case. Words with the same base forms share one, for they are in the
    same relations; a word that WordNet does not have is not here."""
    first: Int64Array
    """(K,) pairs in ascending order of first, then of second."""
    second: Int64Array
    features: NDArray[np.float32]
    """(K, 5) in the order of `WORDNET_RELATIONS`."""


def related_words(wordnet: WordNet, words: Iterable[str]) -> RelatedWords:
    """The relations among all of `words`, as `relations` gives them for each pair."""
    forms = {word: base_forms(wordnet, word) for word in dict.fromkeys(map(str.lower, words))}
    number_of: dict[frozenset[Lemma], int] = {}
    numbers = {
        word: number_of.setdefault(lemmas, len(number_of) + 1)
        for word, lemmas in forms.items()
        if lemmas
    }
    entries = [Senses(wordnet, lemmas) for lemmas in number_of]
    keys, features = _relations(entries, size=len(entries) + 1)
    first, second = np.divmod(keys, len(entries) + 1)
    return RelatedWords(numbers, first, second, features)


class _Membership(NamedTuple):
    """Which entry, by number, meets others where."""

    entry: Int64Array
    place: Int64Array


class _Places:
    """Synsets and lemmas as numbers."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def memberships(self, places: Iterable[Iterable[Hashable]]) -> _Membership:
        """The places of each entry; the first has number 1."""
        numbers = self._numbers
        rows = [
            (entry, numbers.setdefault(place, len(numbers)))
            for entry, those in enumerate(places, start=1)
            for place in those
        ]
        return _Membership(*np.array(rows, np.int64).reshape(-1, 2).T)


def _relations(entries: list[Senses], size: int) -> tuple[Int64Array, NDArray[np.float32]]:
    """Keys first · size + second of all related pairs, ascending, and their features."""
    columns = _columns(entries, size)
    keys = _distinct(np.concatenate([found for found, _ in columns]))
    features = np.zeros((len(keys), len(WORDNET_RELATIONS)), np.float32)
    for column, (found, strengths) in enumerate(columns):
        features[np.searchsorted(keys, found), column] = strengths
    return keys, features


def _columns(
    entries: list[Senses], size: int
) -> list[tuple[Int64Array, NDArray[np.float32] | float]]:
    """For each relation the distinct keys of its pairs, and how strongly it holds of each."""
    synsets = _Places()
    own = synsets.memberships(entry.synsets for entry in entries)
    same = _meetings(own, own, size)
    above, nearness = _above(entries, synsets, own, size)
    parents = synsets.memberships(_parents(entry) for entry in entries)
    siblings = _without_itself(_meetings(parents, parents, size), size)
    lemmas = _Places()
    named = lemmas.memberships(entry.lemmas for entry in entries)
    opposed = lemmas.memberships(entry.antonyms for entry in entries)
    opposites = _without_itself(_meetings(opposed, named, size), size)
    return [
        (same, 1.0),
        (np.union1d(opposites, _exchanged(opposites, size)), 1.0),
        (above, nearness),
        (_exchanged(above, size), nearness),
        (np.setdiff1d(siblings, same, assume_unique=True), 1.0),
    ]


def _parents(entry: Senses) -> list[Hashable]:
    return [place for place, edges in entry.hypernyms.items() if edges == 1]


def _above(
    entries: list[Senses], synsets: _Places, own: _Membership, size: int
) -> tuple[Int64Array, NDArray[np.float32]]:
    """The pairs whose second entry is above the first, and how near."""
    found = np.zeros(0, np.int64)
    nearness = np.zeros(0, np.float32)
    for edges in range(1, EDGES):
        level = synsets.memberships(
            (place for place, distance in entry.hypernyms.items() if distance == edges)
            for entry in entries
        )
        # The nearest counts, and those come first.
        keys = _without_itself(_meetings(level, own, size), size)
        keys = np.setdiff1d(keys, found, assume_unique=True)
        found = np.concatenate([found, keys])
        nearness = np.append(nearness, np.full(len(keys), 1 - edges / EDGES, np.float32))
    return found, nearness


def _meetings(first: _Membership, second: _Membership, size: int) -> Int64Array:
    """The distinct keys of entries of `first` and of `second` that have a place in common."""
    order = np.argsort(second.place, kind="stable")
    places, entries = second.place[order], second.entry[order]
    starts = np.searchsorted(places, first.place, "left")
    counts = np.searchsorted(places, first.place, "right") - starts
    ends = np.cumsum(counts)
    within = np.arange(counts.sum()) - np.repeat(ends - counts, counts)
    met = entries[np.repeat(starts, counts) + within]
    return _distinct(np.repeat(first.entry, counts) * size + met)


def _distinct(keys: Int64Array) -> Int64Array:
    """Each once, ascending. Sorted, because np.unique hashes, which takes four times as long."""
    ordered = np.sort(keys)
    is_new = np.ones(len(ordered), np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_new]


def _without_itself(keys: Int64Array, size: int) -> Int64Array:
    """All keys but those of an entry beside itself."""
    are_two: NDArray[np.bool_] = keys // size != keys % size
    return keys[are_two]


def _exchanged(keys: Int64Array, size: int) -> Int64Array:
    """Those of the same pairs, second first."""
    return keys % size * size + keys // size

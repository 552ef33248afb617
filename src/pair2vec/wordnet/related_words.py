"""The relations among all of a set of words at once, in time linear in the related pairs.

Words are related through shared keys: x and y are synonyms if both are in one synset, y is a
hypernym of x if it is in a synset that is a hypernym of x, and so on. So each relation is an inner
join of two lists (word, synset) on the synset, and its cost is the number of related pairs.
"""

from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import Int64Array
from pair2vec.wordnet.dictionary import WordNet
from pair2vec.wordnet.morphology import Lemma, base_forms
from pair2vec.wordnet.relations import MAX_EDGES, WORDNET_RELATIONS, Senses


class RelatedWords(NamedTuple):
    """The words that WordNet has, with ids, and all pairs of ids with a relation."""

    ids: dict[str, int]
    """From 1, by word in lower case. Words with the same base forms share an id, since they have
    the same relations; a word that WordNet does not have is missing."""
    first: Int64Array
    """(K,) pairs sorted by first, then by second."""
    second: Int64Array
    features: NDArray[np.float32]
    """(K, 5) in the order of `WORDNET_RELATIONS`."""


def related_words(wordnet: WordNet, words: Iterable[str]) -> RelatedWords:
    """The relations among all of `words`, equal to `wordnet_relations` of each pair."""
    lemmas = {word: base_forms(wordnet, word) for word in dict.fromkeys(map(str.lower, words))}
    lemma_ids: dict[frozenset[Lemma], int] = {}
    ids = {
        word: lemma_ids.setdefault(forms, len(lemma_ids) + 1)
        for word, forms in lemmas.items()
        if forms
    }
    senses = [Senses(wordnet, forms) for forms in lemma_ids]
    size = len(senses) + 1
    columns = _relation_columns(senses, size)
    keys = _distinct(np.concatenate([column_keys for column_keys, _ in columns]))
    features = np.zeros((len(keys), len(WORDNET_RELATIONS)), np.float32)
    for column, (column_keys, strengths) in enumerate(columns):
        features[np.searchsorted(keys, column_keys), column] = strengths
    first, second = np.divmod(keys, size)
    return RelatedWords(ids, first, second, features)


def _relation_columns(
    senses: list[Senses], size: int
) -> list[tuple[Int64Array, NDArray[np.float32] | float]]:
    """For each relation the distinct keys first · size + second of its pairs, and its strengths."""
    synsets = _KeyIds()
    own = synsets.rows(word.synsets for word in senses)
    synonyms = _join(own, own, size)
    hypernyms, strengths = _hypernyms(senses, synsets, own, size)
    parents = synsets.rows(_synsets_at(word, 1) for word in senses)
    siblings = _without_self(_join(parents, parents, size), size)
    lemmas = _KeyIds()
    names = lemmas.rows(word.lemmas for word in senses)
    opposites = lemmas.rows(word.antonyms for word in senses)
    antonyms = _without_self(_join(opposites, names, size), size)
    return [
        (synonyms, 1.0),
        (np.union1d(antonyms, _swapped(antonyms, size)), 1.0),
        (hypernyms, strengths),
        (_swapped(hypernyms, size), strengths),
        (np.setdiff1d(siblings, synonyms, assume_unique=True), 1.0),
    ]


def _hypernyms(
    senses: list[Senses], synsets: "_KeyIds", own: "_Rows", size: int
) -> tuple[Int64Array, NDArray[np.float32]]:
    """The pairs whose second word is a hypernym of the first, and the strength of each."""
    hypernyms = np.zeros(0, np.int64)
    strengths = np.zeros(0, np.float32)
    for edges in range(1, MAX_EDGES):
        level = synsets.rows(_synsets_at(word, edges) for word in senses)
        # The shortest path counts, and short ones come first.
        keys = _without_self(_join(level, own, size), size)
        keys = np.setdiff1d(keys, hypernyms, assume_unique=True)
        hypernyms = np.concatenate([hypernyms, keys])
        strengths = np.append(strengths, np.full(len(keys), 1 - edges / MAX_EDGES, np.float32))
    return hypernyms, strengths


def _synsets_at(word: Senses, edges: int) -> list[Hashable]:
    """The hypernyms of a word at a distance."""
    return [synset for synset, distance in word.hypernyms.items() if distance == edges]


class _Rows(NamedTuple):
    """A table of words and keys, one row for each key of each word."""

    word: Int64Array
    key: Int64Array


class _KeyIds:
    """Assigns ids to the keys (synsets or lemmas) that words are joined on."""

    def __init__(self) -> None:
        self._ids: dict[Hashable, int] = {}

    def rows(self, keys: Iterable[Iterable[Hashable]]) -> _Rows:
        """The keys of each word; the first word has the id 1."""
        ids = self._ids
        rows = [
            (word, ids.setdefault(key, len(ids)))
            for word, word_keys in enumerate(keys, start=1)
            for key in word_keys
        ]
        return _Rows(*np.array(rows, np.int64).reshape(-1, 2).T)


def _join(first: _Rows, second: _Rows, size: int) -> Int64Array:
    """Inner join: the distinct pairs of a word of `first` and one of `second` that share a key."""
    order = np.argsort(second.key, kind="stable")
    keys, words = second.key[order], second.word[order]
    starts = np.searchsorted(keys, first.key, "left")
    counts = np.searchsorted(keys, first.key, "right") - starts
    ends = np.cumsum(counts)
    within = np.arange(counts.sum()) - np.repeat(ends - counts, counts)
    matches = words[np.repeat(starts, counts) + within]
    return _distinct(np.repeat(first.word, counts) * size + matches)


def _distinct(keys: Int64Array) -> Int64Array:
    """Sorted and unique; np.unique hashes, which takes four times as long."""
    ordered = np.sort(keys)
    is_new = np.ones(len(ordered), np.bool_)
    is_new[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_new]


def _without_self(keys: Int64Array, size: int) -> Int64Array:
    """Without the pairs of a word with itself."""
    is_pair: NDArray[np.bool_] = keys // size != keys % size
    return keys[is_pair]


def _swapped(keys: Int64Array, size: int) -> Int64Array:
    """The same pairs, second word first."""
    return keys % size * size + keys // size

"""Pairs of terms worth a look: those that stand near each other in the text, or are alike.

Of ten thousand terms there are fifty million pairs, and a relation between hardly any of them.

Shapes: T terms, K candidates of a term, D dimension.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pair2vec.lexicon.occurrences import Occurrences
from pair2vec.lexicon.terms import Terms
from pair2vec.query.half_pair import Vectors
from pair2vec.text.patterns import DISTANCES
from pair2vec.text.vocabulary import BOUNDARY

NEAR, ALIKE = 24, 16
"""How many partners a term has by text, and by its vector."""
MOST_PLACES = 20_000
"""Of a frequent term that are looked at, spread over the corpus."""

Numbers = NDArray[np.intp]


class Candidates:
    """Asked for the partners of one term after the other."""

    def __init__(self, index: Occurrences, terms: Terms, words: Vectors) -> None:
        """`words` are the model's, of length one: (V, D)."""
        self._index, self._terms = index, terms
        self._vectors = words[terms.in_model]
        vocabulary = index.corpus.vocabulary
        self._number_of = np.full(len(vocabulary), -1, np.intp)
        self._number_of[terms.in_corpus] = np.arange(len(terms.words))
        self._roots = np.sqrt(vocabulary.counts[terms.in_corpus])

    def of(self, term: int) -> Numbers:
        """The numbers of terms that may be related to a term, in order."""
        partners = np.concatenate([self._near(term), self._alike(term)])
        return np.unique(partners[partners != term])

    def _near(self, term: int) -> Numbers:
        """By how often they stand near it, for how frequent they are."""
        counts = np.zeros(len(self._terms.words), np.int64)
        for found in self._windows(int(self._terms.in_corpus[term])):
            numbers = self._number_of[found]
            counts += np.bincount(numbers[numbers >= 0], minlength=len(counts))
        return _highest(counts / self._roots, NEAR)

    def _windows(self, word: int) -> Iterator[NDArray[np.unsignedinteger]]:
        """The words at each distance from a word, within its sentence."""
        for shard, listed in zip(self._index.corpus.shards, self._index.shards, strict=True):
            places = listed.of(word).astype(np.int64)
            places = places[:: max(1, -(-len(places) // MOST_PLACES))]
            for sign in (1, -1):
                still_open = places
                for distance in DISTANCES:
                    beside = still_open + sign * distance
                    inside = (beside >= 0) & (beside < len(shard.tokens))
                    still_open, beside = still_open[inside], beside[inside]
                    found = shard.tokens[beside]
                    is_word = found != BOUNDARY
                    still_open, found = still_open[is_word], found[is_word]
                    yield found

    def _alike(self, term: int) -> Numbers:
        """By their vectors."""
        likeness = self._vectors @ self._vectors[term]
        likeness[term] = 0
        return _highest(likeness, ALIKE)


def _highest(scores: NDArray[np.floating], count: int) -> Numbers:
    """The places of the highest scores above 0, in no order."""
    if len(scores) > count:
        places = np.argpartition(-scores, count - 1)[:count]
    else:
        places = np.arange(len(scores))
    chosen: Numbers = places[scores[places] > 0]
    return chosen

"""Subsampling: the probability with which a pair of words is kept, and a minimum count of pairs.

Both rules have the form min(1, w(x)·w(y)) with one weight per word, which is what makes them fast.
p is a word's relative frequency in the corpus.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import Int64Array
from pair2vec.text.corpus import Ids
from pair2vec.text.patterns import DISTANCES
from pair2vec.triples.windows import find_triples, triple_words

_BLOCK = 1 << 22
_MAX_KEYS = 100_000_000


class SubsamplingRule(Protocol):
    """A pair is kept with probability min(1, product of its words' weights)."""

    def weights(self, counts: NDArray[np.int64]) -> NDArray[np.float32]:
        """The weight of each word, from its count in the corpus."""


@dataclass(frozen=True, slots=True)
class PairSubsampling:
    """The paper's rule: min(1, √(t / p(x)p(y))), with the pair's probability p(x)p(y)."""

    threshold: float = 5e-7

    def weights(self, counts: NDArray[np.int64]) -> NDArray[np.float32]:
        """√(√t / p): the product of two of them is the square root above."""
        weights: NDArray[np.float64] = np.sqrt(
            np.sqrt(self.threshold) / _relative_frequency(counts)
        )
        return weights.astype(np.float32)


@dataclass(frozen=True, slots=True)
class WordSubsampling:
    """The released code's rule: min(1, √(t / p(x))) · min(1, √(t / p(y)))."""

    threshold: float = 5e-5

    def weights(self, counts: NDArray[np.int64]) -> NDArray[np.float32]:
        """min(1, √(t / p))."""
        weights = np.minimum(1, np.sqrt(self.threshold / _relative_frequency(counts)))
        return weights.astype(np.float32)


@dataclass(frozen=True, slots=True)
class NoSubsampling:
    """Keeps every pair."""

    def weights(self, counts: NDArray[np.int64]) -> NDArray[np.float32]:
        return np.ones(len(counts), np.float32)


def _relative_frequency(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Each word's p; a word that never occurs gets that of a single occurrence."""
    frequency: NDArray[np.float64] = np.maximum(counts, 1) / max(int(counts.sum()), 1)
    return frequency


class FrequentPairs:
    """The ordered pairs (x, y) that occur at least `min_count` times within the window."""

    def __init__(self, shards: Sequence[Ids], vocabulary: int, min_count: int) -> None:
        self._vocabulary = vocabulary
        self._min_count = min_count
        tokens = sum(map(len, shards))
        # Several passes, each over its share of the pairs, bound the memory.
        passes = 1 + tokens * len(DISTANCES) // _MAX_KEYS
        parts = [self._frequent_keys(shards, number, passes) for number in range(passes)]
        self._keys = np.sort(np.concatenate(parts))

    def __len__(self) -> int:
        return len(self._keys)

    def contains(self, x: Int64Array, y: Int64Array) -> NDArray[np.bool_]:
        """Whether each of the pairs is frequent."""
        keys = self._key(x, y)
        index = np.minimum(np.searchsorted(self._keys, keys), max(0, len(self._keys) - 1))
        return self._keys[index] == keys if len(self._keys) else np.zeros(len(keys), np.bool_)

    def _key(self, x: Int64Array, y: Int64Array) -> Int64Array:
        return x * self._vocabulary + y

    def _frequent_keys(self, shards: Sequence[Ids], number: int, passes: int) -> Int64Array:
        """Those among the keys that are `number` modulo `passes`."""
        weights = np.ones(self._vocabulary, np.float32)
        generator = np.random.default_rng(0)
        keys = []
        for tokens in shards:
            for start in range(0, len(tokens), _BLOCK):
                stop = min(start + _BLOCK, len(tokens))
                triples = find_triples(tokens, start, stop, weights, generator)
                block_keys = self._key(*triple_words(tokens, triples))
                keys.append(block_keys[block_keys % passes == number])
        distinct, counts = np.unique(np.concatenate(keys), return_counts=True)
        return distinct[counts >= self._min_count]

"""Subsampling: with what probability a pair of words is kept.

Both rules have the form min(1, w(x)·w(y)) with a weight a word, which is what makes them fast.
p is a word's share of the corpus.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pair2vec.text.corpus import Ids
from pair2vec.triples.windows import Triples, find_triples


class KeepRule(Protocol):
    """How likely a pair is kept: min(1, product of its words' weights)."""

    def weights(self, counts: NDArray[np.int64]) -> NDArray[np.float32]:
        """The weight of each word, from how often it occurs."""


def _shares(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Each word's p; one that never occurs gets that of a single occurrence."""
    shares: NDArray[np.float64] = np.maximum(counts, 1) / max(int(counts.sum()), 1)
    return shares


@dataclass(frozen=True, slots=True)
class PairThreshold:
    """The paper's rule: min(1, √(t / p(x)p(y))), with the pair's probability p(x)p(y)."""

    threshold: float = 5e-7

    def weights(self, counts: NDArray[np.int64]) -> NDArray[np.float32]:
        """√(√t / p): the product of two of them is the square root above."""
        weights: NDArray[np.float64] = np.sqrt(np.sqrt(self.threshold) / _shares(counts))
        return weights.astype(np.float32)


@dataclass(frozen=True, slots=True)
class WordThreshold:
    """The released code's rule: min(1, √(t / p(x))) · min(1, √(t / p(y)))."""

    threshold: float = 5e-5

    def weights(self, counts: NDArray[np.int64]) -> NDArray[np.float32]:
        """min(1, √(t / p))."""
        return np.minimum(1, np.sqrt(self.threshold / _shares(counts))).astype(np.float32)


@dataclass(frozen=True, slots=True)
class KeepAll:
    """Every pair."""

    def weights(self, counts: NDArray[np.int64]) -> NDArray[np.float32]:
        """One."""
        return np.ones(len(counts), np.float32)


# == Pairs seen often enough: the optional minimum count of a pair.


_BLOCK = 1 << 22
_KEYS_AT_A_TIME = 100_000_000


class FrequentPairs:
    """The pairs (x, y) that occur at least `minimum` times within the window, order counted."""

    def __init__(self, shards: Sequence[Ids], vocabulary: int, minimum: int) -> None:
        self._vocabulary = vocabulary
        tokens = sum(map(len, shards))
        # Several passes, each over its part of the pairs, bound the memory.
        passes = 1 + tokens * 5 // _KEYS_AT_A_TIME
        parts = [self._count(shards, minimum, n, passes) for n in range(passes)]
        self._keys = np.sort(np.concatenate(parts))

    def _key(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.int64]:
        return x * self._vocabulary + y

    def _count(
        self, shards: Sequence[Ids], minimum: int, number: int, passes: int
    ) -> NDArray[np.int64]:
        every_pair = np.ones(self._vocabulary, np.float32)
        generator = np.random.default_rng(0)
        keys = []
        for tokens in shards:
            for start in range(0, len(tokens), _BLOCK):
                stop = min(start + _BLOCK, len(tokens))
                found = find_triples(tokens, start, stop, every_pair, generator)
                of_block = self._key(*pair_of(tokens, found))
                keys.append(of_block[of_block % passes == number])
        distinct, counts = np.unique(np.concatenate(keys), return_counts=True)
        return distinct[counts >= minimum]

    def __len__(self) -> int:
        return len(self._keys)

    def contains(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the pairs are among them."""
        keys = self._key(x, y)
        place = np.minimum(np.searchsorted(self._keys, keys), max(0, len(self._keys) - 1))
        return self._keys[place] == keys if len(self._keys) else np.zeros(len(keys), np.bool_)


def pair_of(tokens: Ids, triples: Triples) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The words x and y of each triple."""
    x = tokens[triples.position].astype(np.int64)
    return x, tokens[triples.position + triples.distance].astype(np.int64)

"""Subsampling: with what probability a pair of words is kept.

Both rules have the form min(1, w(x)·w(y)) with a weight a word, which is what makes them fast.
p is a word's share of the corpus.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


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

"""Calibration on held-out words: of one table of scores, or of several teachers' together.

A cascade of two teachers labels pairs by such calibrations.

Shapes: N pairs, K relations.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from pair2vec.arrays import FloatArray, Int64Array
from pair2vec.relations.regression import softmax


class Calibration(NamedTuple):
    """What turns scores into probabilities: softmax(Σ weight · scores + bias of no relation)."""

    weights: tuple[float, ...]
    """Of each table of scores."""
    none: float
    """Added to the last column."""

    def probabilities(self, *scores: FloatArray) -> FloatArray:
        """Of tables (N, K), as many as there are weights: (N, K)."""
        total = np.zeros_like(scores[0])
        for weight, table in zip(self.weights, scores, strict=True):
            total += np.float32(weight) * table
        total[:, -1] += np.float32(self.none)
        return softmax(total)


def calibrate(scores: Sequence[FloatArray], labels: Int64Array) -> Calibration:
    """The weights and the bias of no relation that make held-out labels most probable.

    The priors of the relations among each other are left as they were learnt: WordNet has a hundred
    times as many hypernyms as antonyms, and people do not ask in these proportions.

    Args:
        scores: Tables (N, K) of scores or log-probabilities, no relation last; of several, a
            weight each is fitted (stacking).
        labels: The relation of each pair, (N,).
    """
    tables, targets = [torch.from_numpy(table) for table in scores], torch.from_numpy(labels)
    weights = torch.full((len(tables),), 1 / len(tables), requires_grad=True)
    none = torch.zeros((), requires_grad=True)
    optimiser = torch.optim.LBFGS([weights, none], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        total = functional.pad(none.expand(len(targets), 1), (tables[0].shape[1] - 1, 0))
        for weight, table in zip(weights, tables, strict=True):
            total = total + weight * table
        value = functional.cross_entropy(total, targets)
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimiser.step(loss)  # type: ignore[no-untyped-call]
    return Calibration(tuple(weights.tolist()), none.item())


Teach = Callable[[Int64Array, Int64Array], FloatArray]
"""Log-probabilities (N, K) of pairs of ids."""


LEAST_RELATED = 0.3
"""Where the language model cannot read all pairs: the probability of any relation, by vectors, from
which on a pair may be related."""


class Calibrations(NamedTuple):
    """Of the teachers' log-probabilities."""

    both: Calibration
    vectors: Calibration


class Cascade:
    """The teacher on vectors labels all pairs, the language model those that may be related.

    What the teacher on vectors alone says of a pair that may be related is wrong too often to be
    taught, so such a pair has no label: all of its probabilities are zero.
    """

    def __init__(self, read: Teach, by_vectors: Teach, calibrations: Calibrations) -> None:
        self._read, self._by_vectors, self._calibrations = read, by_vectors, calibrations
        self.least_related = 0.0
        """The probability of any relation from which on a pair may be related."""
        self.rarest = np.iinfo(np.int64).max
        """The language model reads pairs of words with ids up to this: the most frequent ones."""

    def read_at_most(self, x: Int64Array, y: Int64Array, share: float) -> None:
        """Let the language model read this share of pairs like those of a sample.

        Those of the most frequent words are read: people ask about them.
        """
        if share < 1 and len(x):
            self.least_related = LEAST_RELATED
            vectors = self._calibrations.vectors
            none = vectors.probabilities(self._by_vectors(x, y))[:, -1]
            ids = np.sort(np.maximum(x, y)[1 - none >= self.least_related])
            count = int(share * len(x))
            if count < len(ids):
                self.rarest = int(ids[count - 1]) if count else -1

    def __call__(
        self, x: Int64Array, y: Int64Array, always: NDArray[np.bool_] | None = None
    ) -> FloatArray:
        """Probabilities, (N, K); pairs marked by `always` are read however they look."""
        found = self._by_vectors(x, y)
        probabilities = self._calibrations.vectors.probabilities(found)
        may_be = 1 - probabilities[:, -1] >= self.least_related
        is_read = may_be & (np.maximum(x, y) <= self.rarest)
        if always is not None:
            is_read |= always
        read = np.flatnonzero(is_read)
        labels = self._read(x[read], y[read])
        probabilities[may_be & ~is_read] = 0
        probabilities[read] = self._calibrations.both.probabilities(labels, found[read])
        return probabilities

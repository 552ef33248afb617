"""Calibration on held-out words: of one table of scores, or of several teachers' together.

A cascade of quick teachers and a slow one labels pairs by such calibrations.

Shapes: N pairs, K relations.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from pair2vec.arrays import FloatArray, Int64Array
from pair2vec.relations.regression import softmax
from pair2vec.relations.relations import THRESHOLD
from pair2vec.teaching.vector_teacher import class_weights

_RIDGE = 1e-3
"""What the weights of a teacher pay for differing between relations, per unit of their variance:
the rarest relations have a dozen held-out pairs."""

_SHIFT_RIDGE = 1e-4
"""What a shift pays for its square: a relation may have no held-out pair."""

_RANDOM_NAMED = 0.004
"""The share of random pairs that may be called related."""


class Calibration(NamedTuple):
    """What turns scores into probabilities: softmax(Σ weight · scores + bias of no relation)."""

    weights: FloatArray
    """Of each table of scores and each relation, (T, K)."""
    none: float
    """Added to the last column."""

    def probabilities(self, *scores: FloatArray) -> FloatArray:
        """Of tables (N, K), as many as there are weights: (N, K)."""
        return softmax(self.scores(*scores))

    def scores(self, *scores: FloatArray) -> FloatArray:
        """What the softmax is taken of, (N, K)."""
        total = np.zeros_like(scores[0])
        for weights, table in zip(self.weights, scores, strict=True):
            total += weights * table
        total[:, -1] += np.float32(self.none)
        return total


def calibrate(
    scores: Sequence[FloatArray], labels: Int64Array, inverse: Sequence[int] | None = None
) -> Calibration:
    """The weights and the bias of no relation that make held-out labels most probable.

    The priors of the relations among each other are left as they were learnt: WordNet has a hundred
    times as many hypernyms as antonyms, and people do not ask in these proportions. For the same
    reason, weights by relation are fitted to a loss that is weighted by class: of the verbs among
    held-out pairs nearly all are hypernyms, and without it a teacher that calls any verb one would
    overrule another that knows opposites. One scale and the bias are then fitted without weights.

    Args:
        scores: Tables (N, K) of scores or log-probabilities, no relation last; of several, weights
            each are fitted (stacking).
        labels: The relation of each pair, (N,).
        inverse: Of each relation the one from y to x. Given, a table has a weight for each relation
            and its inverse, since teachers differ in what they know; otherwise one weight.
    """
    tables, targets = [torch.from_numpy(table) for table in scores], torch.from_numpy(labels)
    count = tables[0].shape[1]
    groups = [0] * count if inverse is None else [min(k, i) for k, i in enumerate(inverse)]
    _, columns = torch.unique(torch.tensor(groups), return_inverse=True)
    of_classes = None if inverse is None else class_weights(targets, count)
    start = torch.full((len(tables), int(columns.max()) + 1), 1 / len(tables))
    weights = start.requires_grad_()
    none = torch.zeros((), requires_grad=True)
    optimiser = torch.optim.LBFGS([weights, none], max_iter=300, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        total = functional.pad(none.expand(len(targets), 1), (count - 1, 0))
        for own, table in zip(weights, tables, strict=True):
            total = total + own[columns] * table
        value = functional.cross_entropy(total, targets, of_classes)
        value = value + _RIDGE * (weights - weights.mean(dim=1, keepdim=True)).square().sum()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimiser.step(loss)  # type: ignore[no-untyped-call]
    found = Calibration(weights.detach()[:, columns].numpy(), none.item())
    if inverse is None:
        return found
    last = calibrate([found.scores(*scores)], labels)
    scale = float(last.weights[0, 0])
    return Calibration(found.weights * scale, found.none * scale + last.none)


def prior_shift(scores: FloatArray, labels: Int64Array, inverse: Sequence[int]) -> FloatArray:
    """What to add to scores (N, K) so that each relation is as frequent as its labels: (K,).

    The same for a relation and its inverse, and 0 for no relation. Rare relations are drawn more
    often to learn from, and by this they are called too often.
    """
    count = scores.shape[1]
    _, columns = torch.unique(
        torch.tensor([min(k, i) for k, i in enumerate(inverse)]), return_inverse=True
    )
    table, targets = torch.from_numpy(scores), torch.from_numpy(labels)
    shift = torch.zeros(int(columns.max()) + 1, requires_grad=True)
    optimiser = torch.optim.LBFGS([shift], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        value = functional.cross_entropy(table + shift[columns], targets)
        value = value + _SHIFT_RIDGE * shift.square().sum()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimiser.step(loss)  # type: ignore[no-untyped-call]
    found: FloatArray = shift.detach()[columns].numpy()
    found -= found[count - 1]
    return found


def naming_thresholds(probabilities: FloatArray, inverse: Sequence[int]) -> FloatArray:
    """From which probability on each relation is named, (K,), by those of random pairs, (N, K).

    Each relation, its inverse counted in, may be given to the same share of random pairs, the
    largest half of a half of `_RANDOM_NAMED` with which all together have no more than that. So
    what random pairs are seldom taken for, such as opposites, is named wherever it is likely, and
    what they are often taken for, kinds of one thing, only where it is nearly certain.
    """
    best, highest = probabilities.argmax(axis=1), probabilities.max(axis=1, initial=0)
    groups = np.minimum(np.arange(len(inverse)), inverse)
    allowed = each = int(_RANDOM_NAMED * len(probabilities))
    none = len(inverse) - 1
    while True:
        own = (highest[groups[best] == group] for group in groups)
        thresholds = np.array([_least_probability(values, each) for values in own], np.float32)
        thresholds[none] = THRESHOLD
        named = int(((highest >= thresholds[best]) & (best != none)).sum())
        if named <= allowed:
            return thresholds
        each //= 2


def _least_probability(values: FloatArray, most: int) -> float:
    """The lowest in steps of 0.01, from `THRESHOLD` on, that at most so many values reach."""
    # So many of the highest ones may reach it; the next one may not.
    next_one = float(np.sort(values)[-most - 1]) if len(values) > most else 0.0
    return min(max((math.floor(100 * next_one) + 1) / 100, THRESHOLD), 1.0)


Teach = Callable[[Int64Array, Int64Array], FloatArray]
"""Log-probabilities (N, K) of pairs of ids."""


LEAST_RELATED = 0.3
"""Where the language model cannot read all pairs: the probability of any relation, by the quick
teachers, from which on a pair may be related."""


class Calibrations(NamedTuple):
    """Of the teachers' log-probabilities."""

    all: Calibration
    """With the one that reads pairs first."""
    quick: Calibration
    """Without it."""


class Cascade:
    """Quick teachers label all pairs; the language model reads some that may be related."""

    def __init__(self, read: Teach, quick: Sequence[Teach], calibrations: Calibrations) -> None:
        self._read, self._quick, self._calibrations = read, quick, calibrations
        self.least_related = 0.0
        """The probability of any relation from which on a pair may be related."""
        self.last = np.iinfo(np.int64).max
        """The language model reads pairs of ranks up to this."""

    def read_at_most(self, x: Int64Array, y: Int64Array, ranks: Int64Array, share: float) -> None:
        """Let the language model read this share of pairs like those of a sample.

        Args:
            x: First words, (N,).
            y: Second words, (N,).
            ranks: The lower, the sooner a pair is read, (N,).
            share: Of all pairs; less is read where fewer may be related.
        """
        if share < 1 and len(x):
            self.least_related = LEAST_RELATED
            _, probabilities = self._by_quick(x, y)
            may_be = 1 - probabilities[:, -1] >= self.least_related
            sorted_ranks = np.sort(ranks[may_be])
            count = int(share * len(x))
            if count < len(sorted_ranks):
                self.last = int(sorted_ranks[count - 1]) if count else -1

    def __call__(
        self, x: Int64Array, y: Int64Array, ranks: Int64Array, always: NDArray[np.bool_]
    ) -> FloatArray:
        """Probabilities, (N, K); pairs marked by `always` are read however they look."""
        found, probabilities = self._by_quick(x, y)
        may_be = 1 - probabilities[:, -1] >= self.least_related
        read = np.flatnonzero((may_be & (ranks <= self.last)) | always)
        labels = self._read(x[read], y[read])
        together = self._calibrations.all
        probabilities[read] = together.probabilities(labels, *(table[read] for table in found))
        return probabilities

    def _by_quick(self, x: Int64Array, y: Int64Array) -> tuple[list[FloatArray], FloatArray]:
        """The quick teachers' log-probabilities, and what they say together."""
        found = [teach(x, y) for teach in self._quick]
        return found, self._calibrations.quick.probabilities(*found)

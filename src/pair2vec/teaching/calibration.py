"""Calibration on held-out words: of one table of scores, or of several teachers' together.

Shapes: N pairs, K relations.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch.nn import functional

from pair2vec.arrays import FloatArray, Int64Array
from pair2vec.relations.regression import softmax


class Calibration(NamedTuple):
    """What turns scores into probabilities: softmax(Σ weight · scores + bias)."""

    weights: tuple[float, ...]
    """Of each table of scores."""
    bias: tuple[float, ...]

    def probabilities(self, *scores: FloatArray) -> FloatArray:
        """Of tables (N, K), as many as there are weights: (N, K)."""
        total = np.tile(np.array(self.bias, np.float32), (len(scores[0]), 1))
        for weight, table in zip(self.weights, scores, strict=True):
            total += np.float32(weight) * table
        return softmax(total)


def calibrate(
    scores: Sequence[FloatArray], labels: Int64Array, inverse: Sequence[int]
) -> Calibration:
    """The weights and biases that make held-out labels most probable.

    A relation and its inverse share a bias, so that a swapped pair stays in the inverse relation.
    A small penalty keeps the bias of a relation that the labels hardly have near zero.

    Args:
        scores: Tables (N, K) of scores or log-probabilities; of several, a weight each is fitted
            (stacking).
        labels: The relation of each pair, (N,).
        inverse: Of each relation the one from y to x.
    """
    tables, targets = [torch.from_numpy(table) for table in scores], torch.from_numpy(labels)
    weights = torch.full((len(tables),), 1 / len(tables), requires_grad=True)
    bias = torch.zeros(scores[0].shape[1], requires_grad=True)
    swapped = torch.tensor(inverse)
    optimiser = torch.optim.LBFGS([weights, bias], max_iter=200, line_search_fn="strong_wolfe")

    def tied() -> torch.Tensor:
        return (bias + bias[swapped]) / 2

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        total = tied().expand(len(targets), -1)
        for weight, table in zip(weights, tables, strict=True):
            total = total + weight * table
        value = functional.cross_entropy(total, targets) + (bias**2).sum() / len(targets)
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimiser.step(loss)  # type: ignore[no-untyped-call]
    return Calibration(tuple(weights.tolist()), tuple(tied().tolist()))

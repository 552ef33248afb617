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

"""Calibration of relation probabilities on held-out words. Shapes: N pairs, K relations."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch.nn import functional

from pair2vec.arrays import FloatArray, Int64Array


class Calibration(NamedTuple):
    """What turns scores into probabilities: softmax(scale · scores + bias)."""

    scale: float
    bias: tuple[float, ...]


def calibrate(logits: FloatArray, labels: Int64Array, inverse: Sequence[int]) -> Calibration:
    """The scale and the biases that make held-out labels most probable.

    A relation and its inverse share a bias, so that a swapped pair stays in the inverse relation.
    A small penalty keeps the bias of a relation that the labels hardly have near zero.
    """
    scores, targets = torch.from_numpy(logits), torch.from_numpy(labels)
    scale = torch.ones((), requires_grad=True)
    bias = torch.zeros(logits.shape[1], requires_grad=True)
    swapped = torch.tensor(inverse)
    optimiser = torch.optim.LBFGS([scale, bias], max_iter=200, line_search_fn="strong_wolfe")

    def tied() -> torch.Tensor:
        return (bias + bias[swapped]) / 2

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        value = functional.cross_entropy(scale * scores + tied(), targets)
        value = value + (bias**2).sum() / len(targets)
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimiser.step(loss)  # type: ignore[no-untyped-call]
    return Calibration(scale.item(), tuple(tied().tolist()))

"""One step of training: from a batch to changed weights. The plain way, for every device."""

import math
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from pair2vec.training.devices import computing
from pair2vec.training.network import Batch, Network, Outcome
from pair2vec.training.objective import Losses, Scores
from pair2vec.training.optimisers import Optimiser
from pair2vec.training.recipes import TrainingConfig

SUMMARY = (*Losses._fields, "positives_above_half", "gradient_norm")
"""What is known of a step: mean losses, how many observed triples score above 0, and the gradient's
norm before it is clipped."""


class Step(Protocol):
    """Learns from a batch; one whose loss or gradient is no number changes no weight."""

    def __call__(self, batch: Batch, rate: float) -> Tensor:
        """The values of `SUMMARY`, on the device, before the change."""


def summary(losses: Losses, scores: Scores, norm: Tensor) -> Tensor:
    """The values of `SUMMARY`."""
    above = (scores.observed > 0).double().mean()
    return torch.stack([*(group.double().mean() for group in losses), above, norm.double()])


class PlainStep:
    """Autograd on the rows of the tables that the batch touches."""

    def __init__(
        self, network: Network, optimiser: Optimiser, config: TrainingConfig, typed: int
    ) -> None:
        self._network = network
        self._optimiser = optimiser
        self._config = config
        self._typed = typed

    def __call__(self, batch: Batch, rate: float) -> Tensor:
        """Forward, backward, update."""
        with computing(self._network.pair_words.device):
            outcome: Outcome = self._network(batch, self._typed)
        each = outcome.losses.total()
        loss = each.sum() if self._config.loss == "sum" else each.mean()
        loss.backward()  # type: ignore[no-untyped-call]
        updates = list(_gradients(self._network, outcome))
        norm = clip([update.gradient for update in updates], self._config.clip)
        if math.isfinite(norm):
            for update in updates:
                self._optimiser.update(*update[:3], rate, update.rows)
            self._optimiser.steps += 1
        self._network.zero_grad(set_to_none=True)
        return summary(outcome.losses, outcome.scores, norm).detach()


class _Update(NamedTuple):
    """A gradient and what it is for."""

    name: str
    parameter: Tensor
    gradient: Tensor
    rows: Tensor | None


def _gradients(network: Network, outcome: Outcome) -> Iterator[_Update]:
    for name, weight in network.named_parameters():
        if weight.grad is not None:
            yield _Update(name, weight, weight.grad, None)
    for name, touched in outcome.touched.items():
        if touched.vectors.grad is not None:
            yield _Update(name, getattr(network, name), touched.vectors.grad, touched.rows)


def clip(gradients: list[Tensor], limit: float) -> Tensor:
    """Scale gradients down, together, to a norm of at most `limit`; 0 leaves them alone.

    Returns their norm before.
    """
    norm: Tensor = torch.stack([gradient.norm() for gradient in gradients]).norm()
    if limit:
        scale = (limit / (norm + 1e-6)).clamp(max=1.0)
        for gradient in gradients:
            gradient.mul_(scale)
    return norm

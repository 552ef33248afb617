"""One step of training: from a batch to changed weights. The plain way, for every device."""

import math
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from pair2vec.runtime.devices import autocast
from pair2vec.training.distributed import (
    SINGLE_PROCESS,
    ProcessGroup,
    SparseRows,
    all_reduce_coalesced,
    all_reduce_rows,
)
from pair2vec.training.network import BatchOutput, Network, TrainingBatch
from pair2vec.training.objective import Losses, Scores
from pair2vec.training.optim import Optimiser
from pair2vec.training.recipes import TrainingConfig

SUMMARY = (*Losses._fields, "positives_above_half", "gradient_norm")
"""What is known of a step: mean losses, how many observed triples score above 0, and the gradient's
norm before it is clipped."""


class Step(Protocol):
    """Learns from a batch; one whose loss or gradient is no number changes no weight."""

    def __call__(self, batch: TrainingBatch, rate: float) -> Tensor:
        """The values of `SUMMARY`, on the device, before the change."""


def step_summary(losses: Losses, scores: Scores, norm: Tensor) -> Tensor:
    """The values of `SUMMARY`."""
    return torch.stack([*mean_losses(losses, scores), norm.double()])


def mean_losses(losses: Losses, scores: Scores) -> list[Tensor]:
    """The values of `SUMMARY` but for the last."""
    above = (scores.observed > 0).double().mean()
    return [*(group.double().mean() for group in losses), above]


def batch_loss(losses: Losses, config: TrainingConfig, share: float) -> Tensor:
    """What to minimise; of triples that are a `share` of the batch, their part of it."""
    each = losses.total()
    if config.loss == "sum":
        return each.sum()
    return each.mean() if share == 1 else each.mean() * share


class PlainStep:
    """Autograd on the rows of the tables that the batch touches."""

    def __init__(
        self,
        network: Network,
        optimiser: Optimiser,
        config: TrainingConfig,
        typed: int,
        ranks: ProcessGroup = SINGLE_PROCESS,
    ) -> None:
        self._network = network
        self._optimiser = optimiser
        self._config = config
        self._typed = typed
        self._ranks = ranks

    def __call__(self, batch: TrainingBatch, rate: float) -> Tensor:
        """Forward, backward, update."""
        with autocast(self._network.pair_words.device):
            outcome: BatchOutput = self._network(batch, self._typed)
        share = 1.0 if self._ranks.count == 1 else len(batch.x) / self._config.batch
        loss = batch_loss(outcome.losses, self._config, share)
        loss.backward()  # type: ignore[no-untyped-call]
        updates = list(_gradients(self._network, outcome))
        means = torch.stack(mean_losses(outcome.losses, outcome.scores)).detach() * share
        if self._ranks.count > 1:
            updates = _of_all(self._ranks, updates, means)
        norm = clip([update.gradient for update in updates], self._config.clip)
        if math.isfinite(norm):
            for update in updates:
                self._optimiser.update(*update[:3], rate, update.rows)
            self._optimiser.steps += 1
        self._network.zero_grad(set_to_none=True)
        return torch.cat([means, norm.double()[None]])


class _Update(NamedTuple):
    """A gradient and what it is for."""

    name: str
    parameter: Tensor
    gradient: Tensor
    rows: Tensor | None


def _gradients(network: Network, outcome: BatchOutput) -> Iterator[_Update]:
    for name, weight in network.named_parameters():
        if weight.grad is not None:
            yield _Update(name, weight, weight.grad, None)
    for name, touched in outcome.touched.items():
        if touched.vectors.grad is not None:
            yield _Update(name, getattr(network, name), touched.vectors.grad, touched.rows)


def _of_all(ranks: ProcessGroup, updates: list[_Update], means: Tensor) -> list[_Update]:
    """The sums of what all ranks have found; `means`, already by their share, become theirs too."""
    dense = [update for update in updates if update.rows is None]
    all_reduce_coalesced(ranks, [*(update.gradient for update in dense), means])
    tables = [
        (update, SparseRows(len(update.parameter), update.rows, update.gradient))
        for update in updates
        if update.rows is not None
    ]
    summed = all_reduce_rows(ranks, [touched for _, touched in tables])
    return dense + [
        update._replace(gradient=found.values, rows=found.rows)
        for (update, _), found in zip(tables, summed, strict=True)
    ]


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

"""One step of training, from a batch to updated weights: the plain one, for every device."""

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType
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
from pair2vec.training.optim import Optimiser, StepRate, TrainingConfig

STEP_METRICS = (*Losses._fields, "positives_above_half", "gradient_norm")
"""The metrics of a step: mean losses, the share of observed triples with a score above 0, and the
norm of the gradient before clipping."""


class Step(Protocol):
    """Trains on a batch; one whose loss or gradient is not finite leaves the weights unchanged."""

    def __call__(self, batch: TrainingBatch, rate: float) -> Tensor:
        """The values of `STEP_METRICS` before the update, on the device."""


class StepModel(NamedTuple):
    """What a step trains, and how."""

    network: Network
    optimiser: Optimiser
    config: TrainingConfig
    typed: int
    """How many of a word's negatives are typed."""
    shares: Mapping[str, Tensor] = MappingProxyType({})
    """Of parameters that learn more slowly than the others, the share of the rate: of a table
    (V, 1), one for each row. The plain step alone knows them."""


def step_metrics(losses: Losses, scores: Scores, norm: Tensor) -> Tensor:
    """The values of `STEP_METRICS`."""
    return torch.stack([*mean_losses(losses, scores), norm.double()])


def mean_losses(losses: Losses, scores: Scores) -> list[Tensor]:
    """The values of `STEP_METRICS` without the last."""
    above = (scores.observed > 0).double().mean()
    return [*(group.double().mean() for group in losses), above]


def batch_loss(losses: Losses, config: TrainingConfig, share: float) -> Tensor:
    """The loss to minimise, of triples that are a `share` of the whole batch."""
    per_triple = losses.total()
    if config.loss == "sum":
        return per_triple.sum()
    return per_triple.mean() if share == 1 else per_triple.mean() * share


class PlainStep:
    """Eager autograd on the table rows that the batch touches."""

    def __init__(self, model: StepModel, ranks: ProcessGroup = SINGLE_PROCESS) -> None:
        self._network, self._optimiser, self._config, self._typed, self._shares = model
        self._ranks = ranks

    def __call__(self, batch: TrainingBatch, rate: float) -> Tensor:
        with autocast(self._network.pair_words.device):
            output: BatchOutput = self._network(batch, self._typed)
        share = 1.0 if self._ranks.world_size == 1 else len(batch.x) / self._config.batch
        loss = batch_loss(output.losses, self._config, share)
        loss.backward()  # type: ignore[no-untyped-call]
        gradients = list(_gradients(self._network, output))
        means = torch.stack(mean_losses(output.losses, output.scores)).detach() * share
        if self._ranks.world_size > 1:
            gradients = _all_reduced(self._ranks, gradients, means)
        norm = clip([entry.gradient for entry in gradients], self._config.clip)
        if math.isfinite(norm):
            at = StepRate(rate, self._optimiser.steps + 1)
            for name, parameter, gradient, rows in gradients:
                self._optimiser.update(name, parameter, gradient, self._own(at, name, rows), rows)
            self._optimiser.steps += 1
        self._network.zero_grad(set_to_none=True)
        return torch.cat([means, norm.double()[None]])

    def _own(self, at: StepRate, name: str, rows: Tensor | None) -> StepRate:
        """The rate of a parameter, or of some rows of one."""
        share = self._shares.get(name)
        if share is None:
            return at
        return at._replace(rate=at.rate * (share if rows is None else share[rows]))


class _Gradient(NamedTuple):
    name: str
    parameter: Tensor
    gradient: Tensor
    rows: Tensor | None
    """Of a table, the rows that `gradient` is for."""


def _gradients(network: Network, output: BatchOutput) -> Iterator[_Gradient]:
    for name, weight in network.named_parameters():
        if weight.grad is not None:
            yield _Gradient(name, weight, weight.grad, None)
    for name, touched in output.touched.items():
        if touched.vectors.grad is not None:
            yield _Gradient(name, getattr(network, name), touched.vectors.grad, touched.rows)


def _all_reduced(ranks: ProcessGroup, gradients: list[_Gradient], means: Tensor) -> list[_Gradient]:
    """The sums over all ranks; `means`, scaled by the share of each rank, are summed in place."""
    dense = [entry for entry in gradients if entry.rows is None]
    all_reduce_coalesced(ranks, [*(entry.gradient for entry in dense), means])
    tables = [
        (entry, SparseRows(len(entry.parameter), entry.rows, entry.gradient))
        for entry in gradients
        if entry.rows is not None
    ]
    summed = all_reduce_rows(ranks, [sparse for _, sparse in tables])
    return dense + [
        entry._replace(gradient=total.values, rows=total.rows)
        for (entry, _), total in zip(tables, summed, strict=True)
    ]


def clip(gradients: list[Tensor], limit: float) -> Tensor:
    """Scale gradients down in place to a joint norm of at most `limit`; 0 does not clip.

    Returns their norm before.
    """
    norm: Tensor = torch.stack([gradient.norm() for gradient in gradients]).norm()
    if limit:
        scale = (limit / (norm + 1e-6)).clamp(max=1.0)
        for gradient in gradients:
            gradient.mul_(scale)
    return norm

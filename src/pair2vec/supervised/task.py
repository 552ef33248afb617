"""Task: what the loop must be told of what is to be learnt."""

from typing import Protocol, Self, TypeVar

import torch
from torch import Tensor, nn

from pair2vec.supervised.order import Numbers

Measures = dict[str, float]
"""By name, of the dev examples."""


class Movable(Protocol):
    """A batch: tensors that are made on the CPU and go to a device together."""

    def to(self, device: torch.device) -> Self:
        """All of them there."""


Batch = TypeVar("Batch", bound=Movable)


class Task(Protocol[Batch]):
    """A network, the examples it learns from, and how well it does on others."""

    @property
    def network(self) -> nn.Module:
        """Of which the parameters that want a gradient are learnt, and saved."""

    @property
    def sizes(self) -> Numbers:
        """How long each example is, (E, k)."""

    def batch(self, numbers: Numbers) -> Batch:
        """The examples of these numbers, on the CPU; may be called by another thread."""

    def measure(self, batch: Batch) -> dict[str, Tensor]:
        """Means over a batch: ``loss``, which is made small, and others to be shown."""

    def score_dev(self) -> Measures:
        """``score``, the higher the better, and others to be shown; the network is in eval mode."""

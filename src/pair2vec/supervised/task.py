"""Task: what the loop must be told of what is to be learnt."""

from typing import Protocol, TypeVar

from torch import Tensor, nn

from pair2vec.supervised.order import Numbers

Measures = dict[str, float]
"""By name, of the dev examples."""


Batch = TypeVar("Batch")
"""A dataclass of tensors, which are made on the CPU and go to a device together."""


class Learning(Protocol[Batch]):
    """A network, and the examples it learns from."""

    @property
    def network(self) -> nn.Module:
        """Of which the parameters that want a gradient are learnt, and saved."""

    @property
    def sizes(self) -> Numbers:
        """How long each example is, (E, k)."""

    def batch(self, numbers: Numbers) -> Batch:
        """The examples of these numbers, on the CPU; may be called by another thread."""

    def read(self, batch: Batch) -> Batch:
        """A batch with all work done on it that is frozen."""

    def measure(self, batch: Batch) -> dict[str, Tensor]:
        """Means over a batch: ``loss``, which is made small, and others to be shown.

        On a GPU it is recorded: it may not wait for the device, nor depend on more than shapes.
        """


class Task(Learning[Batch], Protocol[Batch]):
    """And how well it does on others."""

    def score_dev(self) -> Measures:
        """``score``, the higher the better, and others to be shown; the network is in eval mode."""

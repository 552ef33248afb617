"""Readings: what the steps of a run say of themselves, fetched without stopping the device.

A GPU is told of its next steps while it is busy with one. To ask for a loss at once would be to
wait until it has nothing left to do; a few steps later the answer is already there.
"""

from collections import deque
from typing import NamedTuple

import torch
from torch import Tensor

from pair2vec.training.network import Batch

LATE = 8
"""Steps between one on a GPU and the look at its values: as many each time, so that two runs note
the same at the same step. (A checkpoint waits for all of them.)"""


class Reading(NamedTuple):
    """The values of a step."""

    step: int
    batch: Batch
    fetched: Tensor
    """On the host, once `arrived` is over."""
    arrived: torch.cuda.Event | None

    def values(self) -> list[float]:
        """Wait for them."""
        if self.arrived is not None:
            self.arrived.synchronize()
        found: list[float] = self.fetched.tolist()
        return found


class Readings:
    """Values on their way from the device, in the order of the steps."""

    def __init__(self, device: torch.device) -> None:
        self._on_gpu = device.type == "cuda"
        self._waiting: deque[Reading] = deque()

    def push(self, step: int, batch: Batch, values: Tensor) -> list[Reading]:
        """Begin to fetch the values of a step; returns what is due to be read."""
        arrived = None
        if self._on_gpu:
            fetched = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
            values = fetched.copy_(values, non_blocking=True)
            arrived = torch.cuda.Event()  # type: ignore[no-untyped-call]
            arrived.record()
        self._waiting.append(Reading(step, batch, values, arrived))
        is_due = len(self._waiting) > (LATE if self._on_gpu else 0)
        return [self._waiting.popleft()] if is_due else []

    def drain(self) -> list[Reading]:
        """All that is left."""
        left = list(self._waiting)
        self._waiting.clear()
        return left

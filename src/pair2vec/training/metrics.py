"""Metrics: running averages of a run, and the file that keeps them."""

import importlib.util
import json
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol, TextIO

import torch
from torch import Tensor

from pair2vec.runtime.storage import write_file
from pair2vec.training.network import TrainingBatch
from pair2vec.training.objective import Losses


class Averages:
    """Means over the batches since the last report; `state` is all of it, for a checkpoint."""

    def __init__(self) -> None:
        self.state: dict[str, float] = {}
        self._since = time.perf_counter()

    def add(self, values: Mapping[str, float]) -> float:
        """Take in the values of a step; returns its loss, the sum of all groups."""
        loss = sum(values[name] for name in Losses._fields)
        for name, value in {**values, "loss": loss, "batches": 1.0}.items():
            self.state[name] = self.state.get(name, 0.0) + value
        return loss

    def take(self, batch: int) -> dict[str, float]:
        """The means and the speed, beginning anew; loss first."""
        batches = self.state.pop("batches")
        means = {name: total / batches for name, total in self.state.items()}
        seconds = time.perf_counter() - self._since
        self.state = {}
        self._since = time.perf_counter()
        return {
            "loss": means.pop("loss"),
            **means,
            "triples_per_second": batches * batch / max(seconds, 1e-9),
        }


class EventWriter(Protocol):
    """What is needed of tensorboard's writer."""

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> None:
        """Record one value."""

    def close(self) -> None:
        """Let go of the file."""


def tensorboard_writer(folder: Path, step: int) -> EventWriter | None:
    """A writer of tensorboard's events, if the extra ``track`` is installed."""
    if importlib.util.find_spec("tensorboard") is None:
        return None
    from torch.utils.tensorboard import SummaryWriter

    # Values beyond the checkpoint that a run resumes from are hidden.
    writer: EventWriter = SummaryWriter(str(folder), purge_step=step + 1)
    return writer


class Metrics(Protocol):
    """Where metrics go."""

    def __enter__(self) -> "Metrics": ...

    def __exit__(self, *_: object) -> None: ...

    def write(self, values: dict[str, float]) -> None:
        """Keep some."""


class NoMetrics:
    """Of a rank that leaves it to another to write them."""

    def __enter__(self) -> "NoMetrics":
        return self

    def __exit__(self, *_: object) -> None: ...

    def write(self, values: dict[str, float]) -> None:
        """Not here."""


class MetricsFile:
    """One JSON object a line, and tensorboard's events where that is installed.

    A resumed run goes on where its checkpoint was.
    """

    def __init__(self, path: Path, step: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        write_file(path, "".join(line for line in lines if _step(line) <= step).encode())
        self._file: TextIO = path.open("a")
        self._events = tensorboard_writer(path.parent / "tensorboard", step)

    def __enter__(self) -> "MetricsFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        if self._events is not None:
            self._events.close()

    def write(self, values: dict[str, float]) -> None:
        """Add a line."""
        self._file.write(json.dumps(values) + "\n")
        self._file.flush()
        if self._events is not None:
            for name, value in values.items():
                if name not in {"step", "epoch", "triples"}:
                    self._events.add_scalar(name, value, int(values["step"]))


def _step(line: str) -> float:
    """Of a line; one that a killed process left half-written is beyond every step."""
    try:
        return float(json.loads(line)["step"]) if line.endswith("\n") else float("inf")
    except ValueError:
        return float("inf")


# == Readings: what the steps of a run say of themselves, fetched without stopping the device.
#
# A GPU is told of its next steps while it is busy with one. To ask for a loss at once would be to
# wait until it has nothing left to do; a few steps later the answer is already there.


STEPS_BEHIND = 8
"""Steps between one on a GPU and the look at its values: as many each time, so that two runs note
the same at the same step. (A checkpoint waits for all of them.)"""


class StepReading(NamedTuple):
    """The values of a step."""

    step: int
    batch: TrainingBatch
    fetched: Tensor
    """On the host, once `arrived` is over."""
    arrived: torch.cuda.Event | None

    def values(self) -> list[float]:
        """Wait for them."""
        if self.arrived is not None:
            self.arrived.synchronize()
        found: list[float] = self.fetched.tolist()
        return found


class AsyncMetrics:
    """Values on their way from the device, in the order of the steps."""

    def __init__(self, device: torch.device) -> None:
        self._on_gpu = device.type == "cuda"
        self._waiting: deque[StepReading] = deque()

    def push(self, step: int, batch: TrainingBatch, values: Tensor) -> list[StepReading]:
        """Begin to fetch the values of a step; returns what is due to be read."""
        arrived = None
        if self._on_gpu:
            fetched = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
            values = fetched.copy_(values, non_blocking=True)
            arrived = torch.cuda.Event()  # type: ignore[no-untyped-call]
            arrived.record()
        self._waiting.append(StepReading(step, batch, values, arrived))
        is_due = len(self._waiting) > (STEPS_BEHIND if self._on_gpu else 0)
        return [self._waiting.popleft()] if is_due else []

    def drain(self) -> list[StepReading]:
        """All that is left."""
        left = list(self._waiting)
        self._waiting.clear()
        return left

"""Metrics of training: running averages, the file they are written to, asynchronous reading."""

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

METRICS_DELAY = 8
"""Steps between one on a GPU and the reading of its metrics: always the same number, so that two
runs observe the same at the same step. (A checkpoint waits for all of them.)"""


class Averages:
    """Means over the batches since the last report; `state` is all of it, for a checkpoint."""

    def __init__(self) -> None:
        self.state: dict[str, float] = {}
        self._since = time.perf_counter()

    def add(self, values: Mapping[str, float]) -> float:
        """Take in the metrics of a step; returns its loss, the sum of all groups."""
        loss = sum(values[name] for name in Losses._fields)
        for name, value in {**values, "loss": loss, "batches": 1.0}.items():
            self.state[name] = self.state.get(name, 0.0) + value
        return loss

    def take(self, batch: int) -> dict[str, float]:
        """The means, loss first, and the speed in batches of `batch` triples; then start anew."""
        means = self.so_far(batch)
        self.state = {}
        self._since = time.perf_counter()
        return means

    def so_far(self, batch: int) -> dict[str, float]:
        """What `take` would return; {} before the first batch."""
        if not self.state:
            return {}
        means = dict(self.state)
        batches = means.pop("batches")
        means = {name: total / batches for name, total in means.items()}
        seconds = time.perf_counter() - self._since
        return {
            "loss": means.pop("loss"),
            **means,
            "triples_per_second": batches * batch / max(seconds, 1e-9),
        }


class EventWriter(Protocol):
    """What is used of tensorboard's writer."""

    def add_scalar(self, tag: str, scalar_value: float, global_step: int) -> None: ...

    def close(self) -> None: ...


def tensorboard_writer(folder: Path, step: int) -> EventWriter | None:
    """A writer of tensorboard's events, if the extra ``track`` is installed."""
    if importlib.util.find_spec("tensorboard") is None:
        return None
    from torch.utils.tensorboard import SummaryWriter

    # Values after the checkpoint that a run resumes from are hidden.
    writer: EventWriter = SummaryWriter(str(folder), purge_step=step + 1)
    return writer


class Metrics(Protocol):
    """Where metrics are written."""

    def __enter__(self) -> "Metrics": ...

    def __exit__(self, *_: object) -> None: ...

    def write(self, values: dict[str, float]) -> None: ...


class NoMetrics:
    """For ranks other than 0, which write nothing."""

    def __enter__(self) -> "NoMetrics":
        return self

    def __exit__(self, *_: object) -> None: ...

    def write(self, values: dict[str, float]) -> None: ...


class MetricsFile:
    """One JSON object per line, and tensorboard's events where that is installed.

    A resumed run drops the lines after its checkpoint and appends.
    """

    def __init__(self, path: Path, step: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text(errors="replace").splitlines(keepends=True) if path.exists() else []
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
        self._file.write(json.dumps(values) + "\n")
        self._file.flush()
        if self._events is not None:
            for name, value in values.items():
                if name not in {"step", "epoch", "triples"}:
                    self._events.add_scalar(name, value, int(values["step"]))


def _step(line: str) -> float:
    """The step of a line; infinite for one that a killed process left half-written."""
    try:
        return float(json.loads(line)["step"]) if line.endswith("\n") else float("inf")
    except (ValueError, KeyError, TypeError, RecursionError):
        return float("inf")


class PendingMetrics(NamedTuple):
    """The metrics of a step on their way to the CPU."""

    step: int
    batch: TrainingBatch
    copied: Tensor
    """On the CPU, complete after `arrived`."""
    arrived: torch.cuda.Event | None

    def values(self) -> list[float]:
        """Wait for them."""
        if self.arrived is not None:
            self.arrived.synchronize()
        values: list[float] = self.copied.tolist()
        return values


class AsyncMetrics:
    """A queue of the metrics of steps, copied to the CPU without stalling the GPU.

    Steps are launched while the GPU is busy with earlier ones. To read a loss at once would be to
    wait until it is idle; some steps later the value is already there.
    """

    def __init__(self, device: torch.device) -> None:
        self._on_gpu = device.type == "cuda"
        self._pending: deque[PendingMetrics] = deque()

    def push(self, step: int, batch: TrainingBatch, values: Tensor) -> list[PendingMetrics]:
        """Start to copy the metrics of a step; returns those due to be read."""
        arrived = None
        if self._on_gpu:
            pinned = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
            values = pinned.copy_(values, non_blocking=True)
            arrived = torch.cuda.Event()  # type: ignore[no-untyped-call]
            arrived.record()
        self._pending.append(PendingMetrics(step, batch, values, arrived))
        is_due = len(self._pending) > (METRICS_DELAY if self._on_gpu else 0)
        return [self._pending.popleft()] if is_due else []

    def drain(self) -> list[PendingMetrics]:
        """All that are left."""
        left = list(self._pending)
        self._pending.clear()
        return left

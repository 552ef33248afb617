"""Metrics: running averages of a run, and the file that keeps them."""

import importlib.util
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, TextIO

from pair2vec.atomic import write_whole
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
        write_whole(path, "".join(line for line in lines if _step(line) <= step).encode())
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

"""A training run on a terminal, or as plain lines where there is none."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from pair2vec.training.loop import TrainingProgress

_SECONDS_BETWEEN_LINES = 5.0
_GROUPS = ("observed", "contexts", "other_x", "other_y", "typed_x", "typed_y")


@contextmanager
def shown_training(console: Console) -> Iterator[Callable[[TrainingProgress], None]]:
    """A function to report metrics to, shown as suits `console`."""
    if not console.is_terminal:
        yield _Lines(console)
        return
    view = _View()
    with Live(view.render(), console=console, refresh_per_second=4) as live:

        def report(progress: TrainingProgress) -> None:
            view.update(progress)
            live.update(view.render())

        yield report


class _View:
    """A bar, and the latest value of every metric."""

    def __init__(self) -> None:
        self._bar = Progress(
            TextColumn("train"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        )
        self._task = self._bar.add_task("train", total=None)
        self._metrics: dict[str, float] = {}

    def update(self, progress: TrainingProgress) -> None:
        self._bar.update(self._task, completed=progress.step, total=progress.total_steps)
        self._metrics.update(progress.metrics)

    def render(self) -> Group:
        table = Table.grid(padding=(0, 2))
        groups = "  ".join(
            f"{name} {self._metrics[name]:.3f}" for name in _GROUPS if name in self._metrics
        )
        table.add_row("loss", f"{self._metrics.get('loss', float('nan')):.4f}", groups)
        table.add_row("validation", f"{self._metrics.get('validation_loss', float('nan')):.4f}", "")
        above, rate = self._metrics.get("positives_above_half", 0), self._metrics.get("rate", 0)
        table.add_row("positives above ½", f"{above:.1%}", f"learning rate {rate:.2e}")
        table.add_row("triples/s", f"{self._metrics.get('triples_per_second', 0):,.0f}", "")
        return Group(self._bar, table)


class _Lines:
    """A line now and then, and for every validation."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._next = 0.0

    def __call__(self, progress: TrainingProgress) -> None:
        metrics = progress.metrics
        done = f"step {progress.step:,} of {progress.total_steps:,}"
        if "validation_loss" in metrics:
            self._console.print(f"{done}: validation loss {metrics['validation_loss']:.4f}")
        elif time.monotonic() >= self._next:
            self._next = time.monotonic() + _SECONDS_BETWEEN_LINES
            self._console.print(
                f"{done}: loss {metrics['loss']:.4f}, "
                f"{metrics['positives_above_half']:.0%} of positives above ½, "
                f"rate {metrics['rate']:.1e}, {metrics['triples_per_second']:,.0f} triples/s"
            )

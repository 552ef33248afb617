"""A run that learns from labelled examples on a terminal, or as plain lines where there is none."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from pair2vec.supervised.loop import SupervisedProgress

_SECONDS_BETWEEN_LINES = 5.0
_KEPT_EPOCHS = 8


@contextmanager
def shown_supervised(console: Console) -> Iterator[Callable[[SupervisedProgress], None]]:
    """A function to report metrics to, shown as suits `console`."""
    if not console.is_terminal:
        yield _Lines(console)
        return
    view = _View()
    with Live(view.render(), console=console, refresh_per_second=4) as live:

        def report(progress: SupervisedProgress) -> None:
            view.update(progress)
            live.update(view.render())

        yield report


class _View:
    """A bar for the epoch, how it learns, and the scores of the last epochs."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        self._bar = Progress(*columns, TimeRemainingColumn())
        self._task = self._bar.add_task("epoch", total=None)
        self._learning = ""
        self._epochs: list[str] = []

    def update(self, progress: SupervisedProgress) -> None:
        self._bar.update(
            self._task,
            description=f"epoch {progress.epoch}",
            completed=progress.step,
            total=progress.epoch_steps,
        )
        if "dev_score" in progress.metrics:
            self._epochs.append(dev_line(progress))
        else:
            self._learning = learning_line(progress)

    def render(self) -> Group:
        lines = [self._learning, *self._epochs[-_KEPT_EPOCHS:]]
        return Group(self._bar, *map(Text, lines))


class _Lines:
    """A line now and then, and for every epoch."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._next = 0.0

    def __call__(self, progress: SupervisedProgress) -> None:
        if "dev_score" in progress.metrics:
            self._console.print(dev_line(progress))
        elif time.monotonic() >= self._next:
            self._next = time.monotonic() + _SECONDS_BETWEEN_LINES
            done = f"epoch {progress.epoch}, step {progress.step:,} of {progress.epoch_steps:,}"
            self._console.print(f"{done}: {learning_line(progress)}")


def learning_line(progress: SupervisedProgress) -> str:
    """What is known while an epoch runs."""
    metrics = progress.metrics
    accuracy = f"{metrics['accuracy']:.1%} right, " if "accuracy" in metrics else ""
    return (
        f"loss {metrics['loss']:.4f}, {accuracy}rate {metrics['rate']:.1e}, "
        f"{metrics['examples_per_second']:,.0f} examples/s"
    )


def dev_line(progress: SupervisedProgress) -> str:
    """How an epoch ended."""
    metrics = progress.metrics
    return (
        f"epoch {progress.epoch}: dev {metrics['dev_score']:.2%}, "
        f"best {metrics['best_dev_score']:.2%}"
    )

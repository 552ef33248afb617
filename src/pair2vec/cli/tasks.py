"""Options that the commands of tasks with labelled examples share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Protocol, TypeVar

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from pair2vec.cli.messages import fail, messages, say
from pair2vec.cli.train import stop_requests
from pair2vec.errors import UsageError

if TYPE_CHECKING:
    from pair2vec.experiments.tasks.inputs import InputPaths
    from pair2vec.experiments.tasks.trainer import SupervisedProgress


WordsOption = Annotated[
    str | None,
    typer.Option(
        "--words",
        metavar="FILE",
        help="Word vectors: .vec, GloVe .txt or .bin; or a folder with ELMo or a Hugging Face "
        "encoder.",
    ),
]
PairModelOption = Annotated[
    str | None,
    typer.Option(
        "--pair-model",
        metavar="NAME",
        help="For --pairs pair2vec: a folder, a bundled model, or owner/name on the hub.",
        show_default="the bundled one",
    ),
]
WordNetOption = Annotated[
    str | None,
    typer.Option(
        "--wordnet",
        metavar="FOLDER",
        help="WordNet's data.noun, index.noun and so on.",
        show_default="where it is installed",
    ),
]
PairVectorsOption = Annotated[
    str | None,
    typer.Option(
        "--pair-vectors",
        metavar="FILE",
        help="For --pairs pair_distance: word vectors to take differences of.",
        show_default="--words",
    ),
]
MinutesOption = Annotated[
    float | None,
    typer.Option(
        "--minutes",
        min=0,
        help="Stop after so long with a checkpoint, to go on with --resume.",
        show_default="at the end",
    ),
]
SeedOption = Annotated[int, typer.Option("--seed")]


def input_paths(
    pairs: str,
    words: str | None,
    pair_model: str | None,
    wordnet: str | None,
    pair_vectors: str | None,
) -> InputPaths:
    """Of a network that is to be trained.

    Raises:
        UsageError: words are not given, or there is no such kind of pairs.
    """
    from pair2vec.experiments.tasks.inputs import InputPaths

    if words is None:
        raise UsageError("no word inputs: name a file of word vectors, or an encoder, as --words")
    return InputPaths(
        words=words,
        pairs=pairs,
        pair_model=pair_model,
        wordnet=wordnet,
        pair_vectors=pair_vectors,
    )


def moved_inputs(
    words: str | None, pair_model: str | None, wordnet: str | None, pair_vectors: str | None
) -> dict[str, str | None]:
    """Where inputs of a trained network are that have moved since."""
    return {
        "words": words,
        "pair_model": pair_model,
        "wordnet": wordnet,
        "pair_vectors": pair_vectors,
    }


# == A run that learns from labelled examples on a terminal, or as plain lines where there is none.


_SECONDS_BETWEEN_LINES = 5.0
_KEPT_EPOCHS = 8


@contextmanager
def show_supervised(console: Console) -> Iterator[Callable[[SupervisedProgress], None]]:
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


# == A training from labelled examples, shown while it runs, and what is said if it stops early.


_Made = TypeVar("_Made", covariant=True)


class Training(Protocol[_Made]):
    """Something that trains, reports, and can be asked to stop."""

    def __call__(
        self,
        *,
        report: Callable[[SupervisedProgress], None],
        should_stop: Callable[[], bool],
    ) -> _Made:
        """What it made."""


def run_training(training: Training[_Made], minutes: float | None) -> _Made:
    """Run a training; one that stops early, by Ctrl-C or by the clock, ends the command.

    `minutes` count from here: whatever the training reads or opens is part of them.
    """
    from pair2vec.training.train import Interrupted

    end = float("inf") if minutes is None else time.monotonic() + 60 * minutes
    with show_supervised(messages) as report, stop_requests() as is_pressed:
        try:
            return training(
                report=report, should_stop=lambda: is_pressed() or time.monotonic() >= end
            )
        except Interrupted:
            was_pressed = is_pressed()
    if was_pressed:
        fail("stopped with a checkpoint; go on with the same command and --resume", 130)
    say(f"{minutes:g} minutes are over, a checkpoint is written; go on with --resume")
    raise typer.Exit

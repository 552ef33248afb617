"""A training from labelled examples, shown while it runs, and what is said if it stops early."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

import typer

from pair2vec.commands.messages import fail, messages, say
from pair2vec.commands.training import stop_requests

if TYPE_CHECKING:
    from pair2vec.supervised.loop import SupervisedProgress

_Made = TypeVar("_Made", covariant=True)


class Training(Protocol[_Made]):
    """Something that trains, reports, and can be asked to stop."""

    def __call__(
        self,
        *,
        report: "Callable[[SupervisedProgress], None]",
        should_stop: Callable[[], bool],
    ) -> _Made:
        """What it made."""


def run_training(training: Training[_Made], minutes: float | None) -> _Made:
    """Run a training; one that stops early, by Ctrl-C or by the clock, ends the command.

    `minutes` count from here: whatever the training reads or opens is part of them.
    """
    from pair2vec.display.supervised_view import shown_supervised
    from pair2vec.training.train import Interrupted

    end = float("inf") if minutes is None else time.monotonic() + 60 * minutes
    with shown_supervised(messages) as report, stop_requests() as is_pressed:
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

"""What a command says beside its answer, on standard error."""

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

messages = Console(stderr=True, highlight=False, soft_wrap=True)


def say(message: str) -> None:
    """One line, above a progress bar if there is one."""
    messages.print(f"pair2vec: {message}", markup=False)


def fail(message: str, code: int) -> NoReturn:
    """Say why, and end with an exit code."""
    say(message)
    sys.exit(code)


def set_up_logging() -> None:
    """From now on, show what the library logs."""
    logging.basicConfig(level=logging.WARNING, handlers=[_MessageHandler()])
    logging.getLogger("pair2vec").setLevel(logging.INFO)


class _MessageHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


# == One core for each piece of work, where there are as many pieces at a time as cores.


def one_thread_each() -> None:
    """Keep matrix libraries from having threads of their own, which would be in each other's way.

    To be called before numpy is imported; other processes that are started take it over.
    """
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


# == How much of something is done, on a terminal, or as plain lines where there is none.


_SECONDS_BETWEEN_LINES = 30.0


@contextmanager
def show_count(what: str, console: Console) -> Iterator[Callable[[int, int], None]]:
    """A function to report how many of how many are done, shown as suits `console`."""
    if not console.is_terminal:
        yield _lines(what, console)
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(TextColumn(what), *columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _lines(what: str, console: Console) -> Callable[[int, int], None]:
    """A line now and then."""
    last = time.monotonic()

    def report(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() >= last + _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            console.print(f"{done:,} of {total:,} {what}")

    return report

"""How much of something is done, on a terminal, or as plain lines where there is none."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

_SECONDS_BETWEEN_LINES = 30.0


@contextmanager
def shown_count(what: str, console: Console) -> Iterator[Callable[[int, int], None]]:
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

"""What commands print: results on standard output, messages and progress on standard error."""

import json
import logging
import os
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Generic, NoReturn, TypeVar

import typer
from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

messages = Console(stderr=True, highlight=False, soft_wrap=True)


def say(message: str) -> None:
    """One line, above a progress bar if there is one."""
    messages.print(f"pair2vec: {message}", markup=False)


def fail(message: str, code: int) -> NoReturn:
    """Say why, and end with an exit code."""
    say(message)
    sys.exit(code)


class Terminated(KeyboardInterrupt):
    """SIGTERM, which a job of hours takes as it takes Ctrl-C: what is done is kept, and it says so.

    Schedulers and containers send it before they kill.
    """

    exit_code = 128 + signal.SIGTERM


@contextmanager
def terminated_like_ctrl_c() -> Iterator[None]:
    """Raise `Terminated` on SIGTERM, which otherwise ends a process without a word."""

    def stop(_: int, __: object) -> NoReturn:
        raise Terminated

    with _handling({signal.SIGTERM: stop}):
        yield


class StopRequest:
    """Whether a signal has asked a job to stop."""

    def __init__(self) -> None:
        self._numbers: list[int] = []

    def __call__(self) -> bool:
        return bool(self._numbers)

    def receive(self, number: int, _: object) -> None:
        if self._numbers:
            # The second time at once.
            raise Terminated if number == signal.SIGTERM else KeyboardInterrupt
        self._numbers.append(number)

    @property
    def exit_code(self) -> int:
        """What a shell reports of a process that the signal ended; of Ctrl-C for another rank's."""
        return 128 + (self._numbers or [signal.SIGINT])[0]


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Whether Ctrl-C was pressed or SIGTERM sent; the second one interrupts at once."""
    request = StopRequest()
    with _handling(dict.fromkeys((signal.SIGINT, signal.SIGTERM), request.receive)):
        yield request


@contextmanager
def _handling(handlers: Mapping[signal.Signals, Callable[[int, Any], None]]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def print_result(content: Mapping[str, object], table: RenderableType, *, as_json: bool) -> None:
    """One line of JSON, or the table."""
    if as_json:
        print_json(content)
    else:
        print_table(table)


def print_json(content: Mapping[str, object], indent: int | None = None) -> None:
    typer.echo(json.dumps(content, indent=indent, ensure_ascii=False))


def as_json_line(content: Mapping[str, object]) -> str:
    """What `print_json` prints."""
    return json.dumps(content, ensure_ascii=False)


def print_table(table: RenderableType) -> None:
    Console(highlight=False).print(table)


def set_up_logging() -> None:
    """From now on, show what the library logs."""
    logging.basicConfig(level=logging.WARNING, handlers=[_MessageHandler()])
    logging.getLogger("pair2vec").setLevel(logging.INFO)


class _MessageHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


def use_one_thread_each() -> None:
    """Keep matrix libraries from starting threads where there is a worker for each core.

    To be called before numpy is imported; child processes inherit it.
    """
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


_Update = TypeVar("_Update", contravariant=True)


class ProgressView(ABC, Generic[_Update]):
    """How the updates of a running job are displayed: live on a terminal, else a line at times."""

    seconds_between_lines: ClassVar[float] = 5.0
    starts_with_a_line: ClassVar[bool] = False
    """Whether the first update is a line, or the first after `seconds_between_lines`."""
    is_transient: ClassVar[bool] = False
    """Whether the live display is erased in the end."""

    @abstractmethod
    def update(self, update: _Update) -> None:
        """Take in an update, for `render`."""

    @abstractmethod
    def render(self) -> RenderableType:
        """The display on a terminal."""

    @abstractmethod
    def line(self, update: _Update) -> str:
        """An update where there is no terminal."""

    def is_milestone(self, update: _Update) -> bool:
        """Whether an update is always a line, as a validation is."""
        return False


@contextmanager
def show_progress(
    view: ProgressView[_Update], console: Console = messages
) -> Iterator[Callable[[_Update], None]]:
    """A function to report updates to, displayed as suits `console`."""
    if console.is_terminal:
        with Live(
            get_renderable=view.render,
            console=console,
            refresh_per_second=4,
            transient=view.is_transient,
        ):
            yield view.update
        return
    next_line = time.monotonic()
    if not view.starts_with_a_line:
        next_line += view.seconds_between_lines

    def report(update: _Update) -> None:
        nonlocal next_line
        view.update(update)
        is_due = time.monotonic() >= next_line
        if is_due or view.is_milestone(update):
            console.print(view.line(update))
        if is_due:
            next_line = time.monotonic() + view.seconds_between_lines

    yield report


class _CountView(ProgressView[tuple[int, int]]):
    seconds_between_lines = 30.0
    is_transient = True

    def __init__(self, unit: str) -> None:
        self._unit = unit
        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        self._bar = Progress(TextColumn(unit), *columns)
        self._task = self._bar.add_task(unit, total=None)

    def update(self, update: tuple[int, int]) -> None:
        done, total = update
        self._bar.update(self._task, completed=done, total=total)

    def render(self) -> Progress:
        return self._bar

    def line(self, update: tuple[int, int]) -> str:
        done, total = update
        return f"{done:,} of {total:,} {self._unit}"


@contextmanager
def show_count(unit: str, console: Console = messages) -> Iterator[Callable[[int, int], None]]:
    """A function to report how many of how many are done."""
    with show_progress(_CountView(unit), console) as report:
        yield lambda done, total: report((done, total))


def facts_table(facts: Mapping[str, str]) -> Table:
    """Names and values, one a line."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name, value)
    return table

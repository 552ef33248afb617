"""What commands print: results on standard output, messages and progress on standard error."""

import json
import logging
import os
import re
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar, Generic, NoReturn, TypeVar

import typer
from rich.console import (
    Console,
    ConsoleOptions,
    ConsoleRenderable,
    RenderableType,
    RenderHook,
    RenderResult,
)
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.segment import Segment
from rich.table import Table

_CONTROLS = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: 0x2421,
    # Of the upper half, of the direction of text, of its lines, and halves of surrogate pairs.
    **dict.fromkeys([*range(0x80, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F)], 0xFFFD),
    **dict.fromkeys([*range(0x2066, 0x206A), *range(0xD800, 0xE000)], 0xFFFD),
}
"""Characters that a terminal obeys instead of showing them, and symbols for them."""
_UNSAFE = re.compile(f"[{''.join(map(re.escape, map(chr, _CONTROLS)))}]")


def visible(text: str) -> str:
    """Text of a model, a corpus or a file without any character that a terminal would obey."""
    return text.translate(_CONTROLS) if _UNSAFE.search(text) else text


class SafeConsole(Console):
    """Prints text as it is: nothing in it is markup, and control characters are made visible."""

    def __init__(
        self, *, stderr: bool = False, soft_wrap: bool = False, quiet: bool = False
    ) -> None:
        super().__init__(
            stderr=stderr,
            soft_wrap=soft_wrap,
            quiet=quiet,
            highlight=False,
            markup=False,
            emoji=False,
        )
        self.push_render_hook(_VisibleControls())


class _VisibleControls(RenderHook):
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Visible(renderable) for renderable in renderables]


class _Visible:
    """A renderable whose own escape sequences, such as colours, are kept: those of no text."""

    def __init__(self, renderable: ConsoleRenderable) -> None:
        self._renderable = renderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


messages = SafeConsole(stderr=True, soft_wrap=True)


def say(message: str) -> None:
    """One line, above a progress bar if there is one."""
    messages.print(f"pair2vec: {' '.join(message.splitlines())}")


def fail(message: str, code: int) -> NoReturn:
    """Say why, and end with an exit code."""
    say(message)
    sys.exit(code)


def print_result(content: Mapping[str, object], table: RenderableType, *, as_json: bool) -> None:
    """One line of JSON, or the table."""
    if as_json:
        print_json(content)
    else:
        print_table(table)


def print_json(content: Mapping[str, object], indent: int | None = None) -> None:
    typer.echo(json_text(content, indent))


def json_text(content: Mapping[str, object], indent: int | None = None) -> str:
    """What `print_json` prints: characters that a terminal would obey are escaped."""
    text = json.dumps(content, indent=indent, ensure_ascii=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def print_text(*lines: str) -> None:
    """Lines as they are, however long."""
    typer.echo("\n".join(visible(line).replace("\n", " ") for line in lines))


def print_table(table: RenderableType, *, soft_wrap: bool = False, quiet: bool = False) -> None:
    """A table or other renderable; `soft_wrap` leaves long lines to the terminal."""
    SafeConsole(soft_wrap=soft_wrap, quiet=quiet).print(table)


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


def duration(seconds: float) -> str:
    """As in "9 min", rounded as a person would."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{round(hours / 24)} days"


_Update = TypeVar("_Update", contravariant=True)

_MOST_SECONDS_BETWEEN_LINES, _LINES_IN_A_TIME = 60.0, 12
"""A log has a line every few seconds at first, then one each twelfth of the time that is past, up
to one a minute: a run of days would fill it otherwise."""


class ProgressView(ABC, Generic[_Update]):
    """How the updates of a running job are displayed: live on a terminal, else a line at times."""

    seconds_between_lines: ClassVar[float] = 5.0
    """At first; later more. With 0, every update is a line."""
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
    start = next_line = time.monotonic()
    if not view.starts_with_a_line:
        next_line += view.seconds_between_lines

    def spacing(now: float) -> float:
        least = view.seconds_between_lines
        most = max(_MOST_SECONDS_BETWEEN_LINES, least)
        return min(most, max(least, (now - start) / _LINES_IN_A_TIME)) if least else 0.0

    def report(update: _Update) -> None:
        nonlocal next_line
        view.update(update)
        now = time.monotonic()
        is_due = now >= next_line
        if is_due or view.is_milestone(update):
            console.print(view.line(update))
        if is_due:
            next_line = now + spacing(now)

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

"""The progress of `prepare` on a terminal, or as plain lines where there is none."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars
from rich.text import Text

from pair2vec.cli.messages import messages, say

if TYPE_CHECKING:
    from pair2vec.text.prepare import PrepareProgress


_SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def show_prepare_progress(console: Console) -> Iterator[Callable[[PrepareProgress], None]]:
    """A function to report progress to, shown as suits `console`."""
    if not console.is_terminal:
        yield _Lines(console)
        return
    with Bars(
        TextColumn("{task.description:>5}"),
        BarColumn(),
        _DoneColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=console,
    ) as bars:
        yield _Bars(bars)


class _DoneColumn(ProgressColumn):
    """Bytes while reading, pieces while writing."""

    def __init__(self) -> None:
        super().__init__()
        self._bytes = DownloadColumn()
        self._pieces = MofNCompleteColumn()

    def render(self, task: Task) -> Text:
        return (self._bytes if task.description == "read" else self._pieces).render(task)


class _Rate:
    """Tokens so far, and tokens a second since the stage began."""

    def __init__(self) -> None:
        self._stage = "read"
        self._start = self._last = time.monotonic()

    def describe(self, progress: PrepareProgress) -> str:
        if progress.stage != self._stage:
            self._stage, self._start = progress.stage, self._last
        self._last = time.monotonic()
        millions = progress.tokens / 1e6
        return f"{millions:,.1f} M tokens, {millions / max(self._last - self._start, 1e-3):.2f} M/s"


class _Bars:
    """One bar a stage."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._rate = _Rate()
        self._tasks = {"read": bars.add_task("read", total=None, rate="")}

    def __call__(self, progress: PrepareProgress) -> None:
        if progress.stage not in self._tasks:
            self._tasks[progress.stage] = self._bars.add_task(progress.stage, rate="")
        self._bars.update(
            self._tasks[progress.stage],
            completed=progress.done,
            total=progress.total,
            rate=self._rate.describe(progress),
        )


class _Lines:
    """A line now and then."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._rate = _Rate()
        self._next = time.monotonic() + _SECONDS_BETWEEN_LINES

    def __call__(self, progress: PrepareProgress) -> None:
        rate = self._rate.describe(progress)
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _SECONDS_BETWEEN_LINES
        self._console.print(f"{progress.stage}: {_done(progress)}, {rate}")


def _done(progress: PrepareProgress) -> str:
    if progress.stage == "write":
        return f"{progress.done} of {progress.total} pieces"
    total = f" of {progress.total / 1e6:,.1f}" if progress.total else ""
    return f"{progress.done / 1e6:,.1f}{total} MB"


# == Commands that make a corpus and count in it.


def prepare_command(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT...",
            help="Plain text or MediaWiki XML dumps, also as .gz, .bz2 or .xz; folders of them; "
            "URLs such as s3://bucket/text; or - for standard input.",
            show_default=False,
        ),
    ],
    out: Annotated[
        str, typer.Option(help="The corpus folder to make, or its URL.", show_default=False)
    ],
    vocab: Annotated[
        int, typer.Option(min=1, help="Keep this many of the most frequent words.")
    ] = 100_000,
    min_count: Annotated[int, typer.Option(min=1, help="Drop words that are rarer.")] = 1,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes.", show_default="one a core")
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            help="local: this machine. ray: the cluster RAY_ADDRESS names, or one started here."
        ),
    ] = "local",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the corpus at --out.")
    ] = False,
) -> None:
    """Turn raw text into a corpus folder.

    Stopped or killed, the same command goes on from what is done.
    """
    from pair2vec.cli.models import corpus_summary
    from pair2vec.runtime.storage import RemotePath, storage_path
    from pair2vec.text.prepare import PrepareConfig, make_corpus

    with show_prepare_progress(messages) as report:
        manifest = make_corpus(
            inputs,
            out,
            PrepareConfig(vocabulary=vocab, min_count=min_count),
            workers=workers,
            engine=engine,
            overwrite=overwrite,
            report=report,
        )
    Console(highlight=False).print(corpus_summary(storage_path(out), manifest))
    if isinstance(storage_path(out), RemotePath):
        say(f"{out}: copy it to a local disk, or mount it, for the other commands")

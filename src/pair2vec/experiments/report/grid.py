"""Tables of plain text, to be shown on a terminal or on a page, and the parts of a report."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rich import box
from rich.console import JustifyMethod
from rich.table import Table
from rich.text import Text

from pair2vec.experiments.evaluation.results import Spread
from pair2vec.experiments.report.figures import Curves

MISSING = "missing"
"""In place of a figure that no run has given."""
NOTHING = "–"
"""In place of a figure that there cannot be."""

_WHOLE_FIGURE = len("±10.00")


class StoredRun(NamedTuple):
    """A run behind a row: where its result is, and of when it is."""

    file: str
    """Its name in the folder of results."""
    date: str


def stored_runs(results: Iterable[Mapping[str, Any]]) -> tuple[StoredRun, ...]:
    """Of results that were read from files."""
    return tuple(
        StoredRun(result["file"], str(result.get("date", "")))
        for result in results
        if "file" in result
    )


class Grid(NamedTuple):
    """A table: titles of columns, and rows below them."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    labels: int = 1
    """How many of the first columns are words; the others are figures."""
    runs: Sequence[Sequence[StoredRun]] = ()
    """Behind each row, for a page that links to them; empty where they are not known."""


class ReportPart(NamedTuple):
    """A part of the report: tables of the paper beside measurements, and perhaps the figure."""

    title: str
    grids: Sequence[Grid]
    notes: Sequence[str]
    """The protocol: what the figures depend on."""
    curves: Curves | None = None
    """Of the figure of accuracy against α; None in a part without, {} where it is missing."""


def grid_table(grid: Grid) -> Table:
    """For a terminal."""
    table = Table(title=grid.title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1))
    for number, name in enumerate(grid.head):
        # Where there is little room, a figure is parted from its deviation, but never cut.
        justify: JustifyMethod = "left" if number < grid.labels else "right"
        table.add_column(Text(name), justify=justify, overflow="fold", min_width=_WHOLE_FIGURE)
    for row in grid.rows:
        table.add_row(*map(Text, row))
    return table


def format_spread(spread: Spread | None) -> str:
    """A mean, and the standard deviation of single runs where there are several."""
    if spread is None:
        return MISSING
    deviation = "" if spread.deviation is None else f" ±{spread.deviation:.2f}"
    return f"{spread.mean:.2f}{deviation}"


def format_gain(spread: Spread | None, base: Spread | float | None) -> str:
    """By how much a mean is above another."""
    if spread is None or base is None:
        return MISSING
    return f"{spread.mean - (base.mean if isinstance(base, Spread) else base):+.2f}"


def usual_settings_sentence(settings: Sequence[str]) -> str:
    """A sentence to append, on the usual settings of a table's runs; empty without any."""
    return f" With {' '.join(settings)} where a row says nothing else." if settings else ""


def count_seeds(figures: Sequence[Spread]) -> str:
    """How many seeds are behind some figures at most."""
    return str(max((figure.seeds for figure in figures), default=NOTHING))


def escaped(text: str) -> str:
    """Text escaped for Markdown, in one line."""
    return re.sub(r"([\\`*_\[\]<>|#$~&])", r"\\\1", " ".join(text.split()))


def markdown_row(cells: Iterable[str]) -> str:
    """A row of a Markdown table, of cells that are Markdown already."""
    return f"| {' | '.join(cells)} |"

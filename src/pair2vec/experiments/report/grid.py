"""Grid: a table of plain text, to be shown on a terminal or on a page."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich import box
from rich.console import JustifyMethod
from rich.table import Table
from rich.text import Text

from pair2vec.experiments.evaluation.results import Spread
from pair2vec.experiments.report.figures import Curves

MISSING = "missing"
"""In the place of a figure that no run has given."""

NOTHING = "–"
"""In the place of a figure that there cannot be."""

_WHOLE_FIGURE = len("±10.00")


class Grid(NamedTuple):
    """Titles of columns, and rows below them."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    labels: int = 1
    """How many of the first columns are words; the others are figures."""


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


def figure(spread: Spread | None) -> str:
    """A mean, and how far single runs are from it where there are several."""
    if spread is None:
        return MISSING
    deviation = "" if spread.deviation is None else f" ±{spread.deviation:.2f}"
    return f"{spread.mean:.2f}{deviation}"


def gain(spread: Spread | None, base: Spread | float | None) -> str:
    """How far a mean is above another."""
    if spread is None or base is None:
        return MISSING
    return f"{spread.mean - (base.mean if isinstance(base, Spread) else base):+.2f}"


def usual_settings_sentence(settings: Sequence[str]) -> str:
    """A sentence to go on with, on the usual settings of a grid's runs; none without any."""
    return f" With {' '.join(settings)} where a row says nothing else." if settings else ""


def count_runs(figures: Sequence[Spread]) -> str:
    """How many runs are behind some figures at most."""
    return str(max((one.runs for one in figures), default=NOTHING))


# == Text and rows of tables in Markdown.


def plain(text: str) -> str:
    """Text that Markdown takes for nothing but text, in one line."""
    return re.sub(r"([\\`*_\[\]<>|#$~&])", r"\\\1", " ".join(text.split()))


def table_row(cells: Iterable[str]) -> str:
    """Of cells that are Markdown already."""
    return f"| {' | '.join(cells)} |"


# == Part of the report: tables and a figure of the paper beside what was measured.


class Part(NamedTuple):
    """What one chapter says, before it is Markdown or HTML."""

    title: str
    grids: Sequence[Grid]
    notes: Sequence[str]
    """The protocol: what the figures depend on."""
    curves: Curves | None = None
    """Of the figure of accuracy against α; None in a chapter without, {} where it is missing."""


NO_CURVES = "The figure (fig:dlie) is missing: no stored run has accuracy by α."
NO_MATPLOTLIB = "The figure (fig:dlie) is not drawn: pip install 'pair2vec[plot]'."

"""Grid: a table of plain text, to be shown on a terminal or on a page."""

from collections.abc import Sequence
from typing import NamedTuple

from rich import box
from rich.console import JustifyMethod
from rich.table import Table
from rich.text import Text

from pair2vec.evaluation.results import Spread

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


def said_of_most(settings: Sequence[str]) -> str:
    """A sentence to go on with, on the usual settings of a grid's runs; none without any."""
    return f" With {' '.join(settings)} where a row says nothing else." if settings else ""


def counted(figures: Sequence[Spread]) -> str:
    """How many runs are behind some figures at most."""
    return str(max((one.runs for one in figures), default=NOTHING))

"""The report in Markdown."""

from collections.abc import Sequence

from pair2vec.display.grid import Grid
from pair2vec.display.markdown import plain, table_row
from pair2vec.display.report_part import NO_CURVES, NO_MATPLOTLIB, Part


def markdown_report(head: Sequence[str], parts: Sequence[Part], picture: str | None) -> str:
    """A title and lines below it, then the parts.

    Args:
        head: The title, and what the report is of.
        parts: In order.
        picture: The name of the file with the figure; None if it could not be drawn.
    """
    blocks = [f"# {plain(head[0])}", *map(plain, head[1:])]
    for part in parts:
        blocks += [f"## {plain(part.title)}", *_figure(part, picture)]
        blocks += [block for grid in part.grids for block in _table(grid)]
        blocks += ["\n".join(f"- {plain(note)}" for note in part.notes)] if part.notes else []
    return "\n\n".join(blocks) + "\n"


def _figure(part: Part, picture: str | None) -> list[str]:
    if part.curves is None:
        return []
    if not part.curves:
        return [NO_CURVES]
    return [f"![Accuracy against α]({picture})" if picture else NO_MATPLOTLIB]


def _table(grid: Grid) -> list[str]:
    rule = ["---"] * grid.labels + ["---:"] * (len(grid.head) - grid.labels)
    rows = [map(plain, grid.head), rule, *(map(plain, row) for row in grid.rows)]
    return [f"**{plain(grid.title)}**", "\n".join(map(table_row, rows))]

"""Results that show themselves, as text and as HTML, by the standard library alone."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, SupportsIndex, TypeVar, overload

MOST_ROWS = 60
"""Of what is shown; more are cut to half of it."""

_BAR_WIDTH, _BAR_HEIGHT = 120, 10

Record = TypeVar("Record", bound=tuple[Any, ...])


class Table(list[Record]):
    """A list of named tuples that shows itself as a table, its columns being their fields.

    It is equal to a plain list of them, and so is its JSON; a slice is a table again.
    """

    __slots__ = ()

    @overload
    def __getitem__(self, index: SupportsIndex) -> Record: ...

    @overload
    def __getitem__(self, index: slice) -> "Table[Record]": ...

    def __getitem__(self, index: SupportsIndex | slice) -> "Record | Table[Record]":
        if isinstance(index, slice):
            return Table(super().__getitem__(index))
        return super().__getitem__(index)

    def __repr__(self) -> str:
        head, rows = self._cells()
        if not head:
            return super().__repr__()
        texts = [head, *([text_of(value) for value in row] for row in rows)]
        columns = zip(*texts, strict=True)
        widths = [max(map(len, column)) for column in columns]
        aligned = [
            "  ".join(
                text.ljust(width) if isinstance(value, str) else text.rjust(width)
                for text, width, value in zip(row, widths, rows[0], strict=True)
            ).rstrip()
            for row in texts
        ]
        return "\n".join([*aligned, *_rest(len(self) - len(rows))])

    def _repr_html_(self) -> str | None:
        head, rows = self._cells()
        if not head:
            return None
        notes = map(paragraph, _rest(len(self) - len(rows)))
        return "\n".join([html_table(head, rows), *notes])

    def _cells(self) -> tuple[list[str], list[list[object]]]:
        """The names of the columns and the rows to show, numbered; nothing of an empty table.

        Columns are the fields that hold a word or a number in the first record.
        """
        shown = self if len(self) <= MOST_ROWS else self[: MOST_ROWS // 2]
        fields: tuple[str, ...] = getattr(self[0], "_fields", ()) if self else ()
        names = [name for name in fields if isinstance(getattr(self[0], name), str | float | int)]
        rows: list[list[object]] = [
            [number, *(getattr(record, name, None) for name in names)]
            for number, record in enumerate(shown, start=1)
        ]
        return (["", *names], rows) if names else ([], [])


class Share(float):
    """A number from 0 to 1 that is shown in percent, in HTML as a bar, too."""

    __slots__ = ()


LEAST_SHOWN = 0.005
"""A runner-up that is less probable would be shown as 0 %."""


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def text_of(value: object) -> str:
    """A cell as text: words as they are, numbers with three digits behind the point."""
    if isinstance(value, Share):
        return percent(value)
    if isinstance(value, float):
        return f"{value:.3f}"
    return "" if value is None else str(value)


def paragraph(text: str, strong: str = "") -> str:
    """A paragraph that may begin with some words in bold."""
    return f"<p>{f'<b>{escape(strong)}</b> ' if strong else ''}{escape(text)}</p>"


def html_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of words, numbers and shares; `head` may be empty. Of no rows nothing."""
    if not rows:
        return ""
    cells = ([_cell("td", value, align=value) for value in row] for row in rows)
    titles = [_cell("th", name, align=value) for name, value in zip(head, rows[0], strict=False)]
    return markup_table([titles] if titles else [], cells)


def markup_table(
    head: Iterable[Iterable[str]], rows: Iterable[Iterable[str]], caption: str = ""
) -> str:
    """A table of cells that are HTML already."""
    titles, body = (["<tr>" + "".join(cells) + "</tr>" for cells in part] for part in (head, rows))
    parts = ["<table>"]
    parts += [f"<caption>{escape(caption)}</caption>"] if caption else []
    parts += [f"<thead>{''.join(titles)}</thead>"] if titles else []
    return "\n".join([*parts, "<tbody>", *body, "</tbody>\n</table>"])


def html_answer(
    name: str,
    meaning: str,
    probabilities: Iterable[tuple[str, float]],
    evidence: Mapping[str, Sequence[Any]],
) -> str:
    """What is most probable and what it means, bars, and what speaks for it, by title."""
    bars = [(other, Share(probability)) for other, probability in probabilities]
    tables = ((title, Table(records)._repr_html_()) for title, records in evidence.items())
    shown = [paragraph("", strong=title) + html for title, html in tables if html]
    return "\n".join([paragraph(meaning, strong=name), html_table((), bars), *shown])


def _rest(hidden: int) -> list[str]:
    return [f"... and {hidden:,} more"] if hidden else []


def _cell(tag: str, value: object, *, align: object) -> str:
    """A cell that is aligned as `align` would be: numbers to the right."""
    text = escape(text_of(value))
    if isinstance(value, Share):
        text = f"{_bar(value)} {text}"
    is_number = isinstance(align, float | int) and not isinstance(align, Share)
    return f'<{tag} style="text-align: {"right" if is_number else "left"}">{text}</{tag}>'


def _bar(share: float) -> str:
    """An SVG bar in colours that are seen on white and on black."""
    return (
        f'<svg width="{_BAR_WIDTH}" height="{_BAR_HEIGHT}" viewBox="0 0 1 1" '
        'preserveAspectRatio="none" aria-hidden="true"><rect width="1" height="1" fill="#8884"/>'
        f'<rect width="{min(1.0, max(0.0, share)):.3f}" height="1" fill="#0d9488"/></svg>'
    )

"""The paper's slot-filling table beside a model's answers."""

from collections.abc import Collection, Iterable, Sequence

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from pair2vec.evaluation.slot_table import FilledRow


def slot_rows(rows: Sequence[FilledRow]) -> Group:
    """One row an x, and a line on what was unknown."""
    table = Table(box=box.SIMPLE_HEAD, padding=0)
    for name in ("pattern", "X"):
        table.add_column(name, no_wrap=True)
    for name in ("Y, the paper's", "Y, the model's"):
        table.add_column(name, overflow="fold")
    relation = ""
    for filled in rows:
        if filled.row.relation != relation:
            relation = filled.row.relation
            table.add_section()
            table.add_row(Text(relation, style="bold"))
        table.add_row(*_cells(filled))
    return Group(table, _closing(rows))


def _cells(filled: FilledRow) -> tuple[Text, ...]:
    row = filled.row
    if filled.unknown:
        answers = Text(f"unknown: {', '.join(filled.unknown)}", style="dim")
    else:
        answers = _words((match.word for match in filled.answers), filled.shared, "bold")
    return Text(row.pattern), Text(row.x), _words(row.paper, row.right, "italic"), answers


def _words(words: Iterable[str], marked: Collection[str], style: str) -> Text:
    return Text(", ").join(Text(word, style if word in marked else "") for word in words)


def _closing(rows: Sequence[FilledRow]) -> Text:
    shared = sum(len(filled.shared) for filled in rows)
    answers = sum(len(filled.answers) for filled in rows)
    lacking = [filled for filled in rows if filled.unknown]
    words = sorted({word for filled in lacking for word in filled.unknown})
    return Text(
        f"{shared} of the model's {answers} words are the paper's, too (bold); italic are those "
        f"the paper takes for right.\n{len(lacking)} of {len(rows)} rows have an unknown word"
        + (f": {', '.join(words)}." if words else ".")
    )

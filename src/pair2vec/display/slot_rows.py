"""The paper's slot-filling table beside a model's answers."""

from collections.abc import Collection, Sequence

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from pair2vec.evaluation.slot_judgements import PLACE
from pair2vec.evaluation.slot_table import ANSWERS, FilledRow

_RIGHT = "*"


def slot_rows(rows: Sequence[FilledRow], prior: float = 0.0) -> Group:
    """One row an x, and lines on what is right, what the paper has, and what was unknown.

    Args:
        rows: The table, filled.
        prior: With which it was.
    """
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
    return Group(table, _closing(rows, prior))


def _cells(filled: FilledRow) -> tuple[Text, ...]:
    row = filled.row
    if filled.unknown:
        answers = Text(f"unknown: {', '.join(filled.unknown)}", style="dim")
    else:
        answers = Text(", ").join(
            _styled(match.word, filled.shared, "bold") + (_RIGHT * (match.word in filled.right))
            for match in filled.answers
        )
    paper = Text(", ").join(_styled(word, row.right, "italic") for word in row.paper)
    return Text(row.pattern), Text(row.x), paper, answers


def _styled(word: str, marked: Collection[str], style: str) -> Text:
    return Text(word, style if word in marked else "")


def _closing(rows: Sequence[FilledRow], prior: float) -> Text:
    right = sum(bool(filled.right) for filled in rows)
    shared = sum(len(filled.shared) for filled in rows)
    answers = sum(len(filled.answers) for filled in rows)
    lacking = [filled for filled in rows if filled.unknown]
    words = sorted({word for filled in lacking for word in filled.unknown})
    scored = f"Words are scored by R·C + {prior:g} · log of their share of the corpus.\n"
    return Text(
        f"{scored if prior else ''}"
        f"{right} of {len(rows)} rows have a word in the top {ANSWERS} that is right "
        f"(marked {_RIGHT}; criteria and lists: {PLACE}).\n"
        f"{shared} of the model's {answers} words are the paper's, too (bold); italic are those "
        f"the paper takes for right.\n{len(lacking)} of {len(rows)} rows have an unknown word"
        + (f": {', '.join(words)}." if words else ".")
    )

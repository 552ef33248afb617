"""Questions and a model's answers to them, side by side."""

from collections.abc import Iterable, Sequence

from rich import box
from rich.table import Table
from rich.text import Text


def showcase_table(title: str, rows: Iterable[tuple[str, str, Sequence[str]]]) -> Table:
    """From rows of a question, the command that asks it, and the answers, the best first."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    table.add_column("question", overflow="fold")
    table.add_column("the model's answers", overflow="fold")
    table.add_column("pair2vec …", overflow="fold", style="dim")
    for question, command, answers in rows:
        shown = Text(", ".join(answers))
        if answers:
            shown.stylize("bold", 0, len(answers[0]))
        table.add_row(Text(question), shown, Text(command))
    return table

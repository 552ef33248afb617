"""The mini-world's exam as tables."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from pair2vec.evaluation.mini_exam import Answer, Mark


def marks_table(title: str, marks: Sequence[Mark]) -> Table:
    """Right answers beside chance and a table of co-occurrences."""
    table = Table(
        title=title,
        caption="Right: the best of the candidates. Held out: the text never states the answer.",
    )
    table.add_column("relation")
    table.add_column("pairs")
    for name in ("questions", "right", "of all words", "co-occurrence", "chance"):
        table.add_column(name, justify="right")
    for mark in marks:
        if mark.relation == "all" and not mark.held_out:
            table.add_section()
        shares = (mark.right, mark.right_of_all, mark.counted, mark.chance)
        table.add_row(
            mark.relation,
            "held out" if mark.held_out else "seen",
            f"{mark.questions}",
            *(f"{share:.0%}" for share in shares),
        )
    return table


def examples_table(answers: Sequence[Answer], seen: int = 1, held_out: int = 2) -> Table:
    """A few questions of each relation, the model's best answers, and the truth."""
    table = Table(title="What it answers")
    for name in ("", "pattern", "X", "Y, the best three", "truth"):
        table.add_column(name)
    shown: dict[tuple[str, bool], int] = {}
    for answer in answers:
        question = answer.question
        key = (question.relation, question.held_out)
        shown[key] = shown.get(key, 0) + 1
        if shown[key] <= (held_out if question.held_out else seen):
            best = Text(", ").join(
                Text(word, style="bold" if word in question.answers else "")
                for word in answer.ranked[:3]
            )
            pattern = getattr(question, "pattern", "")
            kind = "held out" if question.held_out else "seen"
            table.add_row(kind, pattern, question.x, best, " or ".join(sorted(question.answers)))
    return table

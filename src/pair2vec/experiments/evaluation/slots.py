"""Slot filling: the paper's table (`tab:kbc_word_prediction`), filled by any model.

The rows are in ``data/slot_table.tsv``: the paper's words in its order, between asterisks those
that it marks as correct. The words that are correct whoever predicts them are in
``data/slot_judgements.toml``, a criterion per row, with how they were collected.
"""

import csv
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from pair2vec.api import Pair2vec
from pair2vec.experiments.evaluation.results import RunResult, command_line, model_provenance
from pair2vec.model.folder import SavedModel
from pair2vec.query.search import Match, SlotWeights, slot_weights

SLOT_ANSWERS = 3
"""How many words the paper shows for each x."""

JUDGEMENTS_PATH = "pair2vec/experiments/evaluation/data/slot_judgements.toml"
"""Where a reader finds the criteria."""

_CORRECT = "*"


class Judgement(NamedTuple):
    """Which words are correct in a row."""

    criterion: str
    accepted: frozenset[str]
    """The words that meet it."""


class SlotRow(NamedTuple):
    """A row of the table as the paper has it."""

    relation: str
    pattern: str
    x: str
    paper: tuple[str, ...]
    """Its best words for Y."""
    paper_correct: frozenset[str]
    """Those of them that it marks as correct."""
    judgement: Judgement


class FilledRow(NamedTuple):
    """A row with a model's predictions."""

    row: SlotRow
    answers: tuple[Match, ...]
    """The best first; none if a word is unknown."""
    unknown: tuple[str, ...]
    """Words of the row that the model does not know."""

    @property
    def shared(self) -> tuple[str, ...]:
        """The model's words that are the paper's too."""
        return tuple(match.word for match in self.answers if match.word in self.row.paper)

    @property
    def correct(self) -> tuple[str, ...]:
        """The model's words that the judgement accepts."""
        accepted = self.row.judgement.accepted
        return tuple(match.word for match in self.answers if match.word in accepted)

    def to_json(self) -> dict[str, object]:
        """As ``--json`` prints it."""
        row = self.row
        return {
            "relation": row.relation,
            "pattern": row.pattern,
            "x": row.x,
            "paper": [{"word": w, "right": w in row.paper_correct} for w in row.paper],
            "matches": [match._asdict() for match in self.answers],
            "criterion": row.judgement.criterion,
            "right": list(self.correct),
            "unknown": list(self.unknown),
        }


def paper_rows() -> list[SlotRow]:
    """The table as the paper has it."""
    rows = csv.DictReader(_read_data("slot_table.tsv").splitlines(), delimiter="\t")
    known = read_judgements()
    return [_row(**row, judgement=known[row["pattern"], row["x"]]) for row in rows]


def _row(relation: str, pattern: str, x: str, paper: str, judgement: Judgement) -> SlotRow:
    marked = paper.split()
    words = tuple(word.strip(_CORRECT) for word in marked)
    correct = frozenset(word.strip(_CORRECT) for word in marked if word.startswith(_CORRECT))
    return SlotRow(relation, pattern, x, words, correct, judgement)


def read_judgements() -> dict[tuple[str, str], Judgement]:
    """By pattern and x."""
    content = tomllib.loads(_read_data("slot_judgements.toml"))
    return {
        (row["pattern"], row["x"]): Judgement(row["criterion"], _accepted(row, content["shared"]))
        for row in content["row"]
    }


def _accepted(row: Mapping[str, Any], shared: Mapping[str, str]) -> frozenset[str]:
    """A row's own words, and those of the lists it shares with others."""
    lists = [row.get("accepted", ""), *(shared[name] for name in row.get("shared", []))]
    return frozenset(" ".join(lists).split())


def _read_data(name: str) -> str:
    folder = files("pair2vec.experiments.evaluation") / "data"
    return (folder / name).read_text(encoding="utf-8")


def fill_rows(model: Pair2vec, rows: Iterable[SlotRow], prior: float = 0.0) -> list[FilledRow]:
    """Each row with the model's best words by the paper's score, of the whole vocabulary.

    Args:
        model: The model to evaluate.
        rows: Of the table.
        prior: Of frequent words, as in `Pair2vec.fill`; the paper has none.
    """
    weights = slot_weights(paper=True, prior=prior)
    return [_fill(model, row, weights) for row in rows]


def _fill(model: Pair2vec, row: SlotRow, weights: SlotWeights) -> FilledRow:
    words = (row.x, *(word for word in row.pattern.split() if word not in {"X", "Y"}))
    unknown = tuple(word for word in words if word not in model.vocabulary)
    if unknown:
        return FilledRow(row, (), unknown)
    answers = model.fill(row.pattern, x=row.x, top=SLOT_ANSWERS, weights=weights, all_words=True)
    return FilledRow(row, tuple(answers), unknown)


def slot_metrics(rows: Sequence[FilledRow]) -> dict[str, int]:
    """How many rows have a correct word."""
    return {"right_rows": sum(bool(row.correct) for row in rows), "rows": len(rows)}


def result_of_slots(saved: SavedModel, rows: Sequence[FilledRow], prior: float) -> RunResult:
    """The record of a run."""
    options = {"--model": saved.folder.resolve().name}
    return {
        "task": "slots",
        **model_provenance(saved),
        "metrics": slot_metrics(rows),
        "rows": [row.to_json() for row in rows],
        "protocol": {"prior": prior},
        "command": command_line(
            ["eval", "slots"], options | ({"--prior": f"{prior:g}"} if prior else {})
        ),
    }


def slot_table(rows: Sequence[FilledRow], prior: float = 0.0) -> Group:
    """For a terminal: the paper's words beside the model's, and a summary."""
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
    return Group(table, _summary(rows, prior))


def _cells(filled: FilledRow) -> tuple[Text, ...]:
    row = filled.row
    if filled.unknown:
        answers = Text(f"unknown: {', '.join(filled.unknown)}", style="dim")
    else:
        answers = Text(", ").join(
            _styled(word, filled.shared, "bold") + (_CORRECT * (word in filled.correct))
            for word, *_ in filled.answers
        )
    paper = Text(", ").join(_styled(word, row.paper_correct, "italic") for word in row.paper)
    return Text(row.pattern), Text(row.x), paper, answers


def _styled(word: str, marked: Collection[str], style: str) -> Text:
    return Text(word, style if word in marked else "")


def _summary(rows: Sequence[FilledRow], prior: float) -> Text:
    correct = slot_metrics(rows)["right_rows"]
    shared = sum(len(filled.shared) for filled in rows)
    answers = sum(len(filled.answers) for filled in rows)
    lacking = [filled for filled in rows if filled.unknown]
    words = sorted({word for filled in lacking for word in filled.unknown})
    scored = f"Words are scored by R·C + {prior:g} · log of their share of the corpus.\n"
    return Text(
        f"{scored if prior else ''}"
        f"{correct} of {len(rows)} rows have a word in the top {SLOT_ANSWERS} that is right "
        f"(marked {_CORRECT}; criteria and lists: {JUDGEMENTS_PATH}).\n"
        f"{shared} of the model's {answers} words are the paper's, too (bold); italic are those "
        f"the paper takes for right.\n{len(lacking)} of {len(rows)} rows have an unknown word"
        + (f": {', '.join(words)}." if words else ".")
    )

"""Which words are right in the paper's slot-filling table: a criterion a row, and what meets it.

They are in ``data/slot_judgements.toml``, which says how they were come by.
"""

import csv
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any, NamedTuple

from pair2vec.api import Pair2vec
from pair2vec.query.search import Match, check_prior

PLACE = "pair2vec/experiments/evaluation/data/slot_judgements.toml"
"""Where a reader finds them."""


class Judgement(NamedTuple):
    """What a person would call right in a row."""

    criterion: str
    accepted: frozenset[str]
    """The words that meet it."""


def judgements() -> dict[tuple[str, str], Judgement]:
    """By pattern and x."""
    stored = files("pair2vec.experiments.evaluation") / "data" / "slot_judgements.toml"
    content = tomllib.loads(stored.read_text(encoding="utf-8"))
    return {
        (row["pattern"], row["x"]): Judgement(row["criterion"], _accepted(row, content["shared"]))
        for row in content["row"]
    }


def _accepted(row: Mapping[str, Any], shared: Mapping[str, str]) -> frozenset[str]:
    """A row's own words, and those of the lists it shares with others."""
    lists = [row.get("accepted", ""), *(shared[name] for name in row.get("shared", []))]
    return frozenset(" ".join(lists).split())


# == The paper's slot-filling table (`tab:kbc_word_prediction`), filled by any model.
#
# Its rows are in ``data/slot_table.tsv``, the paper's answers in the order it gives them, and between
# asterisks those that it takes for right. What else is right, `slot_judgements` says.


ANSWERS = 3
"""How many words the paper shows for each x."""

_MARK = "*"


class SlotRow(NamedTuple):
    """A row of the table as the paper has it."""

    relation: str
    pattern: str
    x: str
    paper: tuple[str, ...]
    """Its best words for Y."""
    right: frozenset[str]
    """Those of them that it takes for right."""
    judgement: Judgement
    """Which words are right, whoever says them."""


class FilledRow(NamedTuple):
    """A row, and what a model puts into it."""

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
    def right(self) -> tuple[str, ...]:
        """The model's words that are right."""
        accepted = self.row.judgement.accepted
        return tuple(match.word for match in self.answers if match.word in accepted)

    def to_json(self) -> dict[str, object]:
        """As ``--json`` prints it."""
        return {
            "relation": self.row.relation,
            "pattern": self.row.pattern,
            "x": self.row.x,
            "paper": [{"word": w, "right": w in self.row.right} for w in self.row.paper],
            "matches": [match._asdict() for match in self.answers],
            "criterion": self.row.judgement.criterion,
            "right": list(self.right),
            "unknown": list(self.unknown),
        }


def paper_rows() -> list[SlotRow]:
    """The table as the paper has it."""
    stored = files("pair2vec.experiments.evaluation") / "data" / "slot_table.tsv"
    rows = csv.DictReader(stored.read_text(encoding="utf-8").splitlines(), delimiter="\t")
    known = judgements()
    return [_row(**row, judgement=known[row["pattern"], row["x"]]) for row in rows]


def _row(relation: str, pattern: str, x: str, paper: str, judgement: Judgement) -> SlotRow:
    marked = paper.split()
    words = tuple(word.strip(_MARK) for word in marked)
    right = frozenset(word.strip(_MARK) for word in marked if word.startswith(_MARK))
    return SlotRow(relation, pattern, x, words, right, judgement)


def fill_rows(model: Pair2vec, rows: Iterable[SlotRow], prior: float = 0.0) -> list[FilledRow]:
    """Each row with the model's best words, of the whole vocabulary.

    Args:
        model: The model to ask.
        rows: Of the table.
        prior: Of frequent words, as in `Pair2vec.fill`; the paper has none.
    """
    return [_filled(model, row, check_prior(prior)) for row in rows]


def _filled(model: Pair2vec, row: SlotRow, prior: float) -> FilledRow:
    given = (row.x, *(word for word in row.pattern.split() if word not in {"X", "Y"}))
    unknown = tuple(word for word in given if word not in model.vocabulary)
    answers = () if unknown else model.fill(row.pattern, x=row.x, top=ANSWERS, prior=prior)
    return FilledRow(row, tuple(answers), unknown)

"""Questions to `fill`: how often the first word is right, by plain R·C and by default.

They are in ``data/fill_questions.toml``, with the words that are right and the rule for them. The
hash of a question puts it into one of two halves: settings are chosen on one, figures are of the
other.
"""

import hashlib
import tomllib
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import NamedTuple

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from pair2vec.api import Pair2vec
from pair2vec.experiments.evaluation.analogy_sets import Half
from pair2vec.query.search import PAPER_WEIGHTS, SLOT_WEIGHTS, Match, SlotWeights

FIRST_WORDS = 3
QUESTIONS_PATH = "pair2vec/experiments/evaluation/data/fill_questions.toml"
"""Where a reader finds them."""


class FillQuestion(NamedTuple):
    """A pattern, the word in one of its slots, and the words that are right in the other."""

    relation: str
    pattern: str
    slot: str
    """The one that is given: x or y."""
    word: str
    right: frozenset[str]
    is_long: bool
    """Whether the pattern has more words outside of X and Y than a context."""

    @property
    def half(self) -> Half:
        key = f"{self.relation}\t{self.pattern}\t{self.word}"
        return "report" if hashlib.sha256(key.encode()).digest()[0] % 2 else "choose"


class Scoring(NamedTuple):
    """A way to choose words."""

    name: str
    title: str
    weights: SlotWeights
    all_words: bool


SCORINGS = (
    Scoring("paper", "plain R·C", PAPER_WEIGHTS, all_words=True),
    Scoring("default", "the default", SLOT_WEIGHTS, all_words=False),
)


class AnsweredQuestion(NamedTuple):
    question: FillQuestion
    answers: tuple[tuple[Match, ...], ...]
    """Of each of `SCORINGS`, the first words."""

    def is_right(self, scoring: int, first: int) -> bool:
        """Whether one of the `first` words of a scoring is right."""
        return any(match.word in self.question.right for match in self.answers[scoring][:first])

    def to_json(self) -> dict[str, object]:
        question = self.question
        return {
            "relation": question.relation,
            "pattern": question.pattern,
            question.slot: question.word,
            "right": sorted(question.right),
            "answers": {
                scoring.name: [match.word for match in matches]
                for scoring, matches in zip(SCORINGS, self.answers, strict=True)
            },
        }


def read_fill_questions(half: Half | None = None) -> list[FillQuestion]:
    """Those of one half; None is all."""
    folder = files("pair2vec.experiments.evaluation") / "data"
    content = tomllib.loads((folder / "fill_questions.toml").read_text(encoding="utf-8"))
    questions = [
        FillQuestion(
            group["relation"],
            group["pattern"],
            group["given"],
            word,
            frozenset(right.split()),
            group.get("long", False),
        )
        for group in content["group"]
        for word, right in group["right"].items()
    ]
    return [question for question in questions if half in {None, question.half}]


def answer_fill_questions(
    model: Pair2vec, questions: Iterable[FillQuestion]
) -> list[AnsweredQuestion]:
    """The questions of which the model knows the word, by each of `SCORINGS`."""
    return [
        AnsweredQuestion(question, tuple(_first_words(model, question, way) for way in SCORINGS))
        for question in questions
        if question.word in model
    ]


def _first_words(model: Pair2vec, question: FillQuestion, scoring: Scoring) -> tuple[Match, ...]:
    given = {question.slot: question.word}
    asked = model.nearest_question(question.pattern, x=given.get("x"), y=given.get("y"))
    matches = model.fill(
        asked.pattern,
        x=asked.x,
        y=asked.y,
        top=FIRST_WORDS,
        weights=scoring.weights,
        all_words=scoring.all_words,
    )
    return tuple(matches)


def fill_metrics(answered: Sequence[AnsweredQuestion]) -> dict[str, dict[str, object]]:
    """By the length of the pattern: how many questions, and how many each scoring has right."""
    groups = {
        "context_patterns": [one for one in answered if not one.question.is_long],
        "long_patterns": [one for one in answered if one.question.is_long],
    }
    return {
        name: {
            "questions": len(group),
            **{
                scoring.name: {
                    "first": sum(one.is_right(number, 1) for one in group),
                    "first_three": sum(one.is_right(number, FIRST_WORDS) for one in group),
                }
                for number, scoring in enumerate(SCORINGS)
            },
        }
        for name, group in groups.items()
    }


def fill_table(answered: Sequence[AnsweredQuestion], asked: int) -> Group:
    """For a terminal: what each scoring has right, of `asked` questions."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("patterns")
    table.add_column("questions", justify="right")
    for scoring in SCORINGS:
        table.add_column(f"{scoring.title}: first", justify="right")
        table.add_column(f"in {FIRST_WORDS}", justify="right")
    titles = {"context_patterns": "of a context's form", "long_patterns": "longer"}
    for name, row in fill_metrics(answered).items():
        counts = [row[scoring.name] for scoring in SCORINGS]
        cells = [str(count) for scored in counts for count in dict(scored).values()]  # type: ignore[call-overload]
        table.add_row(titles[name], str(row["questions"]), *cells)
    similarity, prior = SLOT_WEIGHTS
    return Group(
        table,
        Text(
            "How many have a right word first, or among the first three. The default scores words "
            f"by R·C + {similarity:g}·cos(x, y) + {prior:g}·log p(word), without function words "
            f"and the like. {asked - len(answered)} of {asked} questions have an unknown word.\n"
            f"Questions and right words: {QUESTIONS_PATH}"
        ),
    )

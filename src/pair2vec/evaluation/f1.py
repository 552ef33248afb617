"""F1 by class, and its mean weighted by how often each class occurs."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple


class ClassScore(NamedTuple):
    """How well one class is found."""

    n: int
    """How many pairs are in it."""
    precision: float
    recall: float
    f1: float


class Scores(NamedTuple):
    """How well all are."""

    weighted_f1: float
    accuracy: float
    classes: dict[str, ClassScore]

    def to_json(self) -> dict[str, object]:
        """As JSON."""
        classes = {name: score._asdict() for name, score in self.classes.items()}
        return {**self._asdict(), "classes": classes}


def f1_scores(gold: Sequence[str], predicted: Sequence[str]) -> Scores:
    """The scores of predictions, in shares of one, by the classes of `gold`.

    A class that is never predicted has precision 0, and so F1 0.
    """
    right = Counter(g for g, p in zip(gold, predicted, strict=True) if g == p)
    counts, guesses = Counter(gold), Counter(predicted)
    classes = {
        name: _class_score(counts[name], right[name], guesses[name]) for name in sorted(counts)
    }
    weighted = sum(score.n * score.f1 for score in classes.values()) / max(1, len(gold))
    return Scores(weighted, right.total() / max(1, len(gold)), classes)


def _class_score(n: int, right: int, guessed: int) -> ClassScore:
    return ClassScore(n, right / guessed if guessed else 0.0, right / n, 2 * right / (n + guessed))

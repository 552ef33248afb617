"""Metrics of a classifier: F1 by class, and calibration of its probabilities.

Shapes: N examples, K classes.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_BINS = 10
_SMALLEST = 1e-9
"""Keeps the log loss of a true class with probability 0 finite."""


class ClassScore(NamedTuple):
    """Precision, recall and F1 of one class, and how many examples are in it."""

    n: int
    precision: float
    recall: float
    f1: float


class ClassificationScores(NamedTuple):
    """F1 by class, and its mean weighted by how often each class occurs."""

    weighted_f1: float
    accuracy: float
    classes: dict[str, ClassScore]

    def to_json(self) -> dict[str, object]:
        """As ``--json`` prints it."""
        classes = {name: score._asdict() for name, score in self.classes.items()}
        return {**self._asdict(), "classes": classes}


class CalibrationScores(NamedTuple):
    """How predicted probabilities compare with how often they are correct."""

    n: int
    accuracy: float
    """Of the most probable class."""
    confidence: float
    """The mean probability of the most probable class; of a calibrated model, the accuracy."""
    expected_error: float
    """The expected calibration error: the mean difference of the two in ten bins of confidence."""
    log_loss: float


def f1_scores(gold: Sequence[str], predicted: Sequence[str]) -> ClassificationScores:
    """The scores of predictions, in shares of one, by the classes of `gold`.

    A class that is never predicted has precision 0, and so F1 0.
    """
    correct = Counter(g for g, p in zip(gold, predicted, strict=True) if g == p)
    counts, predictions = Counter(gold), Counter(predicted)
    classes = {
        name: _class_score(counts[name], correct[name], predictions[name])
        for name in sorted(counts)
    }
    weighted = sum(score.n * score.f1 for score in classes.values()) / max(1, len(gold))
    return ClassificationScores(weighted, correct.total() / max(1, len(gold)), classes)


def _class_score(n: int, correct: int, predicted: int) -> ClassScore:
    precision = correct / predicted if predicted else 0.0
    return ClassScore(n, precision, correct / n, 2 * correct / (n + predicted))


def calibration(probabilities: NDArray[np.floating], labels: Sequence[int]) -> CalibrationScores:
    """Of the probabilities of classes, (N, K), and the true class of each example."""
    truth = np.asarray(labels, np.intp)
    confidence = probabilities.max(axis=1).astype(np.float64)
    correct = probabilities.argmax(axis=1) == truth
    bins = np.minimum((confidence * _BINS).astype(np.intp), _BINS - 1)
    # In each bin the sums differ by as much as the means times the share of the bin.
    differences = np.bincount(bins, confidence - correct, _BINS)
    true_class = probabilities[np.arange(len(truth)), truth].astype(np.float64)
    count = max(1, len(truth))
    return CalibrationScores(
        len(truth),
        float(correct.sum() / count),
        float(confidence.sum() / count),
        float(np.abs(differences).sum() / count),
        float(-np.log(np.maximum(true_class, _SMALLEST)).sum() / count),
    )

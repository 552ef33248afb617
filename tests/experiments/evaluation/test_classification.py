"""F1 and calibration against plain counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.experiments.evaluation.classification import calibration, f1_scores

CLASSES = st.sampled_from("abc")


def plain_f1(gold: list[str], predicted: list[str], name: str) -> float:
    """By precision and recall."""
    correct = sum(g == p == name for g, p in zip(gold, predicted, strict=True))
    if not correct:
        return 0.0
    precision, recall = correct / predicted.count(name), correct / gold.count(name)
    return 2 * precision * recall / (precision + recall)


@given(st.lists(st.tuples(CLASSES, st.sampled_from("abcd")), min_size=1, max_size=30))
def test_weighted_f1_is_the_mean_over_pairs_of_their_class_f1(
    pairs: list[tuple[str, str]],
) -> None:
    gold, predicted = [g for g, _ in pairs], [p for _, p in pairs]
    scores = f1_scores(gold, predicted)
    for name, score in scores.classes.items():
        assert score.n == gold.count(name)
        assert score.f1 == pytest.approx(plain_f1(gold, predicted, name))
    mean = sum(plain_f1(gold, predicted, name) for name in gold) / len(gold)
    assert scores.weighted_f1 == pytest.approx(mean)
    assert scores.accuracy == pytest.approx(np.mean([g == p for g, p in pairs]))


def test_calibrated_probabilities_have_no_calibration_error() -> None:
    # Of ten pairs predicted with 0.8, eight are correct; of ten with 0.6, six.
    probabilities = np.array([[0.8, 0.2]] * 10 + [[0.4, 0.6]] * 10)
    labels = [0] * 8 + [1] * 2 + [1] * 6 + [0] * 4
    measured = calibration(probabilities, labels)
    assert measured.n == 20
    assert measured.accuracy == pytest.approx(0.7)
    assert measured.confidence == pytest.approx(0.7)
    assert measured.expected_error == pytest.approx(0, abs=1e-9)
    overconfident = calibration(np.array([[1.0, 0.0]] * 4), [0, 1, 1, 1])
    assert overconfident.expected_error == pytest.approx(0.75)
    assert np.isfinite(overconfident.log_loss)


def test_errors_in_opposite_directions_do_not_cancel() -> None:
    probabilities = np.array([[0.95, 0.05]] * 2 + [[0.55, 0.45]] * 2)
    measured = calibration(probabilities, [0, 1, 0, 0])
    assert measured.accuracy == measured.confidence == pytest.approx(0.75)
    assert measured.expected_error == pytest.approx(0.45)

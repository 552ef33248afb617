"""Calibration recovers known weights and biases, keeps inverses alike, and stacks teachers."""

import numpy as np
import pytest

from pair2vec.arrays import FloatArray, Int64Array
from pair2vec.relations.regression import softmax
from pair2vec.teaching.calibration import Calibration, calibrate

INVERSE = (0, 1, 3, 2, 4)
BIAS = np.array([0.8, -0.4, 0.3, 0.3, -1.0], np.float32)
COUNT = 40_000


def drawn(probabilities: FloatArray, random: np.random.Generator) -> Int64Array:
    """A label for each row, by its probabilities."""
    places = random.random((len(probabilities), 1))
    labels: Int64Array = (probabilities.cumsum(axis=1) < places).sum(axis=1)
    return labels.clip(max=probabilities.shape[1] - 1)


def synthetic(scale: float, bias: FloatArray = BIAS) -> tuple[FloatArray, Int64Array]:
    """Scores, and labels of which softmax(scale · scores + bias) are the probabilities."""
    random = np.random.default_rng(0)
    logits = random.standard_normal((COUNT, len(bias))).astype(np.float32)
    return logits, drawn(softmax(np.float32(scale) * logits + bias), random)


def centred(bias: tuple[float, ...]) -> FloatArray:
    """A softmax does not see a constant that all biases share."""
    values: FloatArray = np.array(bias, np.float32) - np.float32(np.mean(bias))
    return values


@pytest.mark.parametrize("scale", [0.4, 1.0, 2.5])
def test_a_known_scale_and_known_biases_are_recovered(scale: float) -> None:
    logits, labels = synthetic(scale)
    found = calibrate([logits], labels, INVERSE)
    assert found.weights[0] == pytest.approx(scale, rel=0.05)
    np.testing.assert_allclose(centred(found.bias), centred(tuple(BIAS.tolist())), atol=0.07)


def test_a_relation_and_its_inverse_share_a_bias_where_labels_have_one_of_them_alone() -> None:
    logits, labels = synthetic(1.0)
    lopsided = np.where(labels == 3, 2, labels)
    found = calibrate([logits], lopsided, INVERSE)
    assert found.bias[2] == found.bias[3]
    free = calibrate([logits], lopsided, range(5))
    assert free.bias[2] > free.bias[3] + 1


def test_swapped_pairs_have_the_same_calibration() -> None:
    logits, labels = synthetic(1.5)
    inverse = np.array(INVERSE)
    one, other = (
        calibrate([logits], labels, INVERSE),
        calibrate([logits[:, inverse]], inverse[labels], INVERSE),
    )
    assert other.weights == pytest.approx(one.weights, abs=1e-3)
    assert other.bias == pytest.approx(one.bias, abs=1e-3)


def test_few_pairs_move_a_calibration_less_than_many() -> None:
    logits, labels = synthetic(1.0)
    few, many = (calibrate([logits[:n]], labels[:n], INVERSE) for n in (5, COUNT))
    assert np.abs(few.bias).max() < np.abs(many.bias).max()


def noisy(labels: Int64Array, noise: float, seed: int) -> FloatArray:
    """Log-probabilities of a teacher that sees labels through noise."""
    random = np.random.default_rng(seed)
    scores = np.eye(5)[labels] * 2 + random.normal(0, noise, (len(labels), 5))
    log_probabilities: FloatArray = np.log(softmax(scores.astype(np.float32)))
    return log_probabilities


LABELS: Int64Array = np.random.default_rng(0).integers(0, 5, 3000)


def test_weights_prefer_the_better_teacher() -> None:
    good, bad = noisy(LABELS, 0.5, 1), noisy(LABELS, 2.5, 2)
    first, second = calibrate([good, bad], LABELS, INVERSE).weights
    assert first > 3 * second > 0
    second, first = calibrate([bad, good], LABELS, INVERSE).weights
    assert first > 3 * second > 0


def test_a_teacher_that_knows_nothing_has_no_weight() -> None:
    blind = noisy(LABELS * 0, 1.0, 3)
    assert abs(calibrate([noisy(LABELS, 0.5, 1), blind], LABELS, INVERSE).weights[1]) < 0.1


def test_two_teachers_together_fit_labels_better_than_each() -> None:
    found = [noisy(LABELS, 1.5, 1), noisy(LABELS, 1.5, 2)]

    def loss(probabilities: FloatArray) -> float:
        return float(-np.log(probabilities[np.arange(len(LABELS)), LABELS]).mean())

    both = loss(calibrate(found, LABELS, INVERSE).probabilities(*found))
    assert both < 0.9 * min(loss(np.exp(own)) for own in found)
    assert both <= loss(Calibration((0.5, 0.5), (0.0,) * 5).probabilities(*found)) + 1e-6


def test_probabilities_are_those_of_the_formula_and_sum_to_one() -> None:
    # Two that are sure of different relations: exponentials of all scores vanish in float32.
    found = [200 * noisy(LABELS, 0.1, 1), 300 * noisy((LABELS + 1) % 5, 0.1, 2)]
    probabilities = Calibration((0.7, 0.4), tuple(BIAS.tolist())).probabilities(*found)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    product = np.exp(0.7 * found[0].astype(np.float64) + 0.4 * found[1] + BIAS)
    expected = product / product.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(probabilities, expected, atol=1e-3)


def test_a_calibration_needs_as_many_tables_as_weights() -> None:
    with pytest.raises(ValueError, match="zip"):
        Calibration((0.7, 0.4), (0.0,) * 5).probabilities(noisy(LABELS, 1.0, 1))

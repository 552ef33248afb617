"""Calibration recovers a temperature and biases that are known, and keeps inverses alike."""

import numpy as np
import pytest

from pair2vec.arrays import FloatArray, Int64Array
from pair2vec.relations.regression import softmax
from pair2vec.teaching.calibration import calibrate

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
    found = calibrate(*synthetic(scale), INVERSE)
    assert found.scale == pytest.approx(scale, rel=0.05)
    np.testing.assert_allclose(centred(found.bias), centred(tuple(BIAS.tolist())), atol=0.07)


def test_a_relation_and_its_inverse_share_a_bias_where_labels_have_one_of_them_alone() -> None:
    logits, labels = synthetic(1.0)
    lopsided = np.where(labels == 3, 2, labels)
    found = calibrate(logits, lopsided, INVERSE)
    assert found.bias[2] == found.bias[3]
    free = calibrate(logits, lopsided, range(5))
    assert free.bias[2] > free.bias[3] + 1


def test_swapped_pairs_have_the_same_calibration() -> None:
    logits, labels = synthetic(1.5)
    inverse = np.array(INVERSE)
    one, other = (
        calibrate(logits, labels, INVERSE),
        calibrate(logits[:, inverse], inverse[labels], INVERSE),
    )
    assert other.scale == pytest.approx(one.scale, abs=1e-3)
    assert other.bias == pytest.approx(one.bias, abs=1e-3)


def test_few_pairs_move_a_calibration_less_than_many() -> None:
    logits, labels = synthetic(1.0)
    few, many = (calibrate(logits[:n], labels[:n], INVERSE) for n in (5, COUNT))
    assert np.abs(few.bias).max() < np.abs(many.bias).max()

"""Calibration recovers known weights and a known bias, and stacks teachers."""

import numpy as np
import pytest

from pair2vec.arrays import FloatArray, Int64Array
from pair2vec.relations.regression import softmax
from pair2vec.teaching.calibration import Calibration, calibrate, naming_thresholds, prior_shift

COUNT = 40_000


def drawn(probabilities: FloatArray, random: np.random.Generator) -> Int64Array:
    """A label for each row, by its probabilities."""
    places = random.random((len(probabilities), 1))
    labels: Int64Array = (probabilities.cumsum(axis=1) < places).sum(axis=1)
    return labels.clip(max=probabilities.shape[1] - 1)


def synthetic(scale: float, none: float) -> tuple[FloatArray, Int64Array]:
    """Scores, and labels that this scale and bias of no relation give the probabilities of."""
    random = np.random.default_rng(0)
    logits = random.standard_normal((COUNT, 5)).astype(np.float32)
    bias = np.array([0, 0, 0, 0, none], np.float32)
    return logits, drawn(softmax(np.float32(scale) * logits + bias), random)


@pytest.mark.parametrize(("scale", "none"), [(0.4, 1.0), (1.0, 0.0), (2.5, -1.5)])
def test_a_known_scale_and_a_known_bias_are_recovered(scale: float, none: float) -> None:
    logits, labels = synthetic(scale, none)
    found = calibrate([logits], labels)
    assert found.weights[0] == pytest.approx([scale] * 5, rel=0.05)
    assert found.none == pytest.approx(none, abs=0.05)


def test_scores_that_are_calibrated_stay_as_they_are() -> None:
    logits, labels = synthetic(1.7, 0.5)
    found = calibrate([logits], labels)
    scaled = np.log(found.probabilities(logits))
    again = calibrate([scaled], labels)
    assert again.weights[0] == pytest.approx([1.0] * 5, abs=1e-2)
    assert again.none == pytest.approx(0.0, abs=1e-2)


def test_swapped_pairs_have_the_same_calibration_and_the_inverse_probabilities() -> None:
    logits, labels = synthetic(1.5, -0.5)
    inverse = np.array([0, 1, 3, 2, 4])
    one, other = calibrate([logits], labels), calibrate([logits[:, inverse]], inverse[labels])
    np.testing.assert_allclose(other.weights, one.weights, atol=1e-3)
    assert other.none == pytest.approx(one.none, abs=1e-3)
    np.testing.assert_allclose(
        one.probabilities(logits)[:, inverse], one.probabilities(logits[:, inverse]), atol=1e-6
    )


def test_a_relation_that_is_rare_among_held_out_words_keeps_its_odds() -> None:
    logits, labels = synthetic(1.0, 0.0)
    rare = labels != 1
    found = calibrate(
        [
            logits[rare],
        ],
        labels[rare],
    )
    probabilities = found.probabilities(logits)
    odds = np.log(probabilities[:, 1] / probabilities[:, 0])
    expected = found.weights[0, 0] * (logits[:, 1] - logits[:, 0])
    np.testing.assert_allclose(odds, expected, atol=1e-3)


def noisy(labels: Int64Array, noise: float, seed: int) -> FloatArray:
    """Log-probabilities of a teacher that sees labels through noise."""
    random = np.random.default_rng(seed)
    scores = np.eye(5)[labels] * 2 + random.normal(0, noise, (len(labels), 5))
    log_probabilities: FloatArray = np.log(softmax(scores.astype(np.float32)))
    return log_probabilities


def _weights(*weights: float) -> FloatArray:
    """The same for all relations."""
    return np.tile(np.array(weights, np.float32)[:, None], 5)


LABELS: Int64Array = np.random.default_rng(0).integers(0, 5, 3000)


def test_weights_prefer_the_better_teacher() -> None:
    good, bad = noisy(LABELS, 0.5, 1), noisy(LABELS, 2.5, 2)
    first, second = calibrate([good, bad], LABELS).weights[:, 0]
    assert first > 3 * second > 0
    second, first = calibrate([bad, good], LABELS).weights[:, 0]
    assert first > 3 * second > 0


def test_a_teacher_that_knows_nothing_has_no_weight() -> None:
    blind = noisy(LABELS * 0, 1.0, 3)
    weights = calibrate([noisy(LABELS, 0.5, 1), blind], LABELS).weights
    assert np.abs(weights[1]).max() < 0.1


def test_two_teachers_together_fit_labels_better_than_each() -> None:
    found = [noisy(LABELS, 1.5, 1), noisy(LABELS, 1.5, 2)]

    def loss(probabilities: FloatArray) -> float:
        return float(-np.log(probabilities[np.arange(len(LABELS)), LABELS]).mean())

    both = loss(calibrate(found, LABELS).probabilities(*found))
    assert both < 0.9 * min(loss(np.exp(own)) for own in found)
    assert both <= loss(Calibration(_weights(0.5, 0.5), 0.0).probabilities(*found)) + 1e-6


def test_probabilities_are_those_of_the_formula_and_sum_to_one() -> None:
    # Two that are sure of different relations: exponentials of all scores vanish in float32.
    found = [200 * noisy(LABELS, 0.1, 1), 300 * noisy((LABELS + 1) % 5, 0.1, 2)]
    probabilities = Calibration(_weights(0.7, 0.4), 0.3).probabilities(*found)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)
    product = np.exp(0.7 * found[0].astype(np.float64) + 0.4 * found[1] + [0, 0, 0, 0, 0.3])
    expected = product / product.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(probabilities, expected, atol=1e-3)


def test_a_calibration_needs_as_many_tables_as_weights() -> None:
    with pytest.raises(ValueError, match="zip"):
        Calibration(_weights(0.7, 0.4), 0.0).probabilities(noisy(LABELS, 1.0, 1))


def test_a_teacher_counts_most_where_it_knows_most_and_alike_in_both_directions() -> None:
    inverse = (0, 1, 3, 2, 4)
    one, other = noisy(LABELS, 0.5, 1), noisy(LABELS, 0.5, 2)
    # Each is blind to one relation, and the second of the pair to its inverse, too.
    one[:, 0] = np.random.default_rng(3).normal(0, 1, len(LABELS))
    other[:, 2:4] = np.random.default_rng(4).normal(0, 1, (len(LABELS), 2))
    weights = calibrate([one, other], LABELS, inverse).weights
    assert weights[1, 0] > 3 * abs(weights[0, 0])
    assert weights[0, 2] > 3 * abs(weights[1, 2])
    np.testing.assert_array_equal(weights[:, 2], weights[:, 3])


def test_a_teacher_of_a_rare_relation_is_not_overruled_by_one_of_frequent_ones() -> None:
    random = np.random.default_rng(5)
    labels: Int64Array = np.where(random.random(6000) < 0.02, 0, random.integers(2, 5, 6000))
    inverse = (0, 1, 2, 3, 4)
    # One knows the rare relation; the other takes it for a frequent one, and knows the rest better.
    one, other = noisy(labels, 1.2, 6), noisy(np.where(labels == 0, 2, labels), 0.7, 7)
    found = calibrate([one, other], labels, inverse).probabilities(one, other)
    recall = (found[labels == 0].argmax(axis=1) == 0).mean()
    assert recall > 0.5
    # Probabilities are calibrated all the same: as sure as it is right.
    assert found.max(axis=1).mean() == pytest.approx(
        (found.argmax(axis=1) == labels).mean(), abs=0.02
    )


def random_pairs(*highest: float) -> FloatArray:
    """Probabilities (N, 4): each relation is as probable as `highest` at most, and seldom so."""
    random = np.random.default_rng(0)
    probabilities = np.zeros((10_000 * len(highest), 4), np.float32)
    for relation, most in enumerate(highest):
        rows = slice(10_000 * relation, 10_000 * (relation + 1))
        probabilities[rows, relation] = most * random.permutation(np.linspace(0, 1, 10_000)) ** 8
    probabilities[:, -1] = 1 - probabilities.sum(axis=1)
    return probabilities


def named(probabilities: FloatArray, thresholds: FloatArray) -> FloatArray:
    """The share of pairs that each relation is named of."""
    best = probabilities.argmax(axis=1)
    is_named = probabilities.max(axis=1) >= thresholds[best]
    return (np.bincount(best[is_named], minlength=4)[:-1] / len(probabilities)).astype(np.float32)


def test_hardly_a_random_pair_is_in_a_relation_that_is_named() -> None:
    probabilities = random_pairs(0.9)
    thresholds = naming_thresholds(probabilities, (0, 1, 2, 3))
    assert named(probabilities, thresholds).sum() <= 0.004
    assert named(probabilities, thresholds - np.float32(0.01)).sum() > 0.004
    assert thresholds[0] == pytest.approx(0.9, abs=0.02)
    # Where no random pair is likely to be in a relation, that is named wherever it is likely.
    assert thresholds[1:].tolist() == [0.5, 0.5, 0.5]
    assert naming_thresholds(probabilities[:0], (0, 1, 2, 3)).tolist() == [0.5] * 4


def test_relations_share_the_random_pairs_and_an_inverse_counts_in() -> None:
    probabilities = random_pairs(0.9, 0.7, 0.6)
    apart = naming_thresholds(probabilities, (0, 1, 2, 3))
    shares = named(probabilities, apart)
    assert shares.sum() <= 0.004
    assert shares.max() <= 0.002, "a half of a half of the most"
    assert apart[0] > apart[1] > apart[2] > 0.5
    united = naming_thresholds(probabilities, (0, 2, 1, 3))
    assert united[1] == united[2]
    assert named(probabilities, united)[2] == 0, "all that are as probable are in the inverse"


def test_a_shift_of_priors_is_recovered_and_is_the_same_for_an_inverse() -> None:
    random = np.random.default_rng(0)
    logits = random.standard_normal((COUNT, 5)).astype(np.float32)
    shift = np.array([-0.4, -1.5, 0.8, 0.8, 0], np.float32)
    found = prior_shift(logits, drawn(softmax(logits + shift), random), (0, 1, 3, 2, 4))
    assert found == pytest.approx(shift, abs=0.06)
    assert found[2] == found[3]
    # A relation without a held-out pair is called seldom, not never.
    missing = prior_shift(logits, np.full(COUNT, 4), (0, 1, 3, 2, 4))
    assert np.isfinite(missing).all()
    assert missing[:4].max() < -3

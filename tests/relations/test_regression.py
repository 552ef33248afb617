"""Multinomial logistic regression, against its own conditions for a minimum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pair2vec.relations.regression import fit_logistic, softmax


@settings(max_examples=25)
@given(seed=st.integers(0, 2**20), classes=st.integers(2, 5), penalty=st.floats(0.5, 20))
def test_the_gradient_is_zero_at_the_solution(seed: int, classes: int, penalty: float) -> None:
    random = np.random.default_rng(seed)
    rows = random.normal(size=(60, 4)).astype(np.float32)
    labels = random.integers(0, classes, 60)
    weights = random.uniform(0.5, 2, 60).astype(np.float32)
    fitted = fit_logistic(rows, labels, classes, penalty=penalty, weights=weights)
    errors = (fitted.probabilities(rows) - np.eye(classes)[labels]) * weights[:, None]
    np.testing.assert_allclose(rows.T @ errors + penalty * fitted.weight, 0, atol=0.05)
    np.testing.assert_allclose(errors.sum(axis=0), 0, atol=0.05)


def test_without_informative_features_the_class_frequencies_are_predicted() -> None:
    labels = np.array([0] * 30 + [1] * 10)
    rows = np.zeros((40, 2), np.float32)
    fitted = fit_logistic(rows, labels, 2, penalty=1.0, weights=np.ones(40, np.float32))
    assert fitted.probabilities(rows[:1])[0] == pytest.approx([0.75, 0.25], abs=1e-3)


def test_softmax_takes_large_numbers() -> None:
    found = softmax(np.array([[1000.0, 1000.0], [-1000.0, 0.0]], np.float32))
    np.testing.assert_allclose(found, [[0.5, 0.5], [0.0, 1.0]], atol=1e-6)

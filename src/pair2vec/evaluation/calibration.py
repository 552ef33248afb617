"""Whether probabilities mean what they say.

Shapes: N pairs, K classes.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_BINS = 10
_SMALLEST = 1e-9
"""A probability of 0 for what is true would cost an infinity."""


class Calibration(NamedTuple):
    """How probabilities compare with what is true."""

    n: int
    accuracy: float
    """Of the most probable class."""
    confidence: float
    """The mean probability of the most probable class; as large as the accuracy if it is true."""
    expected_error: float
    """The expected calibration error: the mean difference of the two in ten bins of confidence."""
    log_loss: float


def calibration(probabilities: NDArray[np.floating], labels: Sequence[int]) -> Calibration:
    """Of the probabilities of classes, (N, K), and which class is true."""
    truth = np.asarray(labels, np.intp)
    confidence = probabilities.max(axis=1).astype(np.float64)
    right = probabilities.argmax(axis=1) == truth
    bins = np.minimum((confidence * _BINS).astype(np.intp), _BINS - 1)
    # In each bin the sums differ by as much as the means times the share of the bin.
    differences = np.bincount(bins, confidence - right, _BINS)
    true_ones = probabilities[np.arange(len(truth)), truth].astype(np.float64)
    count = max(1, len(truth))
    return Calibration(
        len(truth),
        float(right.sum() / count),
        float(confidence.sum() / count),
        float(np.abs(differences).sum() / count),
        float(-np.log(np.maximum(true_ones, _SMALLEST)).sum() / count),
    )

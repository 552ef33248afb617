"""How well probabilities of relations fit labelled pairs: F1 by class, and calibration.

Shapes: N pairs, K relations, C classes of the evaluation.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import FloatArray, Int64Array
from pair2vec.relations.definitions import NONE

EIGHT = ("synonym", "antonym", "hypernym", "hyponym", "co-hyponym", "part", "whole", NONE)
"""WordNet's relations, which the evaluation is by."""
_MERGED = {
    "located-in": "whole",
    "location-of": "part",
    "made-of": "part",
    "material-of": "whole",
    "occupation": "hypernym",
    "occupation-of": "hyponym",
}
"""The relations that WordNet has as kinds of these."""
_BINS = 15


class RelationScores(NamedTuple):
    """How well probabilities tell the relations of labelled pairs, in percent."""

    pairs: int
    macro_f1: float
    """Over the eight classes."""
    f1: dict[str, float]
    synonym_or_antonym: float
    """Of the pairs that are one of the two: the mean over both of the share told rightly."""
    calibration_error: float
    """The mean distance of confidence and accuracy, over bins of confidence."""


def relation_scores(
    probabilities: FloatArray, labels: Int64Array, names: Sequence[str], inverse: Sequence[int]
) -> RelationScores:
    """Compare probabilities (N, K) with the labels of pairs, in eight classes.

    A pair counts both ways, swapped in the `inverse` relation: which of two words comes first in a
    list says nothing.
    """
    swapped = list(inverse)
    probabilities = np.concatenate([probabilities, probabilities[:, swapped]])
    labels = np.concatenate([labels, np.array(swapped, np.int64)[labels]])
    merged = [EIGHT.index(_MERGED.get(name, name)) for name in names]
    table = np.zeros((len(labels), len(EIGHT)), np.float32)
    np.add.at(table.T, merged, probabilities.T)
    gold = np.array(merged, np.int64)[labels]
    best = table.argmax(axis=1)
    f1 = {name: 100 * _f1(best == number, gold == number) for number, name in enumerate(EIGHT)}
    return RelationScores(
        len(labels) // 2,
        float(np.mean(list(f1.values()))),
        f1,
        100 * _synonym_or_antonym(table, gold),
        100 * calibration_error(table.max(axis=1), best == gold),
    )


def _f1(found: NDArray[np.bool_], gold: NDArray[np.bool_]) -> float:
    total = int(found.sum() + gold.sum())
    return 2 * int((found & gold).sum()) / total if total else 0.0


def _synonym_or_antonym(table: FloatArray, gold: Int64Array) -> float:
    synonym, antonym = EIGHT.index("synonym"), EIGHT.index("antonym")
    is_antonym = table[:, antonym] > table[:, synonym]
    shares = [(is_antonym == (own == antonym))[gold == own] for own in (synonym, antonym)]
    return float(np.mean([share.mean() for share in shares if len(share)] or [0.0]))


def calibration_error(confidence: FloatArray, is_right: NDArray[np.bool_]) -> float:
    """The expected calibration error (Guo et al., 2017), in bins of equal width."""
    bins = np.minimum((confidence * _BINS).astype(np.int64), _BINS - 1)
    counts = np.bincount(bins, minlength=_BINS)
    gaps = np.bincount(bins, confidence, _BINS) - np.bincount(bins, is_right, _BINS)
    return float(np.abs(gaps).sum() / max(1, counts.sum()))

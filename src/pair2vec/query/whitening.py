"""How alike two pairs are: the cosine of their vectors, freed of what all pairs have in common.

Training fixes R only by its products with contexts, not what lengths and angles of R mean. Vectors
of all pairs point much the same way, and differ most in a few directions that tell little of the
relation; a plain cosine sees hardly anything else. So the mean of many pairs is taken off, and each
direction is divided by a power of its standard deviation, as whitening does in full.
"""

import numpy as np

from pair2vec.arrays import IntArray
from pair2vec.errors import UsageError
from pair2vec.query.pair_encoder import Layer, LearntPairs, PairVectors
from pair2vec.text.vocabulary import SPECIAL_TOKENS

WHITENING = 0.5
"""The power, unless another is asked for: chosen on one half of the relations of BATS."""

_SAMPLE = 4_096
_FREQUENT_WORDS = 20_000
"""The pairs of the sample are of two of these."""
_LEAST_VARIANCE = 1e-4
"""As a share of the largest: directions with less are as good as unused."""


def whiten(pairs: PairVectors, whitening: float) -> PairVectors:
    """R so that its cosines compare relations.

    Args:
        pairs: R as the model has it.
        whitening: From 0, which leaves R as it is (the paper's plain cosine), to 1, with which all
            directions vary alike.
    """
    layer = whitening_layer(pairs, whitening)
    return pairs.changed(layer) if layer and isinstance(pairs, LearntPairs) else pairs


def check_whitening(whitening: float | None) -> float:
    """The same, if it can be one; `WHITENING` for None."""
    if whitening is None:
        return WHITENING
    if not 0 <= whitening <= 1:
        raise UsageError(f"whitening is {whitening}; it must be between 0 and 1")
    return whitening


def whitening_layer(pairs: PairVectors, whitening: float) -> Layer | None:
    """What takes the mean of R off and evens out its directions; None where nothing is to do.

    Nothing is where R is not learnt: then its directions are those of the words, and all alike.
    """
    if not check_whitening(whitening) or not isinstance(pairs, LearntPairs):
        return None
    vectors = pairs(*sampled_pairs(pairs.words)).astype(np.float64)
    mean = vectors.mean(axis=0)
    variances, directions = np.linalg.eigh(np.cov(vectors.T))
    variances = np.maximum(variances, max(_LEAST_VARIANCE * variances[-1], np.finfo(float).tiny))
    weight = directions * variances ** (-whitening / 2) @ directions.T
    return Layer(weight.astype(np.float32), (-mean @ weight).astype(np.float32))


def sampled_pairs(words: int) -> IntArray:
    """Random pairs of frequent words, (2, N); the same ones every time."""
    last = min(words, len(SPECIAL_TOKENS) + _FREQUENT_WORDS)
    first = min(len(SPECIAL_TOKENS), last - 1)
    return np.random.default_rng(0).integers(first, last, (2, _SAMPLE), np.intp)

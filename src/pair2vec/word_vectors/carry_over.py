"""Vectors carried over from other word vectors to words that have none, or a poor one.

A linear map between two tables of word vectors, learnt on the words of both, carries over the words
of one that the other lacks (Kiros et al., 2015, section 2.2, expand a vocabulary in this way).

Shapes: V ids, N words to learn from, E dimension of the source, D of the target.
"""

import logging

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import FloatArray, normalise, ridge_regression, safe_norms
from pair2vec.errors import InputError
from pair2vec.word_vectors.formats import WordVectors

RARE_COUNT = 20
"""A word that occurs less often has a vector of its spelling rather than of its use."""
FREQUENT_COUNT = 100
"""The map is learnt on words that occur as often as this, each with the same weight."""

_PENALTY = 1e-4
"""Of the ridge regression, relative to the mean of the diagonal of its Gram matrix."""

_log = logging.getLogger(__name__)


def carry_over(
    target: WordVectors,
    source: WordVectors,
    *,
    rare: int = RARE_COUNT,
    frequent: int = FREQUENT_COUNT,
) -> WordVectors:
    """The target, with vectors mapped from the source for words it lacks and for rare words.

    They have the mean norm of the target's vectors. Words that the source lacks stay as they are.

    Args:
        target: Vectors trained on the corpus, (V, D).
        source: Of the same vocabulary, (V, E).
        rare: Words that occur less often are carried over even if the target has them.
        frequent: Words of both that occur as often or more are learnt from.

    Raises:
        InputError: these are too few.
    """
    counts = target.vocabulary.counts
    shared = target.found & source.found & (counts >= frequent)
    carried = source.found & (~target.found | (counts < rare))
    dimension = source.vectors.shape[1]
    if shared.sum() <= dimension:
        raise InputError(
            f"only {shared.sum():,} words that occur {frequent} times or more have both vectors; "
            f"to carry over vectors of {dimension} dimensions takes more than {dimension} words"
        )
    mapped = _map(source.vectors, target.vectors, shared)
    norm = safe_norms(target.vectors[target.found]).mean()
    vectors = target.vectors.copy()
    vectors[carried] = norm * normalise(mapped[carried])
    cosines = np.sum(normalise(mapped[shared]) * normalise(target.vectors[shared]), axis=1)
    _log.info(
        "%s words have vectors carried over by a map learnt on %s words (mean cosine %.2f)",
        *(f"{number:,}" for number in (carried.sum(), shared.sum())),
        cosines.mean(),
    )
    return WordVectors(target.vocabulary, vectors, target.found | carried)


def _map(source: FloatArray, target: FloatArray, shared: NDArray[np.bool_]) -> FloatArray:
    """The direction of each row, by the linear map with intercept that fits the shared ones.

    Between unit vectors: a norm says how frequent a word is rather than what it means, and would
    give some words more weight than others.
    """
    source = normalise(source)
    inputs = source[shared].astype(np.float64)
    outputs = normalise(target[shared]).astype(np.float64)
    input_mean, output_mean = inputs.mean(0), outputs.mean(0)
    inputs -= input_mean
    penalty = np.float64(_PENALTY * np.square(inputs).sum() / inputs.shape[1])
    weight = ridge_regression(inputs, outputs - output_mean, penalty)
    intercept = output_mean - input_mean @ weight
    mapped: FloatArray = source @ weight.astype(np.float32) + intercept.astype(np.float32)
    return mapped

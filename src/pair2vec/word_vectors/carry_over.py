"""Vectors carried over from other word vectors to words that have none, or a poor one.

A linear map between two tables of word vectors, learnt on the words of both, carries over the words
of one that the other lacks (Kiros et al., 2015, section 2.2, expand a vocabulary in this way).

Shapes: V ids, N words to learn from, E dimension of the source, D of the target.
"""

import logging
import os
from typing import NamedTuple

import numpy as np

from pair2vec.arrays import FloatArray, normalise, ridge_regression, safe_norms
from pair2vec.errors import InputError
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary
from pair2vec.word_vectors.formats import WordVectors, read_all_vectors

RARE_COUNT = 20
"""A word that occurs less often has a vector of its spelling rather than of its use."""
FREQUENT_COUNT = 100
"""The map is learnt on words that occur as often as this, each with the same weight."""

_PENALTY = 1e-4
"""Of the ridge regression, relative to the mean of the diagonal of its Gram matrix."""

_WORDS_A_DIMENSION = 2
"""Fewer shared words fit any map."""
_HELD_OUT = 10
"""One word in so many is held out."""
_LEAST_GAIN = 0.05
"""In the mean cosine, over that of the common direction of all words."""

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
    mapped = fit_map(source.vectors[shared], target.vectors[shared])(source.vectors)
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


class LinearMap(NamedTuple):
    """From the directions of one table of word vectors to those of another."""

    weight: FloatArray
    """(E, D)"""
    intercept: FloatArray
    """(D,)"""

    def __call__(self, source: FloatArray) -> FloatArray:
        """The mapped directions of vectors (N, E): (N, D)."""
        mapped: FloatArray = normalise(source) @ self.weight + self.intercept
        return mapped


def fit_map(source: FloatArray, target: FloatArray) -> LinearMap:
    """The linear map with intercept that fits the directions of some words in both tables.

    Between unit vectors: a norm says how frequent a word is rather than what it means, and would
    give some words more weight than others.
    """
    inputs = normalise(source).astype(np.float64)
    outputs = normalise(target).astype(np.float64)
    input_mean, output_mean = inputs.mean(0), outputs.mean(0)
    inputs -= input_mean
    penalty = np.float64(_PENALTY * np.square(inputs).sum() / inputs.shape[1])
    weight = ridge_regression(inputs, outputs - output_mean, penalty)
    intercept = output_mean - input_mean @ weight
    return LinearMap(weight.astype(np.float32), intercept.astype(np.float32))


class CarriedWords:
    """The words of a file of word vectors, carried over to a model that lacks them."""

    def __init__(self, words: WordVectors, linear_map: LinearMap) -> None:
        self._words, self._map = words, linear_map

    @classmethod
    def read(
        cls, path: str | os.PathLike[str], vocabulary: Vocabulary, target: FloatArray
    ) -> "CarriedWords":
        """Read all words of a file, and learn the map on those that the model knows.

        A tenth of them is held out, to say in the log how well others are carried over.

        Args:
            path: Of the file.
            vocabulary: Of the model.
            target: Its word vectors, (V, D).

        Raises:
            InputError: the file has too few of the words, or its vectors say nothing about the
                model's: of another language, or damaged.
        """
        words, special = read_all_vectors(path), len(SPECIAL_TOKENS)
        in_file = [words.vocabulary.ids.get(word, 0) for word in vocabulary.words[special:]]
        is_shared = words.found[in_file]
        rows, own = np.array(in_file)[is_shared], special + np.flatnonzero(is_shared)
        needed = _WORDS_A_DIMENSION * words.vectors.shape[1]
        if len(rows) < needed:
            raise InputError(
                f"{path}: has {len(rows):,} of the model's words; to carry over vectors of "
                f"{words.vectors.shape[1]} dimensions takes {needed:,}"
            )
        inputs, outputs = words.vectors[rows], normalise(target[own])
        held_out = np.arange(len(rows)) % _HELD_OUT == 0
        trial = normalise(fit_map(inputs[~held_out], outputs[~held_out])(inputs[held_out]))
        cosine = float((trial * outputs[held_out]).sum(axis=1).mean())
        # All words have a common direction, which any file would seem to know.
        common = normalise(outputs[~held_out].mean(axis=0))
        chance = float((outputs[held_out] @ common).mean())
        if cosine < chance + _LEAST_GAIN:
            raise InputError(
                f"{path}: its vectors say nothing about the model's words (mean cosine of held-out "
                f"words {cosine:.2f}, by chance {chance:.2f}); are they of the same language?"
            )
        _log.info(
            "%s: words that the model lacks are carried over by a map learnt on %s words (mean "
            "cosine of held-out words %.2f, by chance %.2f)",
            *(path, f"{len(rows):,}", cosine, chance),
        )
        return cls(words, fit_map(inputs, outputs))

    def __call__(self, word: str) -> FloatArray | None:
        """The unit vector of a word or phrase, (D,); None if the file lacks it."""
        ids = self._words.vocabulary.ids
        row = ids.get(word, ids.get(word.replace(" ", "_"), 0))
        if not self._words.found[row]:
            return None
        vector: FloatArray = normalise(self._map(self._words.vectors[[row]]))[0]
        return vector

"""The pair space of an opened model: its networks R and C, its words, and how pairs are compared.

Training fixes R only by its products with contexts, not what its norms and angles mean. The vectors
of all pairs point much the same way, and vary most in a few directions that say little about the
relation; a plain cosine sees hardly anything else. So pairs are compared after whitening: the mean
over many pairs is subtracted, and each principal direction is divided by a power of its standard
deviation.

Shapes: V vocabulary, N pairs, D dimension.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import FloatArray, IntArray, normalise
from pair2vec.errors import InputError, UsageError
from pair2vec.model.folder import SavedModel
from pair2vec.model.tensors import REPAIR_HINT
from pair2vec.query.answers import AnswerFilter
from pair2vec.query.context_encoder import PatternEncoder
from pair2vec.query.pair_encoder import (
    LearnedPairNetwork,
    LinearLayer,
    PairNetwork,
    make_pair_network,
)
from pair2vec.text.vocabulary import PADDING, SPECIAL_TOKENS, is_known_word, look_up_word

SPECIAL_IDS = range(len(SPECIAL_TOKENS))
"""Ids that are no words: never an answer."""

WHITENING = 0.5
"""The default power, chosen on one half of the relations of BATS."""

FREQUENT_WORDS = 20_000
"""How many of the most frequent words a fast search, or a sample of pairs, is taken from."""
_SAMPLED_PAIRS = 4_096
_LEAST_VARIANCE = 1e-4
"""As a share of the largest variance: directions with less are hardly used."""

Unknown = Literal["error", "skip", "zero"]
"""Out-of-vocabulary words in a batch: raise, leave the pair out, or give it a zero vector."""


class PairIds(NamedTuple):
    """Pairs of words as ids; those of pairs that are not known are padding."""

    x: IntArray
    y: IntArray
    known: NDArray[np.bool_]
    """Whether both words of a pair are in the vocabulary."""


class PairSpace:
    """The arrays of a model, opened once; its large tables stay memory-mapped."""

    def __init__(self, saved: SavedModel, *, whitening: float | None = None) -> None:
        """Open the networks of a model.

        Args:
            saved: The model folder.
            whitening: The power of whitening, from 0 (the paper's plain cosine) to 1 (all
                directions vary equally); None is `WHITENING`.
        """
        self.whitening = check_whitening(whitening)
        self.vocabulary = saved.vocabulary
        self.pairs = make_pair_network(saved)
        """R as patterns are scored with it."""
        self.answers = AnswerFilter(saved.vocabulary)
        self._saved = saved

    @cached_property
    def pattern_encoder(self) -> PatternEncoder:
        """C of patterns; what is made for injection alone may lack it."""
        return PatternEncoder(self._saved, self._similar_word)

    def _similar_word(self, word: int, end: int) -> int:
        """The word with the most similar vector among those with ids below `end`."""
        words = self.unit_inputs(np.arange(len(SPECIAL_TOKENS), end))
        return len(SPECIAL_TOKENS) + int((words @ self.unit_inputs(np.array([word]))[0]).argmax())

    @cached_property
    def whitening_layer(self) -> LinearLayer | None:
        """What whitens R; None where it is compared as it is."""
        return whitening_layer(self.pairs, self.whitening)

    @cached_property
    def whitened_pairs(self) -> PairNetwork:
        """R as pairs are compared with it, before normalisation."""
        if self.whitening_layer is None or not isinstance(self.pairs, LearnedPairNetwork):
            return self.pairs
        return self.pairs.followed_by(self.whitening_layer)

    def whiten(self, vectors: FloatArray) -> FloatArray:
        """Vectors R (N, D), whitened and normalised."""
        return normalise(self.whitening_layer(vectors) if self.whitening_layer else vectors)

    @cached_property
    def unit_words(self) -> FloatArray:
        """The word vectors of R with unit norm: (V, D)."""
        words = self.pairs.all_inputs
        return words if self.pairs.has_unit_inputs else normalise(words)

    @cached_property
    def frequent_words(self) -> FloatArray:
        """`unit_words` of the most frequent words, which take less time to read: (N, D)."""
        if "unit_words" in self.__dict__:
            return self.unit_words[:FREQUENT_WORDS]
        return self.unit_inputs(np.arange(min(FREQUENT_WORDS, self.pairs.words)))

    def unit_inputs(self, ids: IntArray) -> FloatArray:
        """The word vectors of ids with unit norm, as `unit_words` has them: (N, D)."""
        words = self.pairs.inputs(ids)
        return words if self.pairs.has_unit_inputs else normalise(words)

    def look_up_pairs(self, pairs: Iterable[tuple[str, str]], unknown: Unknown) -> PairIds:
        """Pairs of words as ids; `unknown` says whether a word may be out of the vocabulary."""
        check_unknown(unknown)
        words = [word for x, y in pairs for word in (x, y)]
        ids = {word: self._look_up(word, unknown) for word in dict.fromkeys(words)}
        found = np.array([ids[word] for word in words], np.intp).reshape(-1, 2)
        known: NDArray[np.bool_] = (found != PADDING).all(axis=1)
        found[~known] = PADDING
        return PairIds(found[:, 0], found[:, 1], known)

    def _look_up(self, word: str, unknown: Unknown) -> int:
        """The id of a word; padding where it is not known and may be so."""
        # The error suggests spellings, which takes long: only when it is to be raised.
        is_known = unknown == "error" or is_known_word(word, self.vocabulary)
        return look_up_word(word, self.vocabulary) if is_known else PADDING


def check_unknown(unknown: Unknown) -> None:
    """Refuse what is no policy for out-of-vocabulary words."""
    if unknown not in get_args(Unknown):
        raise UsageError(
            f"unknown is {unknown!r}; it must be one of {', '.join(get_args(Unknown))}"
        )


def check_whitening(whitening: float | None) -> float:
    """`whitening` if it is between 0 and 1; `WHITENING` for None."""
    if whitening is None:
        return WHITENING
    if not 0 <= whitening <= 1:
        raise UsageError(f"whitening is {whitening}; it must be between 0 and 1")
    return whitening


def whitening_layer(pairs: PairNetwork, whitening: float) -> LinearLayer | None:
    """The layer that subtracts the mean of R and scales its principal directions.

    None for a whitening of 0, and where R is not learned: its directions are then those of the
    words, which vary equally.
    """
    if not check_whitening(whitening) or not isinstance(pairs, LearnedPairNetwork):
        return None
    vectors = pairs(*sampled_pairs(pairs.words)).astype(np.float64)
    if not np.isfinite(vectors).all():
        raise InputError(f"the model has weights beyond all measure; {REPAIR_HINT}")
    mean = vectors.mean(axis=0)
    variances, directions = np.linalg.eigh(np.cov(vectors.T))
    variances = np.maximum(variances, max(_LEAST_VARIANCE * variances[-1], np.finfo(float).tiny))
    weight = directions * variances ** (-whitening / 2) @ directions.T
    return LinearLayer(weight.astype(np.float32), (-mean @ weight).astype(np.float32))


def sampled_pairs(words: int) -> IntArray:
    """Random pairs of frequent words, (2, N); the same ones every time."""
    last = min(words, len(SPECIAL_TOKENS) + FREQUENT_WORDS)
    first = min(len(SPECIAL_TOKENS), last - 1)
    return np.random.default_rng(0).integers(first, last, (2, _SAMPLED_PAIRS), np.intp)

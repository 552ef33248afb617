"""The pair space of an opened model: its networks R and C, its words, and how pairs are compared.

Training fixes R only by its products with contexts, not what its norms and angles mean. The vectors
of all pairs point much the same way, and vary most in a few directions that say little about the
relation; a plain cosine sees hardly anything else. So pairs are compared after whitening: the mean
over many pairs is subtracted, and each principal direction is divided by a power of its standard
deviation.

Shapes: V vocabulary, N pairs, D dimension.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Literal, NamedTuple, get_args, overload

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import FloatArray, IntArray, normalise
from pair2vec.errors import InputError, UsageError
from pair2vec.model.folder import SavedModel
from pair2vec.model.subwords import read_subwords
from pair2vec.model.tensors import REPAIR_HINT
from pair2vec.query.answers import AnswerFilter
from pair2vec.query.composition import ComposedWord, WordComposer
from pair2vec.query.context_encoder import PatternEncoder
from pair2vec.query.pair_encoder import (
    MOST_ADDED,
    LearnedPairNetwork,
    LinearLayer,
    PairNetwork,
    make_pair_network,
)
from pair2vec.rendering import Table
from pair2vec.text.sentences import tokenize
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

Unknown = Literal["error", "skip", "zero", "compose"]
"""Out-of-vocabulary words in a batch: raise, leave the pair out, give it a zero vector, or compose
the word's vector, and raise where that cannot be done."""

UnknownWord = Literal["error", "compose"]
"""The same for answers that every pair needs."""

_log = logging.getLogger(__name__)


class PairIds(NamedTuple):
    """Pairs of words as ids; those of pairs that are not known are padding."""

    x: IntArray
    y: IntArray
    known: NDArray[np.bool_]
    """Whether both words of a pair have an id."""


class PairSpace:
    """The arrays of a model, opened once; its large tables stay memory-mapped."""

    def __init__(
        self,
        saved: SavedModel,
        *,
        whitening: float | None = None,
        carried: Callable[[str], FloatArray | None] | None = None,
    ) -> None:
        """Open the networks of a model.

        Args:
            saved: The model folder.
            whitening: The power of whitening, from 0 (the paper's plain cosine) to 1 (all
                directions vary equally); None is `WHITENING`.
            carried: The unit vector of an unknown word by other word vectors, if they have it.
        """
        self.whitening = check_whitening(whitening)
        self.vocabulary = saved.vocabulary
        self.pairs = make_pair_network(saved)
        """R as patterns are scored with it."""
        self.answers = AnswerFilter(saved.vocabulary)
        self._saved, self._carried = saved, carried
        self._composed: dict[str, tuple[int, ComposedWord]] = {}
        self._spelled_beyond: dict[int, str] = {}

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
        ids = {word: self._look_up_in_batch(word, unknown) for word in dict.fromkeys(words)}
        found = np.array([ids[word] for word in words], np.intp).reshape(-1, 2)
        known: NDArray[np.bool_] = (found != PADDING).all(axis=1)
        found[~known] = PADDING
        return PairIds(found[:, 0], found[:, 1], known)

    def _look_up_in_batch(self, word: str, unknown: Unknown) -> int:
        """The id of a word; padding where it is not known and may be so."""
        if unknown == "compose":
            return self.look_up(word)
        # The error suggests spellings, which takes long: only when it is to be raised.
        is_known = unknown == "error" or is_known_word(word, self.vocabulary)
        return look_up_word(word, self.vocabulary) if is_known else PADDING

    def look_up(self, text: str) -> int:
        """The id of a typed word; of an unknown one, the id of the vector composed for it.

        Ids beyond the vocabulary are good for a query, not to be kept.

        Raises:
            UnknownWordError: it is out of the vocabulary and cannot be composed.
        """
        if is_known_word(text, self.vocabulary):
            return look_up_word(text, self.vocabulary)
        tokens = tokenize(text)
        found = self._composed.get(" ".join(tokens))
        if found is None or found[0] < self.pairs.added.first:
            found = self._compose(tokens)
        return look_up_word(text, self.vocabulary) if found is None else found[0]

    def composed(self, *texts: str | None) -> Table[ComposedWord]:
        """Of typed words those that were composed, each once; not those that are known."""
        tokens = (" ".join(tokenize(text)) for text in texts if text is not None)
        found = (self._composed.get(word) for word in dict.fromkeys(tokens))
        return Table(entry[1] for entry in found if entry is not None)

    @property
    def spelled(self) -> Sequence[str]:
        """Words by id, those that are composed so far included."""
        words = self.vocabulary.words
        return _Spellings(words, self._spelled_beyond) if self._spelled_beyond else words

    def _compose(self, tokens: Sequence[str]) -> tuple[int, ComposedWord] | None:
        """Give a word an id beyond the vocabulary; None where it cannot be composed."""
        composition = self._composer(tokens)
        if composition is None:
            return None
        word = composition.word
        if word.word not in self._composed:
            _log.warning("%s", word.message)
        added = self.pairs.added
        word_id = added.add(composition.vector * self._input_norm)
        self._spelled_beyond[word_id] = word.word
        self._composed[word.word] = word_id, word
        if len(self._composed) > 2 * MOST_ADDED:
            self._forget(added.first)
        return word_id, word

    def _forget(self, first: int) -> None:
        """Drop the spellings of ids that are no longer there."""
        # New ones, so that another thread never sees one change under its hands.
        self._spelled_beyond = {n: w for n, w in self._spelled_beyond.items() if n >= first}
        self._composed = {w: entry for w, entry in self._composed.items() if entry[0] >= first}

    @cached_property
    def _composer(self) -> WordComposer:
        return WordComposer(
            self.vocabulary, self.unit_inputs, read_subwords(self._saved), self._carried
        )

    @cached_property
    def _input_norm(self) -> np.float32:
        """The usual norm of what R composes."""
        if self.pairs.has_unit_inputs:
            return np.float32(1)
        inputs = self.pairs.inputs(np.arange(min(FREQUENT_WORDS, self.pairs.words)))
        norm: np.float32 = np.linalg.norm(inputs, axis=1).mean(dtype=np.float32)
        return norm


class _Spellings(Sequence[str]):
    """Words by id, also of ids beyond the vocabulary."""

    def __init__(self, words: Sequence[str], beyond: Mapping[int, str]) -> None:
        self._words, self._beyond = words, beyond

    def __len__(self) -> int:
        return len(self._words) + len(self._beyond)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...

    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice) or index < len(self._words):
            return self._words[index]
        return self._beyond[index]


def check_unknown(unknown: Unknown) -> None:
    """Refuse what is no policy for out-of-vocabulary words."""
    if unknown not in get_args(Unknown):
        raise UsageError(
            f"unknown is {unknown!r}; it must be one of {', '.join(get_args(Unknown))}"
        )


def check_unknown_word(unknown: UnknownWord) -> None:
    """Refuse what is neither "error" nor "compose"."""
    if unknown not in get_args(UnknownWord):
        raise UsageError(f"unknown is {unknown!r}; it must be one of error, compose")


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

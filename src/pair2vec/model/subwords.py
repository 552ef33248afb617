"""Character n-grams of words: hashed, and a small table that gives a word's vector by its spelling.

A word is spelled ``<word>``, so that its beginning and end are n-grams of their own, and cut into
all n-grams of some lengths (Bojanowski et al., 2017, section 3.2). An n-gram is hashed by FNV-1a of
32 bits, one step for each of its code points; of ASCII, that is FNV-1a as published. Its bucket is
the hash modulo their number.

The table is fitted to word vectors that are there (Pinter et al., 2017; Zhao et al., 2018): the
unit vector of a word is about mean + (Σ buckets of its n-grams / √their number) · directions, with
the directions being the principal ones of the word vectors, and the buckets the least squares, with
a ridge penalty.

Shapes: W words, M n-grams of all words, B buckets, R rank, D dimension.
"""

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import FloatArray, IntArray, normalise
from pair2vec.errors import InputError
from pair2vec.model.folder import SavedModel
from pair2vec.model.tensors import REPAIR_HINT
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary

BUCKETS = 3_072
RANK = 32
SHORTEST, LONGEST = 2, 4
"""Characters of an n-gram, with the marks of a word's beginning and end."""
PENALTY = 3.0
"""Of the squares of the buckets. `benchmarks/unknown_words.py --choose` compares all of these."""

CONFIG_KEY = "subwords"
"""Of the model's config: the lengths of the n-grams, and their hash."""
HASH = "fnv1a-32"
BUCKETS_TENSOR, DIRECTIONS_TENSOR, MEAN_TENSOR = (
    f"subword.{part}" for part in ("buckets", "directions", "mean")
)

_OFFSET, _PRIME = np.uint32(2_166_136_261), np.uint32(16_777_619)
_ITERATIONS = 16
"""Of conjugate gradients; more change nothing that can be measured."""
_LONGEST_SAVED = 16
"""Characters of an n-gram that a config may ask for."""
_WORDS_AT_ONCE = 8_192


class Ngrams(NamedTuple):
    """The n-grams of several words, in order of the words."""

    hashes: NDArray[np.uint32]
    """(M,)"""
    words: IntArray
    """The index of the word of each, ascending, (M,)."""


def word_ngrams(words: Sequence[str], shortest: int, longest: int) -> Ngrams:
    """All n-grams of each ``<word>`` but itself as a whole."""
    text = "".join(f"<{word}>" for word in words)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint32)
    lengths = np.array([len(word) + 2 for word in words], np.intp)
    owners = np.repeat(np.arange(len(words)), lengths)
    left = np.cumsum(lengths)[owners] - np.arange(len(codes))
    hashes, found, starts = np.full(len(codes), _OFFSET), [], []
    for length in range(1, min(longest, len(codes)) + 1):
        hashes = (hashes[: len(codes) - length + 1] ^ codes[length - 1 :]) * _PRIME
        if length >= shortest:
            first = np.arange(len(hashes))
            inside = (left[: len(hashes)] >= length) & (lengths[owners[: len(hashes)]] > length)
            starts.append(first[inside])
            found.append(hashes[inside])
    where = np.concatenate(starts or [np.empty(0, np.intp)])
    all_hashes = np.concatenate(found or [np.empty(0, np.uint32)])
    order = np.argsort(owners[where], kind="stable")
    return Ngrams(all_hashes[order], owners[where][order])


class SubwordTable(NamedTuple):
    """What gives a word's vector by its n-grams."""

    buckets: FloatArray
    """(B, R)"""
    directions: FloatArray
    """(R, D)"""
    mean: FloatArray
    """(D,)"""
    shortest: int
    longest: int

    def vectors(self, words: Sequence[str]) -> FloatArray:
        """Of unit norm: (W, D)."""
        sums = _BucketSums(words, len(self.buckets), self.shortest, self.longest)
        return normalise(sums.of_words(self.buckets) @ self.directions + self.mean)

    def tensors(self) -> dict[str, FloatArray]:
        """By the names that a model folder has them under."""
        names = (BUCKETS_TENSOR, DIRECTIONS_TENSOR, MEAN_TENSOR)
        return dict(zip(names, self[:3], strict=True))

    def facts(self) -> dict[str, Any]:
        """What a model's config says of it."""
        lengths = {"shortest": self.shortest, "longest": self.longest}
        return {CONFIG_KEY: {"hash": HASH, **lengths}}


def fit_subwords(
    vocabulary: Vocabulary,
    table: FloatArray,
    *,
    buckets: int = BUCKETS,
    rank: int = RANK,
    lengths: tuple[int, int] = (SHORTEST, LONGEST),
    penalty: float = PENALTY,
) -> SubwordTable:
    """The table that reproduces the vectors of a vocabulary best, (V, D), each of unit norm.

    Every word has the same weight: words to be composed are rare, and there are most of these.
    """
    special = len(SPECIAL_TOKENS)
    words, vectors = vocabulary.words[special:], table[special:]
    # What has no direction, or is no word, teaches nothing about spelling.
    chosen = [n for n, word in enumerate(words) if len(word) > 1 and word.upper() != word.lower()]
    chosen = [n for n in chosen if vectors[n].any()] or list(range(len(words)))
    units = normalise(vectors[chosen])
    mean = units.mean(axis=0)
    centred = units - mean
    directions = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :rank].T.astype(np.float32)
    directions = np.ascontiguousarray(directions)
    spelled = [words[n] for n in chosen]
    sums = _BucketSums(spelled, min(buckets, 16 * len(spelled)), *lengths)
    fitted = _least_squares(sums, centred @ directions.T, np.float32(penalty))
    return SubwordTable(fitted, directions, mean, *lengths)


def read_subwords(saved: SavedModel) -> SubwordTable | None:
    """The table of a model; None for one that was saved without.

    Raises:
        InputError: it is damaged, or newer than this version.
    """
    facts = saved.config.get(CONFIG_KEY)
    if facts is None or BUCKETS_TENSOR not in saved.names:
        return None
    try:
        lengths = operator.index(facts["shortest"]), operator.index(facts["longest"])
        if facts["hash"] != HASH or not 1 <= lengths[0] <= lengths[1] <= _LONGEST_SAVED:
            raise ValueError(facts)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{saved.folder}: the n-grams of words in its config are damaged, or newer than this "
            f"version of pair2vec; {REPAIR_HINT}"
        ) from error
    names = (BUCKETS_TENSOR, DIRECTIONS_TENSOR, MEAN_TENSOR)
    buckets, directions, mean = map(saved.array, names)
    return SubwordTable(buckets, directions, mean, *lengths)


class _BucketSums:
    """The sparse matrix from buckets to words: of each word the counts of its buckets / √M_word."""

    def __init__(self, words: Sequence[str], buckets: int, shortest: int, longest: int) -> None:
        hashes, owners = word_ngrams(words, shortest, longest)
        self._buckets, self._owners = (hashes % np.uint32(buckets)).astype(np.intp), owners
        counts = np.bincount(owners, minlength=len(words))
        self._scale = (1 / np.sqrt(np.maximum(counts, 1))).astype(np.float32)[:, None]
        self._ends = np.cumsum(counts)
        self._order = np.argsort(self._buckets, kind="stable")
        self._bucket_ends = np.cumsum(np.bincount(self._buckets, minlength=buckets))

    def of_words(self, buckets: FloatArray) -> FloatArray:
        """The product with a matrix of buckets, (B, R): (W, R)."""
        return self._scale * _sums_of_runs(buckets, self._buckets, self._ends)

    def of_buckets(self, words: FloatArray) -> FloatArray:
        """The transpose's product with a matrix of words, (W, R): (B, R)."""
        return _sums_of_runs(words * self._scale, self._owners[self._order], self._bucket_ends)


def _sums_of_runs(rows: FloatArray, index: IntArray, ends: IntArray) -> FloatArray:
    """The sum of rows[index[ends[n - 1] : ends[n]]] for each n; blocks bound the memory."""
    sums = np.zeros((len(ends), rows.shape[1]), np.float32)
    begins = np.concatenate([[0], ends[:-1]])
    for start in range(0, len(ends), _WORDS_AT_ONCE):
        block = start + np.flatnonzero(
            begins[start : start + _WORDS_AT_ONCE] < ends[start : start + _WORDS_AT_ONCE]
        )
        if len(block):
            first, last = begins[block[0]], ends[block[-1]]
            sums[block] = np.add.reduceat(rows[index[first:last]], begins[block] - first)
    return sums


def _least_squares(sums: _BucketSums, targets: FloatArray, penalty: np.float32) -> FloatArray:
    """The buckets of the least squares with a ridge penalty, by conjugate gradients: (B, R)."""
    residual = sums.of_buckets(targets)
    found, direction = np.zeros_like(residual), residual.copy()
    square = np.einsum("br,br->r", residual, residual)
    for _ in range(_ITERATIONS):
        product = sums.of_buckets(sums.of_words(direction)) + penalty * direction
        # The floor ends a column that is solved, instead of dividing zero by zero.
        step = square / np.maximum(np.einsum("br,br->r", direction, product), _SMALLEST)
        found += step * direction
        residual -= step * product
        before, square = square, np.einsum("br,br->r", residual, residual)
        direction = residual + square / np.maximum(before, _SMALLEST) * direction
    return found


_SMALLEST = np.finfo(np.float32).tiny

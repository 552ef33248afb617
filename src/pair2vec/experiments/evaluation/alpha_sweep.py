"""The contest of all words for the answer to an analogy, for every α at once.

score(y) = α·cos(r_ab, r_xy) + (1 − α)·cos(b − a + x, y)   (the paper's `eq:analogy_score`)

Shapes: N candidates, K questions, A values of α.

As points of the two cosines, the words that win for some α lie on the convex hull. So none lies
below the line from the word that wins at α = 0 to the one that wins at α = 1: one look at each
word finds the few that are above it, and only those are tried with every α.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import FloatArray, IntArray, normalise
from pair2vec.experiments.evaluation.analogy_sets import AnswerVocabulary
from pair2vec.model.folder import SavedModel, load_model
from pair2vec.query.analogies import Direction, directed, roles
from pair2vec.query.pair_encoder import PairVectors, make_pair_vectors
from pair2vec.query.whitening import whiten

if TYPE_CHECKING:
    from torch import Tensor


ALPHAS = np.arange(21) / 20
"""From single words alone to pair vectors alone."""

Array = TypeVar("Array", NDArray[Any], "Tensor")

_OUT_OF_REACH = -2.0
"""Below every cosine."""
_SLACK = 1e-6
"""Keeps a word that is on the line from falling below it by rounding."""


class AnalogyBatch(NamedTuple):
    """Questions about one x, its words by place."""

    x: int
    a: IntArray
    """(K,)"""
    b: IntArray
    """(K,)"""


class CandidateScores(NamedTuple):
    """The words that may win, one behind the other for all questions of a batch."""

    question: IntArray
    """Which of the batch's: ascending, and none is missing."""
    place: IntArray
    """Ascending within a question."""
    pair: FloatArray
    """cos(r_ab, r_xy)"""
    offset: FloatArray
    """cos(b − a + x, y)"""


class AlphaSweep(Protocol):
    """Answers a batch of questions."""

    def __call__(self, batch: AnalogyBatch) -> IntArray:
        """The place of the best word for each question and α: (K, A)."""


def rule_out(cosines: Array, rows: Array, batch: AnalogyBatch) -> None:
    """Keep a, b and x of each question from winning; `rows` numbers the questions, (K, N)."""
    cosines[:, batch.x] = _OUT_OF_REACH
    for words in (batch.a, batch.b):
        cosines[rows, words] = _OUT_OF_REACH


def possible_winners(pair: Array, offset: Array, rows: Array) -> Array:
    """Of each question which words may win, in arrays of numpy or of torch: (K, N) throughout.

    Args:
        pair: cos(r_ab, r_xy).
        offset: cos(b − a + x, y).
        rows: The numbers of the questions, (K,).
    """
    single, relational = offset.argmax(1), pair.argmax(1)
    fall = offset[rows, single] - offset[rows, relational]
    rise = pair[rows, relational] - pair[rows, single]
    # The α at which both score the same; a word that wins both has no rise and no fall.
    alpha = fall / (fall + rise + 1e-12)
    level = alpha * pair[rows, relational] + (1 - alpha) * offset[rows, relational]
    blend = alpha[:, None] * pair
    blend += (1 - alpha)[:, None] * offset
    able: Array = blend >= (level - _SLACK)[:, None]
    return able


def winners(contenders: CandidateScores, questions: int) -> IntArray:
    """The best word for each question and α, of equals the most frequent: (K, A)."""
    question, place, pair, offset = contenders
    # In float64, so that only equals are equal.
    scores = np.outer(ALPHAS, pair) + np.outer(1 - ALPHAS, offset)
    starts = np.searchsorted(question, np.arange(questions))
    highest = np.maximum.reduceat(scores, starts, axis=1)
    is_best = scores == highest[:, question]
    won: IntArray = np.minimum.reduceat(
        np.where(is_best, place, np.iinfo(np.intp).max), starts, axis=1
    )
    return won.T


# == The contest on a CPU, with numpy alone and a process a core.
#
# Shapes: N candidates, K questions, D dimension.
#
# Small matrix products gain little from threads, and what is between them nothing; so each process
# has one thread, and an x of its own.


_BLOCK = 512
"""Words at a time: few enough for what a layer makes of them to stay in the cache of one core."""
_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
_IDS, _VECTORS = "ids.npy", "vectors.npy"


class NumpyAlphaSweep:
    """All words against each other by the numpy form of the model."""

    def __init__(
        self, pairs: PairVectors, ids: IntArray, vectors: FloatArray, direction: Direction
    ) -> None:
        self._pairs = pairs
        self._ids = ids
        self._vectors = vectors
        self._direction = direction
        self._inputs = pairs.inputs(ids)

    def __call__(self, batch: AnalogyBatch) -> IntArray:
        """The place of the best word for each question and α: (K, A)."""
        return best_words_numpy(self.pair_cosines(batch), self.offset_cosines(batch), batch)

    def pair_cosines(self, batch: AnalogyBatch) -> FloatArray:
        """cos(r_ab, r_xy) of every word as y: (K, N)."""
        a, b, x = self._ids[batch.a], self._ids[batch.b], int(self._ids[batch.x])
        asked = roles(self._direction)
        # Both halves of a vector have length one: the cosine of the whole is the mean of theirs.
        examples = directed(self._pairs, a, b, self._direction) / np.float32(len(asked))
        made = np.zeros((len(a), len(self._ids)), np.float32)
        for role, targets in zip(asked, np.split(examples, len(asked), axis=1), strict=True):
            half = self._pairs.given(x, role)
            for start in range(0, len(self._ids), _BLOCK):
                block = slice(start, start + _BLOCK)
                made[:, block] += half.cosines(self._inputs[block], targets).T
        return made

    def offset_cosines(self, batch: AnalogyBatch) -> FloatArray:
        """cos(b − a + x, y) of every word as y (3CosAdd): (K, N)."""
        words = self._vectors
        targets = normalise(words[batch.b] - words[batch.a] + words[batch.x])
        cosines: FloatArray = targets @ words.T
        return cosines


def best_words_numpy(pair: FloatArray, offset: FloatArray, batch: AnalogyBatch) -> IntArray:
    """From the two cosines of every word, (K, N), the best place for each α: (K, A)."""
    rows: NDArray[Any] = np.arange(len(pair))
    rule_out(pair, rows, batch)
    rule_out(offset, rows, batch)
    # Flat, which numpy searches several times as fast.
    able = np.flatnonzero(possible_winners(pair, offset, rows))
    question, place = np.divmod(able, pair.shape[1])
    return winners(
        CandidateScores(question, place, pair.ravel()[able], offset.ravel()[able]), len(rows)
    )


@dataclass(frozen=True)
class CachedAlphaSweep:
    """A contest on disk, which each process opens for itself."""

    model: Path
    candidates: Path
    direction: Direction
    whitening: float

    def __call__(self, batch: AnalogyBatch) -> IntArray:
        """The place of the best word for each question and α: (K, A)."""
        return _open(self)(batch)


@lru_cache(maxsize=1)
def _open(stored: CachedAlphaSweep) -> NumpyAlphaSweep:
    ids = np.load(stored.candidates / _IDS)
    # Mapped, so that the processes share them.
    vectors = np.asarray(np.load(stored.candidates / _VECTORS, mmap_mode="r"))
    pairs = whiten(make_pair_vectors(load_model(stored.model)), stored.whitening)
    return NumpyAlphaSweep(pairs, ids, vectors, stored.direction)


@contextmanager
def cached_alpha_sweep(
    saved: SavedModel, candidates: AnswerVocabulary, direction: Direction, whitening: float
) -> Iterator[CachedAlphaSweep]:
    """A contest that other processes can open, and one thread in each that starts meanwhile."""
    with TemporaryDirectory(prefix="pair2vec-") as name, _one_thread_each():
        folder = Path(name)
        np.save(folder / _IDS, candidates.ids)
        np.save(folder / _VECTORS, candidates.vectors)
        yield CachedAlphaSweep(saved.folder.resolve(), folder, direction, whitening)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Set what numpy's matrix products read when a process starts."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value

"""The best word of an analogy for every α at once, by numpy; `alpha_sweep_torch` is for a GPU.

score(y) = α·cos(r_ab, r_xy) + (1 − α)·cos(b − a + x, y)   (the paper's `eq:analogy_score`)

Shapes: N candidates, K questions, A values of α.

As points of the two cosines, the words that are best for some α lie on the convex hull. So none
lies below the line from the best word at α = 0 to the best at α = 1: one pass over all words finds
the few above it, and only those are scored with every α.
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
from pair2vec.query.pair_encoder import Direction, PairNetwork, directed_vectors, roles
from pair2vec.query.space import PairSpace

if TYPE_CHECKING:
    from torch import Tensor


ALPHAS = np.arange(21) / 20
"""From word vectors alone to pair vectors alone."""

Array = TypeVar("Array", NDArray[Any], "Tensor")

_MASKED = -2.0
"""Below every cosine."""
_TOLERANCE = 1e-6
"""Keeps a word that is on the line from falling below it by rounding."""
_BLOCK = 512
"""Words at a time: few enough for a layer's activations to stay in the cache of one core."""
_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
_IDS, _VECTORS = "ids.npy", "vectors.npy"


class AnalogyBatch(NamedTuple):
    """Questions about one x; words are indices of candidates."""

    x: int
    a: IntArray
    """(K,)"""
    b: IntArray
    """(K,)"""


class AlphaSweep(Protocol):
    """Answers a batch of questions."""

    def __call__(self, batch: AnalogyBatch) -> IntArray:
        """The index of the best word for each question and α: (K, A)."""


class CandidateScores(NamedTuple):
    """The cosines of the candidates that can win, concatenated over the questions of a batch."""

    question: IntArray
    """Which of the batch's: ascending, and none is missing."""
    candidate: IntArray
    """Ascending within a question."""
    pair: FloatArray
    """cos(r_ab, r_xy)"""
    offset: FloatArray
    """cos(b − a + x, y)"""


def possible_winners(pair: Array, offset: Array, batch: AnalogyBatch, rows: Array) -> Array:
    """Which candidates can be best for some α, in arrays of numpy or torch: (K, N) throughout.

    Args:
        pair: cos(r_ab, r_xy); a, b and x are masked in place, as no answer may repeat them.
        offset: cos(b − a + x, y); the same.
        batch: The questions.
        rows: 0 to K − 1, on the device of the others: (K,).
    """
    for cosines in (pair, offset):
        cosines[:, batch.x] = _MASKED
        for words in (batch.a, batch.b):
            cosines[rows, words] = _MASKED
    by_offset, by_pair = offset.argmax(1), pair.argmax(1)
    fall = offset[rows, by_offset] - offset[rows, by_pair]
    rise = pair[rows, by_pair] - pair[rows, by_offset]
    # The α at which both score the same; a word that wins both has no rise and no fall.
    alpha = fall / (fall + rise + 1e-12)
    level = alpha * pair[rows, by_pair] + (1 - alpha) * offset[rows, by_pair]
    blend = alpha[:, None] * pair
    blend += (1 - alpha)[:, None] * offset
    can_win: Array = blend >= (level - _TOLERANCE)[:, None]
    return can_win


def best_by_alpha(scores: CandidateScores, questions: int) -> IntArray:
    """The best candidate for each question and α, of equals the most frequent: (K, A)."""
    question, candidate, pair, offset = scores
    # In float64, so that only equals are equal.
    blended = np.outer(ALPHAS, pair) + np.outer(1 - ALPHAS, offset)
    starts = np.searchsorted(question, np.arange(questions))
    highest = np.maximum.reduceat(blended, starts, axis=1)
    is_best = blended == highest[:, question]
    best: IntArray = np.minimum.reduceat(
        np.where(is_best, candidate, np.iinfo(np.intp).max), starts, axis=1
    )
    return best.T


def best_words_numpy(pair: FloatArray, offset: FloatArray, batch: AnalogyBatch) -> IntArray:
    """From both cosines of every candidate, (K, N), the best for each α: (K, A)."""
    rows: NDArray[Any] = np.arange(len(pair))
    # Flat, which numpy searches several times as fast.
    kept = np.flatnonzero(possible_winners(pair, offset, batch, rows))
    question, candidate = np.divmod(kept, pair.shape[1])
    scores = CandidateScores(question, candidate, pair.ravel()[kept], offset.ravel()[kept])
    return best_by_alpha(scores, len(pair))


class NumpyAlphaSweep:
    """By the numpy form of the model: (K, N) cosines of every candidate as y."""

    def __init__(
        self, pairs: PairNetwork, ids: IntArray, vectors: FloatArray, direction: Direction
    ) -> None:
        self._pairs = pairs
        self._ids = ids
        self._vectors = vectors
        self._direction = direction
        self._inputs = pairs.inputs(ids)

    def __call__(self, batch: AnalogyBatch) -> IntArray:
        return best_words_numpy(self.pair_cosines(batch), self.offset_cosines(batch), batch)

    def pair_cosines(self, batch: AnalogyBatch) -> FloatArray:
        """cos(r_ab, r_xy)."""
        a, b, x = self._ids[batch.a], self._ids[batch.b], int(self._ids[batch.x])
        x_roles = roles(self._direction)
        # Each direction has unit norm: the cosine of the concatenation is the mean of theirs.
        examples = directed_vectors(self._pairs, a, b, self._direction) / np.float32(len(x_roles))
        cosines = np.zeros((len(a), len(self._ids)), np.float32)
        for role, targets in zip(x_roles, np.split(examples, len(x_roles), axis=1), strict=True):
            half = self._pairs.conditioned_on(x, role)
            for start in range(0, len(self._ids), _BLOCK):
                block = slice(start, start + _BLOCK)
                cosines[:, block] += half.cosines(self._inputs[block], targets).T
        return cosines

    def offset_cosines(self, batch: AnalogyBatch) -> FloatArray:
        """cos(b − a + x, y), that is 3CosAdd."""
        words = self._vectors
        targets = normalise(words[batch.b] - words[batch.a] + words[batch.x])
        cosines: FloatArray = targets @ words.T
        return cosines


@dataclass(frozen=True)
class SharedAlphaSweep:
    """A numpy sweep on disk, which each worker process opens for itself."""

    model: Path
    candidates: Path
    direction: Direction
    whitening: float

    def __call__(self, batch: AnalogyBatch) -> IntArray:
        return _open(self)(batch)


@contextmanager
def shared_alpha_sweep(
    saved: SavedModel, candidates: AnswerVocabulary, direction: Direction, whitening: float
) -> Iterator[SharedAlphaSweep]:
    """A sweep for several processes; those started meanwhile have one thread each.

    Small matrix products gain little from threads, and what is between them nothing: a process
    per core, each with an x of its own, is faster.
    """
    with TemporaryDirectory(prefix="pair2vec-") as name, _one_thread_each():
        folder = Path(name)
        np.save(folder / _IDS, candidates.ids)
        np.save(folder / _VECTORS, candidates.vectors)
        yield SharedAlphaSweep(saved.folder.resolve(), folder, direction, whitening)


@lru_cache(maxsize=1)
def _open(shared: SharedAlphaSweep) -> NumpyAlphaSweep:
    ids = np.load(shared.candidates / _IDS)
    # Memory-mapped, so that the processes share them.
    vectors = np.asarray(np.load(shared.candidates / _VECTORS, mmap_mode="r"))
    pairs = PairSpace(load_model(shared.model), whitening=shared.whitening).whitened_pairs
    return NumpyAlphaSweep(pairs, ids, vectors, shared.direction)


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

"""The contest on a CPU, with numpy alone and a process a core.

Shapes: N candidates, K questions, D dimension.

Small matrix products gain little from threads, and what is between them nothing; so each process
has one thread, and an x of its own.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pair2vec.evaluation.candidates import Candidates
from pair2vec.evaluation.contest import Batch, Contenders, able_to_win, rule_out, winners
from pair2vec.model.folder import SavedModel, load_model
from pair2vec.query.analogies import Direction, directed, roles
from pair2vec.query.comparison import comparable
from pair2vec.query.half_pair import Vectors, normalise
from pair2vec.query.pair_vectors import Numbers, PairVectors, make_pair_vectors

_BLOCK = 512
"""Words at a time: few enough for what a layer makes of them to stay in the cache of one core."""
_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
_IDS, _VECTORS = "ids.npy", "vectors.npy"


class NumpyContest:
    """All words against each other by the numpy form of the model."""

    def __init__(
        self, pairs: PairVectors, ids: Numbers, vectors: Vectors, direction: Direction
    ) -> None:
        self._pairs = pairs
        self._ids = ids
        self._vectors = vectors
        self._direction = direction
        self._inputs = pairs.inputs(ids)

    def __call__(self, batch: Batch) -> Numbers:
        """The place of the best word for each question and α: (K, A)."""
        return best_words(self.pair_cosines(batch), self.offset_cosines(batch), batch)

    def pair_cosines(self, batch: Batch) -> Vectors:
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

    def offset_cosines(self, batch: Batch) -> Vectors:
        """cos(b − a + x, y) of every word as y (3CosAdd): (K, N)."""
        words = self._vectors
        targets = normalise(words[batch.b] - words[batch.a] + words[batch.x])
        cosines: Vectors = targets @ words.T
        return cosines


def best_words(pair: Vectors, offset: Vectors, batch: Batch) -> Numbers:
    """From the two cosines of every word, (K, N), the best place for each α: (K, A)."""
    rows: NDArray[Any] = np.arange(len(pair))
    rule_out(pair, rows, batch)
    rule_out(offset, rows, batch)
    # Flat, which numpy searches several times as fast.
    able = np.flatnonzero(able_to_win(pair, offset, rows))
    question, place = np.divmod(able, pair.shape[1])
    return winners(Contenders(question, place, pair.ravel()[able], offset.ravel()[able]), len(rows))


@dataclass(frozen=True)
class StoredContest:
    """A contest on disk, which each process opens for itself."""

    model: Path
    candidates: Path
    direction: Direction
    whitening: float

    def __call__(self, batch: Batch) -> Numbers:
        """The place of the best word for each question and α: (K, A)."""
        return _open(self)(batch)


@lru_cache(maxsize=1)
def _open(stored: StoredContest) -> NumpyContest:
    ids = np.load(stored.candidates / _IDS)
    # Mapped, so that the processes share them.
    vectors = np.asarray(np.load(stored.candidates / _VECTORS, mmap_mode="r"))
    pairs = comparable(make_pair_vectors(load_model(stored.model)), stored.whitening)
    return NumpyContest(pairs, ids, vectors, stored.direction)


@contextmanager
def storing_contest(
    saved: SavedModel, candidates: Candidates, direction: Direction, whitening: float
) -> Iterator[StoredContest]:
    """A contest that other processes can open, and one thread in each that starts meanwhile."""
    with TemporaryDirectory(prefix="pair2vec-") as name, _one_thread_each():
        folder = Path(name)
        np.save(folder / _IDS, candidates.ids)
        np.save(folder / _VECTORS, candidates.vectors)
        yield StoredContest(saved.folder.resolve(), folder, direction, whitening)


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

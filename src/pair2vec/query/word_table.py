"""Vectors of single words by their spelling."""

from collections.abc import Iterable, Sequence

import numpy as np

from pair2vec.errors import UsageError
from pair2vec.query.half_pair import Vectors, normalise


class WordTable:
    """Words and their vectors, brought to length one."""

    def __init__(self, words: Sequence[str], vectors: Vectors) -> None:
        """A table.

        Args:
            words: Each once, in small letters.
            vectors: One row a word, (V, D); a word whose row is zero is left out.
        """
        if vectors.ndim != 2 or len(words) != len(vectors):
            raise UsageError(f"{len(words):,} words but vectors of shape {vectors.shape}")
        kept = np.flatnonzero(np.any(vectors, axis=1))
        self.vectors = normalise(vectors[kept].astype(np.float32))
        self.ids = {words[row]: place for place, row in enumerate(kept.tolist())}

    @property
    def dimension(self) -> int:
        """Of the vectors, D."""
        return int(self.vectors.shape[1])

    def __contains__(self, word: object) -> bool:
        return word in self.ids

    def rows(self, words: Iterable[str | None]) -> Vectors:
        """The vectors of words, (N, D); None is a row of zeros."""
        zero = np.zeros(self.dimension, np.float32)
        found = [zero if word is None else self.vectors[self.ids[word]] for word in words]
        return np.array(found, np.float32).reshape(-1, self.dimension)

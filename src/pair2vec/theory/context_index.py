"""An index of contexts of one distance: numbers them, and finds them all in a block at once.

It is a tree: each level reads the word at one offset from x, and an edge is the node so far and
that word, as one integer. What matches no edge is dropped at once, and the level that drops most
comes first, so that a block is searched for thousands of contexts about as fast as for one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.text.corpus import Ids
from pair2vec.text.patterns import Pattern
from pair2vec.text.vocabulary import BOUNDARY
from pair2vec.theory.scan import MARGIN, Positions, inside


class Found(NamedTuple):
    """Positions of x in a block, and the number of the context around each."""

    position: Positions
    number: NDArray[np.intp]


class ContextIndex:
    """Contexts of one distance, numbered from 0."""

    def __init__(
        self,
        words: NDArray[np.int64],
        offsets: tuple[int, ...],
        distance: int,
        frequency: NDArray[np.int64],
    ) -> None:
        """Number the distinct rows of `words`.

        Args:
            words: One row a context, not necessarily distinct; one column an offset.
            offsets: Where each column's word is, counted from x; other places are open.
            distance: Where y is.
            frequency: How often each id occurs in the corpus, boundaries too.
        """
        self.distance = distance
        self._ids = len(frequency)
        self._levels: list[tuple[int, NDArray[np.int64]]] = []
        self.numbers: NDArray[np.intp] = np.zeros(len(words), np.intp)
        """The number of each row's context."""
        passing = [frequency[np.unique(column)].sum() for column in words.T]
        for column in np.argsort(passing, kind="stable").tolist():
            keys = self.numbers * self._ids + words[:, column]
            edges, self.numbers = np.unique(keys, return_inverse=True)
            self._levels.append((offsets[column], edges))

    @classmethod
    def of_contexts(
        cls, contexts: NDArray[np.int64], frequency: NDArray[np.int64]
    ) -> "ContextIndex":
        """Of full contexts, as `gather_contexts` gives them: ``distance + 3`` ids a row."""
        distance = contexts.shape[1] - 3
        offsets = (-1, *range(1, distance), distance + 1)
        return cls(contexts[:, np.array(offsets) + 1], offsets, distance, frequency)

    @classmethod
    def of_pattern(cls, pattern: Pattern, frequency: NDArray[np.int64]) -> "ContextIndex":
        """Of one pattern, whose open words are not looked at."""
        places = {-1: pattern.left, **dict(enumerate(pattern.between, start=1))}
        places[pattern.distance + 1] = pattern.right
        fixed = {offset: word for offset, word in places.items() if word is not None}
        words = np.array([list(fixed.values())], np.int64)
        return cls(words, tuple(fixed), pattern.distance, frequency)

    def __len__(self) -> int:
        """How many distinct contexts there are."""
        return len(self._levels[-1][1]) if self._levels else 1

    def find(self, block: Ids) -> Found:
        """Every place in the block's inside where one of the contexts is."""
        positions = self._candidates(block)
        is_pair = (block[positions] != BOUNDARY) & (block[positions + self.distance] != BOUNDARY)
        positions = positions[is_pair]
        numbers = np.zeros(len(positions), np.intp)
        for offset, edges in self._levels:
            keys = numbers * self._ids + block[positions + offset]
            place = np.minimum(np.searchsorted(edges, keys), len(edges) - 1)
            known = edges[place] == keys
            positions, numbers = positions[known], place[known]
        return Found(positions, numbers)

    def _candidates(self, block: Ids) -> Positions:
        """The positions that pass the first level, which a table decides faster than a search."""
        if not self._levels:
            return np.arange(MARGIN, len(block) - MARGIN)
        offset, words = self._levels[0]
        passes = np.zeros(self._ids, np.bool_)
        passes[words] = True
        return np.flatnonzero(passes[inside(block, offset)]) + MARGIN

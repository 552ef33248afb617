"""Sentences with their words as numbers: looked at once, however many networks learn of them.

Shapes: S sentences, B batch, n places for its longest, W distinct words.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray

from pair2vec.supervised.order import Numbers
from pair2vec.supervised.widths import Widths, exactly


class NumberedSentences:
    """All words of some sentences in one array, so that no object is kept for each."""

    def __init__(self, sentences: Sequence[Sequence[str]]) -> None:
        """Number the words in the order in which they first occur."""
        number_of: defaultdict[str, int] = defaultdict(count().__next__)
        self.lengths: Numbers = np.fromiter(map(len, sentences), np.int64, len(sentences))
        """(S,)"""
        numbers = map(number_of.__getitem__, chain.from_iterable(sentences))
        self._numbers = np.fromiter(numbers, np.int32, int(self.lengths.sum()))
        self._starts: Numbers = np.cumsum(self.lengths) - self.lengths
        self.words = list(number_of)
        """(W,), each once; a word's number is its place."""

    def block(
        self,
        rows: Numbers,
        first: Numbers | int = 0,
        lengths: Numbers | None = None,
        widths: Widths = exactly,
    ) -> tuple[Numbers, NDArray[np.bool_]]:
        """The words of some sentences, and which places have one: (B, n) each.

        Args:
            rows: (B,), which sentences.
            first: (B,), the word of each to begin with.
            lengths: (B,), how many words of each; all by default.
            widths: How many places a longest sentence is given.
        """
        lengths = self.lengths[rows] - first if lengths is None else lengths
        places = np.arange(widths(int(lengths.max(initial=0))))
        is_word: NDArray[np.bool_] = places < lengths[:, None]
        words = np.zeros(is_word.shape, np.int64)
        words[is_word] = self._numbers[((self._starts[rows] + first)[:, None] + places)[is_word]]
        return words, is_word

    def text(self, words: Numbers, is_word: NDArray[np.bool_]) -> list[list[str]]:
        """What `block` took, as words again."""
        return [
            [self.words[number] for number in row[:length]]
            for row, length in zip(words.tolist(), is_word.sum(axis=1).tolist(), strict=True)
        ]

"""Words by their characters, so that a word without a vector can be told from another.

Shapes: U distinct words, C characters, E dimension of a character, F filters.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from pair2vec.supervised.weights import linear

LONGEST = 20
"""Bytes of a word that are looked at; all words take as many, so that none depends on others."""

_KINDS = 256
"""0 is no character; UTF-8 has no bytes above 247, and the others are one above themselves."""


def spelled(words: Sequence[str]) -> NDArray[np.uint8]:
    """The bytes of words, each one more than it is, and 0 behind short words: (U, C)."""
    rows = b"".join(
        word.encode("utf-8", "ignore")[:LONGEST].ljust(LONGEST, b"\xff") for word in words
    )
    # The byte that fills up is the largest, and comes round to 0.
    return (np.frombuffer(rows, np.uint8) + np.uint8(1)).reshape(-1, LONGEST)


class CharacterCnn(nn.Module):
    """The most that each filter sees anywhere in a word (Kim, 2014; the sizes of BiDAF)."""

    def __init__(self, *, dimension: int, filters: int, width: int) -> None:
        """Weights are drawn from torch's generator."""
        super().__init__()
        self.dimension, self.width = filters, width
        self.letters = nn.Embedding(_KINDS, dimension, padding_idx=0)
        self.filters = linear(width * dimension, filters)

    def forward(self, letters: Tensor) -> Tensor:
        """Words (U, C), as `spelled` makes them, to vectors (U, F)."""
        vectors = self.letters(letters.int())
        # (U, C - width + 1, E, width): a product of matrices is quicker here than a convolution.
        seen = vectors.unfold(1, self.width, 1).flatten(2)
        most: Tensor = self.filters(seen).amax(dim=1).relu()
        return most

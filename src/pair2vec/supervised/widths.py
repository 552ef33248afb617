"""Widths: how many places the texts of a batch are given.

As many as the longest has words, or as many as the longest of its class may have. Classes make the
shapes of batches few, so that a GPU can be told once for each what to do.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Widths = Callable[[int], int]
"""From the words of the longest text to its places."""

_NARROWEST = 4
"""Between two classes."""


def exactly(longest: int) -> int:
    """No place more than there are words."""
    return longest


def by_class(longest: int) -> int:
    """As many places as the widest of its class needs."""
    return int(class_widths(np.array(longest)))


def class_widths(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The most words of the class of each length.

    They are 4, 8, …, 32, 40, …, 64, 80, …, 128, 160, and so on: from 17 words on, a text fills at
    least four fifths of its class. Smaller steps would make too many shapes, and leave too few
    second texts of about a length beside first ones of a class.
    """
    bits = np.frexp(np.maximum(lengths - 1, 0))[1]
    steps = np.maximum(_NARROWEST, 1 << np.maximum(bits - 3, 0)).astype(np.int64)
    widths: NDArray[np.int64] = -(-lengths // steps) * steps
    return widths

"""What a model of two sequences asks about the relations between their words, whoever knows it.

Shapes: B batch, n and m words of the sequences a and b.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from torch import Tensor


class BothSides(NamedTuple):
    """What is known of each word of a and of each of b, by the words it attends to."""

    a: Tensor
    """(B, n, dimension)"""
    b: Tensor
    """(B, m, dimension)"""


class RelationSource(Protocol):
    """A module that knows relations between words; they are summed under a model's attention."""

    @property
    def dimension(self) -> int:
        """Of what it says of a word; 0 if it says nothing."""

    def ids(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """Words as ids (B, n), on the module's device; 0 if unknown, and behind short sentences."""

    def __call__(self, a_ids: Tensor, b_ids: Tensor, attention_ab: Tensor) -> Tensor:
        """What is known of the words of a, by their attention (B, n, m): (B, n, dimension)."""

    def both(
        self, a_ids: Tensor, b_ids: Tensor, attention_ab: Tensor, attention_ba: Tensor
    ) -> BothSides:
        """What is known of both sides, by attention (B, n, m) and (B, m, n)."""

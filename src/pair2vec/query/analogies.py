"""Analogies: a is to b as x is to which y (the paper's `eq:analogy_score`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from pair2vec.errors import UsageError
from pair2vec.query.half_pair import HalfPair, Vectors, dot_with, normalise, of_unit
from pair2vec.query.pair_vectors import Numbers, PairVectors, Role
from pair2vec.query.shortlist import Regions

Direction = Literal["both", "forward", "backward"]
"""Of a pair's vector: R(x, y) and R(y, x) side by side, or one of them."""


def roles(direction: Direction) -> tuple[Role, ...]:
    """As what x stands in each part of the vector."""
    if direction not in get_args(Direction):
        raise UsageError(
            f"direction is {direction!r}; it must be one of {', '.join(get_args(Direction))}"
        )
    return {"both": ("x", "y"), "forward": ("x",), "backward": ("y",)}[direction]  # type: ignore[return-value]


def directed(
    pairs: PairVectors, x: Numbers, y: Numbers, direction: Direction, *, normalised: bool = True
) -> Vectors:
    """Vectors of the pairs (`eq:bi-relemb`), each direction of length one: (N, D) or (N, 2D)."""
    parts = [pairs(x, y) if role == "x" else pairs(y, x) for role in roles(direction)]
    return np.concatenate([normalise(part) if normalised else part for part in parts], axis=1)


@dataclass(frozen=True)
class Analogy:
    """A question: which y is to x as b is to a."""

    halves: Sequence[HalfPair]
    """R with x given, one for each direction."""
    targets: Vectors
    """r_ab in each direction, of length one: (directions, D)."""
    word: Vectors
    """b − a + x, of length one: where 3CosAdd looks for y."""
    alpha: float
    """The weight of the pair vectors."""

    def scores(self, words: Vectors, unit_words: Vectors) -> Vectors:
        """α·cos(r_ab, r_xy) + (1 − α)·cos(b − a + x, y) of each word as y: (N,)."""
        total = (1 - self.alpha) * (unit_words @ self.word)
        for half, target in zip(self.halves, self.targets, strict=True):
            # Each direction has length one, so the cosine of both together is their mean.
            weight = np.float32(self.alpha / len(self.halves))
            total += weight * half.cosines(words, target[None])[:, 0]
        return total

    def rough_scores(self, regions: Regions, unit_words: Vectors) -> Vectors:
        """The same by the tangents of R: (V,)."""
        total = (1 - self.alpha) * (unit_words @ self.word)
        for half, target in zip(self.halves, self.targets, strict=True):
            weight = np.float32(self.alpha / len(self.halves))
            total += weight * regions.rough_scores(half, of_unit(dot_with(target)))
        return total

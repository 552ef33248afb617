"""Analogies: a is to b as x is to which y (the paper's `eq:analogy_score`)."""

from typing import Literal, get_args

import numpy as np

from pair2vec.errors import UsageError
from pair2vec.query.pair_vectors import Numbers, PairVectors, Role, Vectors, normalise

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


def pair_cosines(
    pairs: PairVectors, example: Vectors, x: int, words: Vectors, direction: Direction
) -> Vectors:
    """cos(r_ab, r_xy) of each of `words` as y, given r_ab as `directed` makes it: (N,)."""
    asked = roles(direction)
    targets = normalise(example.reshape(len(asked), -1))
    parts = [
        pairs.given(x, role).cosines(words, target[None])[:, 0]
        for role, target in zip(asked, targets, strict=True)
    ]
    # Both halves have length one, so the cosine of the whole is the mean of theirs.
    mean: Vectors = np.mean(parts, axis=0)
    return mean


def offset_cosines(unit_words: Vectors, a: int, b: int, x: int) -> Vectors:
    """cos(b − a + x, y) of every word as y, on words of length one (3CosAdd): (V,)."""
    return unit_words @ normalise(unit_words[b] - unit_words[a] + unit_words[x])

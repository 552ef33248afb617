"""Analogies: a is to b as x is to which y (the paper's `eq:analogy_score`)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from pair2vec.arrays import FloatArray, IntArray, normalise, top_k
from pair2vec.errors import UsageError
from pair2vec.query.pair_encoder import ConditionalPairNetwork, PairVectors, Role, dot_with, of_unit
from pair2vec.query.search import Regions
from pair2vec.text.vocabulary import SPECIAL_TOKENS

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
    pairs: PairVectors, x: IntArray, y: IntArray, direction: Direction, *, normalised: bool = True
) -> FloatArray:
    """Vectors of the pairs (`eq:bi-relemb`), each direction of length one: (N, D) or (N, 2D)."""
    parts = [pairs(x, y) if role == "x" else pairs(y, x) for role in roles(direction)]
    return np.concatenate([normalise(part) if normalised else part for part in parts], axis=1)


@dataclass(frozen=True)
class Analogy:
    """A question: which y is to x as b is to a."""

    halves: Sequence[ConditionalPairNetwork]
    """R with x given, one for each direction."""
    targets: FloatArray
    """r_ab in each direction, of length one: (directions, D)."""
    word: FloatArray
    """b − a + x, of length one: where 3CosAdd looks for y."""
    alpha: float
    """The weight of the pair vectors."""

    def scores(self, words: FloatArray, unit_words: FloatArray) -> FloatArray:
        """α·cos(r_ab, r_xy) + (1 − α)·cos(b − a + x, y) of each word as y: (N,)."""
        total = (1 - self.alpha) * (unit_words @ self.word)
        for half, target in zip(self.halves, self.targets, strict=True):
            # Each direction has length one, so the cosine of both together is their mean.
            weight = np.float32(self.alpha / len(self.halves))
            total += weight * half.cosines(words, target[None])[:, 0]
        return total

    def rough_scores(self, regions: Regions, unit_words: FloatArray) -> FloatArray:
        """The same by the tangents of R: (V,)."""
        total = (1 - self.alpha) * (unit_words @ self.word)
        for half, target in zip(self.halves, self.targets, strict=True):
            weight = np.float32(self.alpha / len(self.halves))
            total += weight * regions.rough_scores(half, of_unit(dot_with(target)))
        return total


# == Pairs in the same relation: those whose vector is near a given pair's.


_SPECIAL = range(len(SPECIAL_TOKENS))


def likely_pairs(
    words: FloatArray, x: int, y: int, *, first_words: int = 300, second_words: int = 30
) -> tuple[IntArray, IntArray]:
    """Pairs that may be in the relation of (x, y), among the V² there are.

    The words most like x, each with the words most like y moved by the same difference: a search
    by single words finds the neighbourhood, and the pairs' own vectors then decide.

    Args:
        words: The vocabulary's vectors, of length one: (V, D).
        x: The id of the first word.
        y: The id of the second word.
        first_words: How many words like x.
        second_words: How many for each of them.
    """
    # Pairs that share a word with the example are near it for that alone, and crowd out the rest.
    without = (*_SPECIAL, x, y)
    firsts = top_k(words @ words[x], first_words, without)
    targets = normalise(words[firsts] + (words[y] - words[x]))
    seconds = [
        top_k(scores, second_words, (*without, first))
        for first, scores in zip(firsts.tolist(), targets @ words.T, strict=True)
    ]
    lengths = [len(second) for second in seconds]
    return np.repeat(firsts, lengths), np.concatenate(seconds)


def repeated_words(scores: FloatArray, x: IntArray, y: IntArray) -> IntArray:
    """The places of pairs that have a word in common with a better one."""
    seen: set[int] = set()
    repeated = []
    for place in np.argsort(-scores, kind="stable").tolist():
        pair = {int(x[place]), int(y[place])}
        if seen & pair:
            repeated.append(place)
        else:
            seen |= pair
    return np.array(repeated, np.intp)


def all_pairs(ids: IntArray) -> tuple[IntArray, IntArray]:
    """Each ordered pair of two different words."""
    x, y = (side.ravel() for side in np.meshgrid(ids, ids, indexing="ij"))
    return x[x != y], y[x != y]


def similarities(
    pairs: PairVectors, example: FloatArray, x: IntArray, y: IntArray, direction: Direction
) -> FloatArray:
    """The cosine of each pair's vector with `example`'s: (N,)."""
    target = normalise(example)
    parts = [
        normalise(directed(pairs, xs, ys, direction)) @ target for xs, ys in _pair_blocks(x, y)
    ]
    return np.concatenate(parts) if parts else np.empty(0, np.float32)


def _pair_blocks(
    x: IntArray, y: IntArray, size: int = 16_384
) -> Iterator[tuple[IntArray, IntArray]]:
    for start in range(0, len(x), size):
        yield x[start : start + size], y[start : start + size]

"""Pairs in the same relation: those whose vector is near a given pair's."""

from collections.abc import Iterator

import numpy as np

from pair2vec.query.analogies import Direction, directed
from pair2vec.query.half_pair import Vectors, normalise
from pair2vec.query.matches import best
from pair2vec.query.pair_vectors import Numbers, PairVectors
from pair2vec.text.vocabulary import SPECIAL_TOKENS

_SPECIAL = range(len(SPECIAL_TOKENS))


def likely_pairs(
    words: Vectors, x: int, y: int, *, first_words: int = 300, second_words: int = 30
) -> tuple[Numbers, Numbers]:
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
    firsts = best(words @ words[x], first_words, without)
    targets = normalise(words[firsts] + (words[y] - words[x]))
    seconds = [
        best(scores, second_words, (*without, first))
        for first, scores in zip(firsts.tolist(), targets @ words.T, strict=True)
    ]
    lengths = [len(second) for second in seconds]
    return np.repeat(firsts, lengths), np.concatenate(seconds)


def repeated_words(scores: Vectors, x: Numbers, y: Numbers) -> Numbers:
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


def all_pairs(ids: Numbers) -> tuple[Numbers, Numbers]:
    """Each ordered pair of two different words."""
    x, y = (side.ravel() for side in np.meshgrid(ids, ids, indexing="ij"))
    return x[x != y], y[x != y]


def similarities(
    pairs: PairVectors, example: Vectors, x: Numbers, y: Numbers, direction: Direction
) -> Vectors:
    """The cosine of each pair's vector with `example`'s: (N,)."""
    target = normalise(example)
    parts = [normalise(directed(pairs, xs, ys, direction)) @ target for xs, ys in _blocks(x, y)]
    return np.concatenate(parts) if parts else np.empty(0, np.float32)


def _blocks(x: Numbers, y: Numbers, size: int = 16_384) -> Iterator[tuple[Numbers, Numbers]]:
    for start in range(0, len(x), size):
        yield x[start : start + size], y[start : start + size]

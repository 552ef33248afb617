"""Windows: pairs of words within a sentence, and the contexts around them.

A triple is a position and a distance: x is the token there, y the token `distance` to its right.
Its context is one word left of x, X, the words between, Y, one word right of y; since every
sentence stands between two boundary tokens, it is a slice of the stream with two tokens replaced.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.text.corpus import Ids
from pair2vec.text.patterns import DISTANCES
from pair2vec.text.vocabulary import BOUNDARY, X, Y


class Triples(NamedTuple):
    """Positions of x in a token stream, and how far to the right y is."""

    position: NDArray[np.int64]
    distance: NDArray[np.uint8]


def find_triples(
    tokens: Ids,
    start: int,
    stop: int,
    weights: NDArray[np.float32],
    generator: np.random.Generator,
) -> Triples:
    """The kept triples with x in ``tokens[start:stop]``; y may lie beyond.

    Args:
        tokens: A corpus' stream of ids.
        start: The first position of x.
        stop: One past the last position of x.
        weights: Of each word, for subsampling: a pair is kept with the product as probability.
        generator: Decides which pairs are kept.
    """
    positions, distances = [], []
    for pairs in _pairs_by_distance(tokens, start, stop, weights):
        drawn = generator.random(len(pairs.x), np.float32)
        positions.append(np.flatnonzero(pairs.is_pair & (drawn < pairs.probability)) + start)
        distances.append(np.full(len(positions[-1]), pairs.distance, np.uint8))
    return Triples(np.concatenate(positions), np.concatenate(distances))


class _Pairs(NamedTuple):
    """All positions that have a token `distance` to their right."""

    distance: int
    x: Ids
    y: Ids
    is_pair: NDArray[np.bool_]
    """Whether both are words of one sentence."""
    probability: NDArray[np.float32]
    """With which the pair is kept; above 1 it always is."""


def _pairs_by_distance(
    tokens: Ids, start: int, stop: int, weights: NDArray[np.float32]
) -> Iterator[_Pairs]:
    ids = np.asarray(tokens[start : stop + DISTANCES[-1]])
    is_word = ids != BOUNDARY
    weight = weights[ids]
    count = stop - start
    same_sentence = is_word[:count].copy()
    for distance in DISTANCES:
        # The stream ends with a boundary, so only its last few positions lack a y.
        reach = min(count, max(0, len(ids) - distance))
        right = slice(distance, distance + reach)
        same_sentence[reach:] = False
        same_sentence[:reach] &= is_word[right]
        probability = weight[:reach] * weight[right]
        yield _Pairs(distance, ids[:reach], ids[right], same_sentence[:reach], probability)


class WordMarginals(NamedTuple):
    """How often each word is x of a kept triple, and how often y: (V,) each."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]


def expected_marginals(
    tokens: Ids,
    start: int,
    stop: int,
    weights: NDArray[np.float32],
    keeps: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]] | None = None,
) -> WordMarginals:
    """The expectation, over subsampling, of the triples that `find_triples` finds.

    Args:
        tokens: A corpus' stream of ids.
        start: The first position of x.
        stop: One past the last position of x.
        weights: Of each word (V,), for subsampling.
        keeps: Of words x and words y, which of the pairs are not left out anyway.
    """
    marginals = WordMarginals(np.zeros(len(weights)), np.zeros(len(weights)))
    for pairs in _pairs_by_distance(tokens, start, stop, weights):
        # Pairs are looked up by a product of ids, which may not fit the type they are stored in.
        x, y = pairs.x.astype(np.int64), pairs.y.astype(np.int64)
        kept = pairs.is_pair if keeps is None else pairs.is_pair & keeps(x, y)
        probability = np.minimum(pairs.probability, 1) * kept
        for total, words in zip(marginals, (x, y), strict=True):
            total += np.bincount(words, probability, len(weights))
    return marginals


def triple_words(tokens: Ids, triples: Triples) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The words x and y of each triple."""
    x = tokens[triples.position].astype(np.int64)
    return x, tokens[triples.position + triples.distance].astype(np.int64)


def gather_contexts(tokens: Ids, positions: NDArray[np.int64], distance: int) -> NDArray[np.int64]:
    """The contexts of triples of one distance, each ``distance + 3`` ids long."""
    window = positions[:, None] + np.arange(-1, distance + 2)
    context: NDArray[np.int64] = tokens[window].astype(np.int64)
    context[:, 1] = X
    context[:, distance + 1] = Y
    return context

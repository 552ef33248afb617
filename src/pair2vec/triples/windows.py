"""Windows: pairs of words within a sentence, and the contexts around them.

A triple is a position and a distance: x is the token there, y the token `distance` to its right.
Its context is one word left of x, X, the words between, Y, one word right of y; since every
sentence stands between two boundary tokens, it is a slice of the stream with two tokens replaced.
"""

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
    ids = np.asarray(tokens[start : stop + DISTANCES[-1]])
    is_word = ids != BOUNDARY
    weight = weights[ids]
    count = stop - start
    same_sentence = is_word[:count].copy()
    positions, distances = [], []
    for distance in DISTANCES:
        # The stream ends with a boundary, so only its last few positions lack a y.
        reach = min(count, max(0, len(ids) - distance))
        same_sentence[reach:] = False
        same_sentence[:reach] &= is_word[distance : distance + reach]
        probability = weight[:reach] * weight[distance : distance + reach]
        kept = same_sentence[:reach] & (generator.random(reach, np.float32) < probability)
        positions.append(np.flatnonzero(kept) + start)
        distances.append(np.full(len(positions[-1]), distance, np.uint8))
    return Triples(np.concatenate(positions), np.concatenate(distances))


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

"""A corpus read in blocks: where words occur, and which words share a sentence with them."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pair2vec.text.corpus import Corpus, Ids
from pair2vec.text.patterns import DISTANCES
from pair2vec.text.vocabulary import BOUNDARY

Positions = NDArray[np.intp]

MARGIN = DISTANCES[-1] + 1
"""How many ids a block shows on each side of its own: as far as a context reaches."""

_BLOCK = 1 << 18
"""Ids of a block without its margins: few enough to stay in the cache."""


def blocks(corpus: Corpus) -> Iterator[Ids]:
    """The corpus in order, each block between two margins.

    A margin holds the ids around the block, and boundaries beyond a shard's ends, so that no
    search has to know where the stream ends. Each id of the corpus is in one block's inside.
    """
    for shard in corpus.shards:
        tokens = shard.tokens
        for start in range(0, len(tokens), _BLOCK):
            stop = min(start + _BLOCK, len(tokens))
            first, last = max(0, start - MARGIN), min(stop + MARGIN, len(tokens))
            block = np.full(stop - start + 2 * MARGIN, BOUNDARY, tokens.dtype)
            block[first - start + MARGIN : last - start + MARGIN] = tokens[first:last]
            yield block


def inside(block: Ids, offset: int = 0) -> Ids:
    """The ids `offset` to the right of each of the block's own."""
    return block[MARGIN + offset : len(block) - MARGIN + offset]


def occurrences(block: Ids, word: int) -> Positions:
    """Where in the block's inside `word` is."""
    return np.flatnonzero(inside(block) == word) + MARGIN


def all_words(block: Ids) -> Positions:
    """Where in the block's inside a word is, and no boundary."""
    return np.flatnonzero(inside(block) != BOUNDARY) + MARGIN


def within_sentence(block: Ids, positions: Positions, step: int) -> Iterator[Positions]:
    """For each distance, those positions with a word of their sentence that far away.

    Args:
        block: Ids between two margins.
        positions: Of words in its inside.
        step: 1 looks to the right, -1 to the left.
    """
    for distance in DISTANCES:
        # Who met the sentence's edge at a shorter distance is no longer among them.
        positions = positions[block[positions + step * distance] != BOUNDARY]
        yield positions


def count_triples(corpus: Corpus) -> int:
    """How many triples the corpus has, from the lengths of its sentences."""
    total = 0
    for shard in corpus.shards:
        for start in range(0, len(shard.sentences) - 1, _BLOCK):
            words = np.diff(shard.sentences[start : start + _BLOCK + 1].astype(np.int64)) - 1
            total += sum(int(np.maximum(words - distance, 0).sum()) for distance in DISTANCES)
    return total

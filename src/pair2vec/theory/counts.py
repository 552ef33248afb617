"""Exact counts of a pair, of contexts, and of both together.

They are over all pairs of words at distance 1 to 5 in a sentence, without subsampling. One pass
over the corpus, a block at a time, counts any number of contexts.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from pair2vec.arrays import Int64Array, IntArray
from pair2vec.text.corpus import Corpus, Ids
from pair2vec.text.patterns import DISTANCES, Pattern
from pair2vec.text.vocabulary import BOUNDARY, WordPair
from pair2vec.theory.pmi import Counts

MARGIN = DISTANCES[-1] + 1
"""Ids of context on each side of a block's interior: as far as a context reaches."""

_BLOCK = 1 << 18
"""Ids of a block's interior: few enough to stay in the cache."""


def count_pattern(corpus: Corpus, pair: WordPair, pattern: Pattern) -> Counts:
    """The counts of a pair in a pattern, summed over its wildcards."""
    index = ContextIndex.from_pattern(pattern, id_frequency(corpus))
    (arrays,) = count_contexts(corpus, pair, [index])
    return Counts(*(int(np.asarray(part).item()) for part in arrays))


def count_contexts(
    corpus: Corpus, pair: WordPair, indices: Sequence["ContextIndex"]
) -> list[Counts]:
    """The counts of a pair in the contexts of each index: arrays with one entry per context."""
    x, y, xy = 0, 0, 0
    context_counts = [np.zeros((4, len(index)), np.int64) for index in indices]
    for block in token_blocks(corpus):
        x += sum(map(len, within_sentence(block, word_positions(block, pair.x), 1)))
        y += sum(map(len, within_sentence(block, word_positions(block, pair.y), -1)))
        xy += sum(map(len, pair_positions(block, pair)))
        for counts, index in zip(context_counts, indices, strict=True):
            counts += _count_block(block, pair, index)
    constants = {"xy": xy, "x": x, "y": y, "total": total_triples(corpus)}
    return [
        Counts(
            xyc=xyc,
            xc=xc,
            yc=yc,
            c=c,
            **{name: np.full(len(c), count, np.int64) for name, count in constants.items()},
        )
        for xyc, xc, yc, c in context_counts
    ]


def total_triples(corpus: Corpus) -> int:
    """The number of triples in the corpus, from the lengths of its sentences."""
    total = 0
    for shard in corpus.shards:
        for start in range(0, len(shard.sentences) - 1, _BLOCK):
            words = np.diff(shard.sentences[start : start + _BLOCK + 1].astype(np.int64)) - 1
            total += sum(int(np.maximum(words - distance, 0).sum()) for distance in DISTANCES)
    return total


def id_frequency(corpus: Corpus) -> Int64Array:
    """How often each id is in the stream; the vocabulary does not count boundaries."""
    frequency = corpus.vocabulary.counts.copy()
    frequency[BOUNDARY] = corpus.manifest.sentences
    return frequency


def token_blocks(corpus: Corpus) -> Iterator[Ids]:
    """The corpus in order, as blocks with a margin on either side.

    A margin holds the ids around the block's interior, and boundaries beyond a shard's ends, so
    that no search has to know where the stream ends. The interiors partition the corpus.
    """
    for shard in corpus.shards:
        tokens = shard.tokens
        for start in range(0, len(tokens), _BLOCK):
            stop = min(start + _BLOCK, len(tokens))
            first, last = max(0, start - MARGIN), min(stop + MARGIN, len(tokens))
            block = np.full(stop - start + 2 * MARGIN, BOUNDARY, tokens.dtype)
            block[first - start + MARGIN : last - start + MARGIN] = tokens[first:last]
            yield block


def shifted_interior(block: Ids, offset: int = 0) -> Ids:
    """The ids `offset` to the right of those in the block's interior."""
    return block[MARGIN + offset : len(block) - MARGIN + offset]


def word_positions(block: Ids, word: int) -> IntArray:
    """Where `word` occurs in the block's interior."""
    return np.flatnonzero(shifted_interior(block) == word) + MARGIN


def all_word_positions(block: Ids) -> IntArray:
    """The block's interior without boundaries."""
    return np.flatnonzero(shifted_interior(block) != BOUNDARY) + MARGIN


def pair_positions(block: Ids, pair: WordPair) -> list[IntArray]:
    """For each distance, where x occurs in the block's interior with y that far to its right."""
    x_positions = within_sentence(block, word_positions(block, pair.x), 1)
    return [
        positions[block[positions + distance] == pair.y]
        for distance, positions in zip(DISTANCES, x_positions, strict=True)
    ]


def within_sentence(block: Ids, positions: IntArray, step: int) -> Iterator[IntArray]:
    """For each distance, the positions that have a word of their sentence that far away.

    Args:
        block: Ids with margins.
        positions: Of words in the interior.
        step: 1 looks to the right, -1 to the left.
    """
    for distance in DISTANCES:
        # A position that met the sentence's edge at a shorter distance was dropped before.
        positions = positions[block[positions + step * distance] != BOUNDARY]
        yield positions


class ContextMatches(NamedTuple):
    """Positions of x in a block, and the id of the context around each."""

    position: IntArray
    context: IntArray


class ContextIndex:
    """Contexts of one distance, with ids from 0: finds all of them in a block at once.

    A trie: each level reads the word at one offset from x, and an edge is the node so far and that
    word, as one integer. A position that matches no edge is dropped at once, and the most selective
    level comes first, so that a block is searched for thousands of contexts about as fast as for
    one.
    """

    def __init__(
        self, words: Int64Array, offsets: tuple[int, ...], distance: int, frequency: Int64Array
    ) -> None:
        """Index the distinct rows of `words`.

        Args:
            words: One row per context, not necessarily distinct; one column per offset.
            offsets: Of each column's word, relative to x; other positions are wildcards.
            distance: Of y.
            frequency: How often each id occurs in the corpus, boundaries too.
        """
        self.distance = distance
        self._ids = len(frequency)
        self._levels: list[tuple[int, Int64Array]] = []
        self.context_ids: IntArray = np.zeros(len(words), np.intp)
        """The id of each row's context."""
        passing = [frequency[np.unique(column)].sum() for column in words.T]
        for column in np.argsort(passing, kind="stable").tolist():
            keys = self.context_ids * self._ids + words[:, column]
            edges, self.context_ids = np.unique(keys, return_inverse=True)
            self._levels.append((offsets[column], edges))

    @classmethod
    def from_contexts(cls, contexts: Int64Array, frequency: Int64Array) -> "ContextIndex":
        """Index full contexts, as `gather_contexts` returns them: ``distance + 3`` ids per row."""
        distance = contexts.shape[1] - 3
        offsets = (-1, *range(1, distance), distance + 1)
        return cls(contexts[:, np.array(offsets) + 1], offsets, distance, frequency)

    @classmethod
    def from_pattern(cls, pattern: Pattern, frequency: Int64Array) -> "ContextIndex":
        """Index a single pattern; its wildcards are not compared."""
        words = {-1: pattern.left, **dict(enumerate(pattern.between, start=1))}
        words[pattern.distance + 1] = pattern.right
        fixed = {offset: word for offset, word in words.items() if word is not None}
        row = np.array([list(fixed.values())], np.int64)
        return cls(row, tuple(fixed), pattern.distance, frequency)

    def __len__(self) -> int:
        """The number of distinct contexts."""
        return len(self._levels[-1][1]) if self._levels else 1

    def find(self, block: Ids) -> ContextMatches:
        """Every match of a context in the block's interior."""
        positions = self._candidates(block)
        is_pair = (block[positions] != BOUNDARY) & (block[positions + self.distance] != BOUNDARY)
        positions = positions[is_pair]
        nodes = np.zeros(len(positions), np.intp)
        for offset, edges in self._levels:
            keys = nodes * self._ids + block[positions + offset]
            edge = np.minimum(np.searchsorted(edges, keys), len(edges) - 1)
            is_match = edges[edge] == keys
            positions, nodes = positions[is_match], edge[is_match]
        return ContextMatches(positions, nodes)

    def _candidates(self, block: Ids) -> IntArray:
        """The positions that pass the first level, which a table decides faster than a search."""
        if not self._levels:
            return np.arange(MARGIN, len(block) - MARGIN)
        offset, words = self._levels[0]
        passes = np.zeros(self._ids, np.bool_)
        passes[words] = True
        return np.flatnonzero(passes[shifted_interior(block, offset)]) + MARGIN


def _count_block(block: Ids, pair: WordPair, index: ContextIndex) -> Int64Array:
    """Rows xyc, xc, yc and c, with one entry per context."""
    matches = index.find(block)
    is_x = block[matches.position] == pair.x
    is_y = block[matches.position + index.distance] == pair.y
    every = np.ones_like(is_x)
    return np.stack(
        [
            np.bincount(matches.context[mask], minlength=len(index))
            for mask in (is_x & is_y, is_x, is_y, every)
        ]
    )

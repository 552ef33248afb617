"""A corpus read in blocks: where words occur, and which words share a sentence with them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import IntArray
from pair2vec.text.corpus import Corpus, Ids
from pair2vec.text.patterns import DISTANCES, Pattern
from pair2vec.text.vocabulary import BOUNDARY, WordPair
from pair2vec.theory.pmi import Counts

MARGIN = DISTANCES[-1] + 1
"""How many ids a block shows on each side of its own: as far as a context reaches."""

_BLOCK = 1 << 18
"""Ids of a block without its margins: few enough to stay in the cache."""


def token_blocks(corpus: Corpus) -> Iterator[Ids]:
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


def occurrences(block: Ids, word: int) -> IntArray:
    """Where in the block's inside `word` is."""
    return np.flatnonzero(inside(block) == word) + MARGIN


def all_words(block: Ids) -> IntArray:
    """Where in the block's inside a word is, and no boundary."""
    return np.flatnonzero(inside(block) != BOUNDARY) + MARGIN


def within_sentence(block: Ids, positions: IntArray, step: int) -> Iterator[IntArray]:
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


# == An index of contexts of one distance: numbers them, and finds them all in a block at once.
#
# It is a tree: each level reads the word at one offset from x, and an edge is the node so far and
# that word, as one integer. What matches no edge is dropped at once, and the level that drops most
# comes first, so that a block is searched for thousands of contexts about as fast as for one.


class Found(NamedTuple):
    """Positions of x in a block, and the number of the context around each."""

    position: IntArray
    number: NDArray[np.intp]


class ContextIndex:
    """Contexts of one distance, numbered from 0."""

    def __init__(
        self,
        words: NDArray[np.int64],
        offsets: tuple[int, ...],
        distance: int,
        frequency: NDArray[np.int64],
    ) -> None:
        """Number the distinct rows of `words`.

        Args:
            words: One row a context, not necessarily distinct; one column an offset.
            offsets: Where each column's word is, counted from x; other places are open.
            distance: Where y is.
            frequency: How often each id occurs in the corpus, boundaries too.
        """
        self.distance = distance
        self._ids = len(frequency)
        self._levels: list[tuple[int, NDArray[np.int64]]] = []
        self.numbers: NDArray[np.intp] = np.zeros(len(words), np.intp)
        """The number of each row's context."""
        passing = [frequency[np.unique(column)].sum() for column in words.T]
        for column in np.argsort(passing, kind="stable").tolist():
            keys = self.numbers * self._ids + words[:, column]
            edges, self.numbers = np.unique(keys, return_inverse=True)
            self._levels.append((offsets[column], edges))

    @classmethod
    def of_contexts(
        cls, contexts: NDArray[np.int64], frequency: NDArray[np.int64]
    ) -> "ContextIndex":
        """Of full contexts, as `gather_contexts` gives them: ``distance + 3`` ids a row."""
        distance = contexts.shape[1] - 3
        offsets = (-1, *range(1, distance), distance + 1)
        return cls(contexts[:, np.array(offsets) + 1], offsets, distance, frequency)

    @classmethod
    def of_pattern(cls, pattern: Pattern, frequency: NDArray[np.int64]) -> "ContextIndex":
        """Of one pattern, whose open words are not looked at."""
        places = {-1: pattern.left, **dict(enumerate(pattern.between, start=1))}
        places[pattern.distance + 1] = pattern.right
        fixed = {offset: word for offset, word in places.items() if word is not None}
        words = np.array([list(fixed.values())], np.int64)
        return cls(words, tuple(fixed), pattern.distance, frequency)

    def __len__(self) -> int:
        """How many distinct contexts there are."""
        return len(self._levels[-1][1]) if self._levels else 1

    def find(self, block: Ids) -> Found:
        """Every place in the block's inside where one of the contexts is."""
        positions = self._candidates(block)
        is_pair = (block[positions] != BOUNDARY) & (block[positions + self.distance] != BOUNDARY)
        positions = positions[is_pair]
        numbers = np.zeros(len(positions), np.intp)
        for offset, edges in self._levels:
            keys = numbers * self._ids + block[positions + offset]
            place = np.minimum(np.searchsorted(edges, keys), len(edges) - 1)
            known = edges[place] == keys
            positions, numbers = positions[known], place[known]
        return Found(positions, numbers)

    def _candidates(self, block: Ids) -> IntArray:
        """The positions that pass the first level, which a table decides faster than a search."""
        if not self._levels:
            return np.arange(MARGIN, len(block) - MARGIN)
        offset, words = self._levels[0]
        passes = np.zeros(self._ids, np.bool_)
        passes[words] = True
        return np.flatnonzero(passes[inside(block, offset)]) + MARGIN


# == Exact counts of a pair, of contexts, and of both together.
#
# They are over all pairs of words at distance 1 to 5 in a sentence, without subsampling. One pass
# over the corpus, a block at a time, answers any number of contexts.


def count_pattern(corpus: Corpus, pair: WordPair, pattern: Pattern) -> Counts:
    """The counts of a pair in a pattern; open words are summed over."""
    index = ContextIndex.of_pattern(pattern, id_frequency(corpus))
    (arrays,) = count_indexed(corpus, pair, [index])
    return Counts(*(int(np.asarray(part).item()) for part in arrays))


def count_indexed(corpus: Corpus, pair: WordPair, indices: Sequence[ContextIndex]) -> list[Counts]:
    """The counts of a pair in the contexts of each index: arrays with one entry a context."""
    x, y, xy = 0, 0, 0
    of_contexts = [np.zeros((4, len(index)), np.int64) for index in indices]
    for block in token_blocks(corpus):
        x += sum(map(len, within_sentence(block, occurrences(block, pair.x), 1)))
        y += sum(map(len, within_sentence(block, occurrences(block, pair.y), -1)))
        xy += sum(map(len, find_pair_in(block, pair)))
        for counts, index in zip(of_contexts, indices, strict=True):
            counts += _count_contexts(block, pair, index)
    total = count_triples(corpus)
    return [
        Counts(xyc=xyc, xc=xc, yc=yc, c=c, **_repeated(len(c), xy=xy, x=x, y=y, total=total))
        for xyc, xc, yc, c in of_contexts
    ]


def find_pair_in(block: Ids, pair: WordPair) -> list[IntArray]:
    """For each distance, where in the block's inside x is with y that far to its right."""
    reached = within_sentence(block, occurrences(block, pair.x), 1)
    return [
        positions[block[positions + distance] == pair.y]
        for distance, positions in zip(DISTANCES, reached, strict=True)
    ]


def id_frequency(corpus: Corpus) -> NDArray[np.int64]:
    """How often each id is in the stream; the vocabulary does not count boundaries."""
    frequency = corpus.vocabulary.counts.copy()
    frequency[BOUNDARY] = corpus.manifest.sentences
    return frequency


def _count_contexts(block: Ids, pair: WordPair, index: ContextIndex) -> NDArray[np.int64]:
    """Rows xyc, xc, yc and c, with one entry a context."""
    found = index.find(block)
    is_x = block[found.position] == pair.x
    is_y = block[found.position + index.distance] == pair.y
    every = np.ones_like(is_x)
    return np.stack(
        [
            np.bincount(found.number[chosen], minlength=len(index))
            for chosen in (is_x & is_y, is_x, is_y, every)
        ]
    )


def _repeated(length: int, **counts: int) -> dict[str, NDArray[np.int64]]:
    return {name: np.full(length, count, np.int64) for name, count in counts.items()}

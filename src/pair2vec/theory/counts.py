"""Exact counts of a pair, of contexts, and of both together.

They are over all pairs of words at distance 1 to 5 in a sentence, without subsampling. One pass
over the corpus, a block at a time, answers any number of contexts.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pair2vec.text.corpus import Corpus, Ids
from pair2vec.text.patterns import DISTANCES, Pattern
from pair2vec.text.spelling import WordPair
from pair2vec.text.vocabulary import BOUNDARY
from pair2vec.theory.context_index import ContextIndex
from pair2vec.theory.pmi import Counts
from pair2vec.theory.scan import Positions, blocks, count_triples, occurrences, within_sentence


def count_pattern(corpus: Corpus, pair: WordPair, pattern: Pattern) -> Counts:
    """The counts of a pair in a pattern; open words are summed over."""
    index = ContextIndex.of_pattern(pattern, id_frequency(corpus))
    (arrays,) = count_indexed(corpus, pair, [index])
    return Counts(*(int(np.asarray(part).item()) for part in arrays))


def count_indexed(corpus: Corpus, pair: WordPair, indices: Sequence[ContextIndex]) -> list[Counts]:
    """The counts of a pair in the contexts of each index: arrays with one entry a context."""
    x, y, xy = 0, 0, 0
    of_contexts = [np.zeros((4, len(index)), np.int64) for index in indices]
    for block in blocks(corpus):
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


def find_pair_in(block: Ids, pair: WordPair) -> list[Positions]:
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

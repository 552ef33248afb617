"""Every distinct triple of a small corpus with its counts, in memory."""

from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import InputError
from pair2vec.text.corpus import Corpus
from pair2vec.text.patterns import DISTANCES
from pair2vec.text.vocabulary import PADDING
from pair2vec.theory.context_index import ContextIndex
from pair2vec.theory.counts import id_frequency
from pair2vec.theory.pmi import Counts
from pair2vec.theory.scan import all_words, blocks, count_triples, within_sentence
from pair2vec.triples.windows import gather_contexts

MOST_TRIPLES = 20_000_000
"""These take about 4 GB."""

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class TripleCounts:
    """The distinct triples (x, y, c) of a corpus; arrays with one entry a triple."""

    x: Numbers
    y: Numbers
    c: Numbers
    """Rows of `contexts`."""
    counts: Counts
    contexts: NDArray[np.int32]
    """The distinct contexts, one a row: ids with `X` and `Y` at their slots, padded."""

    def __len__(self) -> int:
        return len(self.x)

    def context(self, number: int) -> tuple[int, ...]:
        """The ids of a context, without padding."""
        row = self.contexts[number]
        return tuple(row[row != PADDING].tolist())


def count_all(corpus: Corpus, limit: int = MOST_TRIPLES) -> TripleCounts:
    """Count every triple of the corpus.

    Raises:
        InputError: there are more than `limit` of them, which memory might not hold.
    """
    triples = count_triples(corpus)
    if triples > limit:
        raise InputError(
            f"{corpus.folder}: {triples:,} triples are more than the {limit:,} that are counted "
            "in memory; prepare less text, or ask for one pair at a time"
        )
    every, contexts = _every_triple(corpus)
    ids, some = len(corpus.vocabulary), max(1, len(contexts))
    # Pairs are numbered first: x, y and c by themselves could overflow one integer.
    pairs, pair = np.unique(every[0] * ids + every[1], return_inverse=True)
    keys, xyc = np.unique(pair * some + every[2], return_counts=True)
    pair, c = np.divmod(keys, some)
    x, y = np.divmod(pairs[pair], ids)
    counts = Counts(
        xyc=xyc,
        xy=_sums(pair, xyc),
        xc=_sums(x * some + c, xyc),
        yc=_sums(y * some + c, xyc),
        x=_sums(x, xyc),
        y=_sums(y, xyc),
        c=_sums(c, xyc),
        total=np.full(len(keys), triples),
    )
    return TripleCounts(x, y, c, counts, contexts)


def _every_triple(corpus: Corpus) -> tuple[Numbers, NDArray[np.int32]]:
    """Rows x, y and the context's number, with one entry a triple; and the contexts."""
    frequency = id_frequency(corpus)
    triples, contexts, known = [], [], 0
    for distance in DISTANCES:
        x, y, rows = _of_distance(corpus, distance)
        index = ContextIndex.of_contexts(rows, frequency)
        triples.append(np.stack([x, y, index.numbers + known]))
        distinct = rows[np.unique(index.numbers, return_index=True)[1]]
        known += len(distinct)
        padding = DISTANCES[-1] - distance
        contexts.append(
            np.pad(distinct, ((0, 0), (0, padding)), constant_values=PADDING).astype(np.int32)
        )
    return np.concatenate(triples, axis=1), np.concatenate(contexts)


def _of_distance(corpus: Corpus, distance: int) -> tuple[Numbers, Numbers, Numbers]:
    """The words x, the words y and the contexts of all triples of a distance."""
    parts = []
    for block in blocks(corpus):
        *_, positions = islice(within_sentence(block, all_words(block), 1), distance)
        words = block[positions + np.array([[0], [distance]])].astype(np.int64)
        parts.append((*words, gather_contexts(block, positions, distance)))
    x, y, contexts = map(np.concatenate, zip(*parts, strict=True))
    return x, y, contexts


def _sums(keys: Numbers, counts: Numbers) -> Numbers:
    """For each entry, the sum of the counts of all entries with its key."""
    _, group = np.unique(keys, return_inverse=True)
    # The sums are floats, exact up to 2^53.
    sums = np.bincount(group, weights=counts).astype(np.int64)
    return sums[group]

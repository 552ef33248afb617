"""All contexts of a pair in a corpus, with their scores: the paper's table of examples, exactly."""

from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import Int64Array
from pair2vec.errors import InputError, UsageError
from pair2vec.text.corpus import Corpus
from pair2vec.text.patterns import DISTANCES, context_text
from pair2vec.text.vocabulary import PADDING, Vocabulary, WordPair
from pair2vec.theory.counts import (
    ContextIndex,
    all_words,
    count_indexed,
    count_triples,
    find_pair_in,
    id_frequency,
    token_blocks,
    within_sentence,
)
from pair2vec.theory.pmi import PAPER_NEGATIVES, Counts, Negatives, mvpmi, pmi
from pair2vec.triples.windows import gather_contexts

Order = Literal["count", "pmi", "mvpmi"]


class ScoredContext(NamedTuple):
    """One context of a pair."""

    text: str
    frequency: int
    pmi: float
    mvpmi: float


@dataclass(frozen=True)
class PairContexts:
    """The distinct contexts of a pair."""

    pair: WordPair
    contexts: tuple[tuple[int, ...], ...]
    """Ids, with `X` and `Y` at their slots."""
    counts: Counts
    """Arrays with one entry a context."""
    vocabulary: Vocabulary

    def __len__(self) -> int:
        return len(self.contexts)

    def ranked(
        self, by: Order = "count", *, min_count: int = 1, negatives: Negatives = PAPER_NEGATIVES
    ) -> list[ScoredContext]:
        """The contexts, best first; of equals by score the more frequent, and the other way round.

        Args:
            by: What is best: "count", "pmi" or "mvpmi".
            min_count: Leaves out rarer contexts: scores of what is seen once are mostly luck.
            negatives: The k_x, k_y and k_c of MVPMI.
        """
        if by not in get_args(Order):
            raise UsageError(f"order is {by!r}; it must be one of {', '.join(get_args(Order))}")
        values = {
            "count": np.asarray(self.counts.xyc),
            "pmi": np.asarray(pmi(self.counts)),
            "mvpmi": np.asarray(mvpmi(self.counts, *negatives)),
        }
        tie = values["mvpmi" if by == "count" else "count"]
        # Rounded, lest equal scores differ in the last bit and hide their tie.
        order = np.lexsort([-tie.round(9), -values[by].round(9)])
        order = order[values["count"][order] >= min_count]
        columns = [column[order].tolist() for column in values.values()]
        texts = [context_text(self.contexts[number], self.vocabulary) for number in order]
        return list(map(ScoredContext, texts, *columns))


def find_pair_contexts(corpus: Corpus, pair: WordPair) -> PairContexts:
    """Every context the pair occurs in; two passes over the corpus.

    Memory holds the contexts of this pair, and little else.
    """
    frequency = id_frequency(corpus)
    per_distance = [rows for rows in _gather(corpus, pair) if len(rows)]
    indices = [ContextIndex.of_contexts(rows, frequency) for rows in per_distance]
    contexts = [
        tuple(row)
        for rows, index in zip(per_distance, indices, strict=True)
        for row in rows[np.unique(index.numbers, return_index=True)[1]].tolist()
    ]
    counts = count_indexed(corpus, pair, indices) or [Counts(*[np.zeros(0, np.int64)] * 8)]
    joined = Counts(*(np.concatenate(parts) for parts in zip(*counts, strict=True)))
    return PairContexts(pair, tuple(contexts), joined, corpus.vocabulary)


def _gather(corpus: Corpus, pair: WordPair) -> list[NDArray[np.int64]]:
    """For each distance, the context of each occurrence of the pair."""
    parts: list[list[NDArray[np.int64]]] = [[] for _ in DISTANCES]
    for block in token_blocks(corpus):
        found = find_pair_in(block, pair)
        for part, distance, positions in zip(parts, DISTANCES, found, strict=True):
            part.append(gather_contexts(block, positions, distance))
    return [np.concatenate(part) for part in parts]


# == Every distinct triple of a small corpus with its counts, in memory.


MOST_TRIPLES = 20_000_000
"""These take about 4 GB."""


@dataclass(frozen=True)
class TripleCounts:
    """The distinct triples (x, y, c) of a corpus; arrays with one entry a triple."""

    x: Int64Array
    y: Int64Array
    c: Int64Array
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


def _every_triple(corpus: Corpus) -> tuple[Int64Array, NDArray[np.int32]]:
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


def _of_distance(corpus: Corpus, distance: int) -> tuple[Int64Array, Int64Array, Int64Array]:
    """The words x, the words y and the contexts of all triples of a distance."""
    parts = []
    for block in token_blocks(corpus):
        *_, positions = islice(within_sentence(block, all_words(block), 1), distance)
        words = block[positions + np.array([[0], [distance]])].astype(np.int64)
        parts.append((*words, gather_contexts(block, positions, distance)))
    x, y, contexts = map(np.concatenate, zip(*parts, strict=True))
    return x, y, contexts


def _sums(keys: Int64Array, counts: Int64Array) -> Int64Array:
    """For each entry, the sum of the counts of all entries with its key."""
    _, group = np.unique(keys, return_inverse=True)
    # The sums are floats, exact up to 2^53.
    sums = np.bincount(group, weights=counts).astype(np.int64)
    return sums[group]

"""Tables of exact counts: all contexts of a pair with their scores, and all triples of a corpus."""

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
    all_word_positions,
    count_contexts,
    id_frequency,
    pair_positions,
    token_blocks,
    total_triples,
    within_sentence,
)
from pair2vec.theory.pmi import PAPER_NEGATIVES, Counts, Negatives, mvpmi, pmi
from pair2vec.triples.windows import gather_contexts

ContextOrder = Literal["count", "pmi", "mvpmi"]

MAX_TRIPLES = 20_000_000
"""These take about 4 GB."""


class ScoredContext(NamedTuple):
    text: str
    frequency: int
    pmi: float
    mvpmi: float


@dataclass(frozen=True)
class PairContexts:
    """The distinct contexts of a pair, as in the paper's table of examples."""

    pair: WordPair
    contexts: tuple[tuple[int, ...], ...]
    """Ids, with `X` and `Y` at their slots."""
    counts: Counts
    """Arrays with one entry per context."""
    vocabulary: Vocabulary

    def __len__(self) -> int:
        return len(self.contexts)

    def ranked(
        self,
        by: ContextOrder = "count",
        *,
        min_count: int = 1,
        negatives: Negatives = PAPER_NEGATIVES,
    ) -> list[ScoredContext]:
        """The contexts, best first; ties of score are broken by count, ties of count by MVPMI.

        Args:
            by: "count", "pmi" or "mvpmi".
            min_count: Leaves out rarer contexts: scores of those seen once are mostly noise.
            negatives: The k_x, k_y and k_c of MVPMI.
        """
        if by not in get_args(ContextOrder):
            raise UsageError(
                f"order is {by!r}; it must be one of {', '.join(get_args(ContextOrder))}"
            )
        values = {
            "count": np.asarray(self.counts.xyc),
            "pmi": np.asarray(pmi(self.counts)),
            "mvpmi": np.asarray(mvpmi(self.counts, *negatives)),
        }
        tie = values["mvpmi" if by == "count" else "count"]
        # Rounded, because equal scores may differ in the last bit.
        order = np.lexsort([-tie.round(9), -values[by].round(9)])
        order = order[values["count"][order] >= min_count]
        columns = [column[order].tolist() for column in values.values()]
        texts = [context_text(self.contexts[index], self.vocabulary) for index in order]
        return list(map(ScoredContext, texts, *columns))


def find_pair_contexts(corpus: Corpus, pair: WordPair) -> PairContexts:
    """Every context the pair occurs in, by two passes over the corpus."""
    frequency = id_frequency(corpus)
    per_distance = [rows for rows in _gather_pair_contexts(corpus, pair) if len(rows)]
    indices = [ContextIndex.from_contexts(rows, frequency) for rows in per_distance]
    contexts = [
        tuple(row)
        for rows, index in zip(per_distance, indices, strict=True)
        for row in _distinct(rows, index).tolist()
    ]
    counts = count_contexts(corpus, pair, indices) or [Counts(*[np.zeros(0, np.int64)] * 8)]
    joined = Counts(*(np.concatenate(parts) for parts in zip(*counts, strict=True)))
    return PairContexts(pair, tuple(contexts), joined, corpus.vocabulary)


def _gather_pair_contexts(corpus: Corpus, pair: WordPair) -> list[Int64Array]:
    """For each distance, the context of each occurrence of the pair."""
    parts: list[list[Int64Array]] = [[] for _ in DISTANCES]
    for block in token_blocks(corpus):
        for part, distance, positions in zip(
            parts, DISTANCES, pair_positions(block, pair), strict=True
        ):
            part.append(gather_contexts(block, positions, distance))
    return [np.concatenate(part) for part in parts]


def _distinct(contexts: Int64Array, index: ContextIndex) -> Int64Array:
    """The distinct contexts, in the order of their ids in `index`."""
    return contexts[np.unique(index.context_ids, return_index=True)[1]]


@dataclass(frozen=True)
class TripleCounts:
    """The distinct triples (x, y, c) of a corpus; arrays with one entry per triple."""

    x: Int64Array
    y: Int64Array
    c: Int64Array
    """Rows of `contexts`."""
    counts: Counts
    contexts: NDArray[np.int32]
    """The distinct contexts, one per row: ids with `X` and `Y` at their slots, padded."""

    def __len__(self) -> int:
        return len(self.x)

    def context(self, index: int) -> tuple[int, ...]:
        """The ids of a context, without padding."""
        row = self.contexts[index]
        return tuple(row[row != PADDING].tolist())


def count_every_triple(corpus: Corpus, limit: int = MAX_TRIPLES) -> TripleCounts:
    """Count every distinct triple of a small corpus, in memory.

    Raises:
        InputError: the corpus has more than `limit` triples.
    """
    triples = total_triples(corpus)
    if triples > limit:
        raise InputError(
            f"{corpus.folder}: {triples:,} triples are more than the {limit:,} that are counted "
            "in memory; prepare less text, or count one pair at a time"
        )
    (all_x, all_y, all_c), contexts = _every_triple(corpus)
    ids, context_count = len(corpus.vocabulary), max(1, len(contexts))
    # Pairs get ids first: a key of x, y and c themselves could overflow 64 bits.
    pairs, pair = np.unique(all_x * ids + all_y, return_inverse=True)
    keys, xyc = np.unique(pair * context_count + all_c, return_counts=True)
    pair, c = np.divmod(keys, context_count)
    x, y = np.divmod(pairs[pair], ids)
    counts = Counts(
        xyc=xyc,
        xy=_group_sums(pair, xyc),
        xc=_group_sums(x * context_count + c, xyc),
        yc=_group_sums(y * context_count + c, xyc),
        x=_group_sums(x, xyc),
        y=_group_sums(y, xyc),
        c=_group_sums(c, xyc),
        total=np.full(len(keys), triples),
    )
    return TripleCounts(x, y, c, counts, contexts)


def _every_triple(corpus: Corpus) -> tuple[Int64Array, NDArray[np.int32]]:
    """Rows x, y and the context's id, with one entry per triple; and the contexts by id."""
    frequency = id_frequency(corpus)
    triples, contexts, first_id = [], [], 0
    for distance in DISTANCES:
        x, y, rows = _triples_at_distance(corpus, distance)
        index = ContextIndex.from_contexts(rows, frequency)
        triples.append(np.stack([x, y, index.context_ids + first_id]))
        distinct = _distinct(rows, index)
        first_id += len(distinct)
        padding = DISTANCES[-1] - distance
        contexts.append(
            np.pad(distinct, ((0, 0), (0, padding)), constant_values=PADDING).astype(np.int32)
        )
    return np.concatenate(triples, axis=1), np.concatenate(contexts)


def _triples_at_distance(
    corpus: Corpus, distance: int
) -> tuple[Int64Array, Int64Array, Int64Array]:
    """The words x, the words y and the contexts of all triples of a distance."""
    parts = []
    for block in token_blocks(corpus):
        *_, positions = islice(within_sentence(block, all_word_positions(block), 1), distance)
        words = block[positions + np.array([[0], [distance]])].astype(np.int64)
        parts.append((*words, gather_contexts(block, positions, distance)))
    x, y, contexts = map(np.concatenate, zip(*parts, strict=True))
    return x, y, contexts


def _group_sums(keys: Int64Array, counts: Int64Array) -> Int64Array:
    """For each entry, the sum of the counts of all entries with its key."""
    _, group = np.unique(keys, return_inverse=True)
    # The sums are floats, exact up to 2^53.
    sums = np.bincount(group, weights=counts).astype(np.int64)
    return sums[group]

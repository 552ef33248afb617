"""The contexts that pairs most often stand in, counted over a sample of an epoch's triples."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.triples.epoch import TripleStream

_BATCH = 65_536


class ContextCount(NamedTuple):
    """A context's ids, with X and Y at their slots, and how often the sample has it."""

    context: tuple[int, ...]
    frequency: int


def frequent_contexts(
    stream: TripleStream, most: int, sample: int = 4_000_000
) -> list[ContextCount]:
    """The `most` frequent contexts, of at least two triples, the most frequent first.

    Args:
        stream: The triples as they are trained on: subsampling has thinned out pairs of common
            words, so that what is frequent here is frequent between words that mean something.
        most: How many to return.
        sample: How many triples to look at; an epoch is shuffled, so its start is a fair sample.
    """
    found = [
        ContextCount(tuple(context), count)
        for contexts in _sampled(stream, sample)
        for context, count in zip(*_count_rows(contexts), strict=True)
        if count > 1
    ]
    # Of equals the lower ids, so that the result is one.
    return sorted(found, key=lambda entry: (-entry.frequency, entry.context))[:most]


def _sampled(stream: TripleStream, sample: int) -> list[NDArray[np.int64]]:
    """The contexts of the first `sample` triples of an epoch, one array a length."""
    size = max(1, min(_BATCH, stream.expected_triples() // 100))
    groups, seen = [], 0
    for batch, place in stream.batches(size):
        if place.epoch or seen >= sample:
            break
        groups.append(batch.contexts)
        seen += len(batch.x)
    return [np.concatenate(group) for group in zip(*groups, strict=True)]


def _count_rows(rows: NDArray[np.int64]) -> tuple[list[list[int]], list[int]]:
    """The distinct rows, and how often each occurs."""
    # Column by column, so that a row so far is always one small number.
    numbers = np.zeros(len(rows), np.int64)
    for column in rows.T:
        keys = numbers * (column.max(initial=0) + 1) + column
        _, first, numbers, counts = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
    return rows[first].tolist(), counts.tolist()

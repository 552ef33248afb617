"""How far a model's scores rank triples as the PMI does that its objective tends to."""

import numpy as np
from numpy.typing import NDArray

from pair2vec.query import Pair2vec
from pair2vec.text.corpus import Corpus
from pair2vec.text.patterns import context_text
from pair2vec.theory import count_all, mvpmi

FREQUENT = 10
"""Occurrences from which on a triple's PMI is more than luck."""


def mvpmi_agreement(model: Pair2vec, corpus: Corpus, sample: int = 2_000) -> float:
    """Spearman's correlation of R·C with MVPMI, over a sample of the frequent triples.

    Args:
        model: Trained on `corpus`.
        corpus: A small one: all its triples are counted in memory.
        sample: How many triples, drawn with a fixed seed.
    """
    table, vocabulary = count_all(corpus), corpus.vocabulary
    frequent = np.flatnonzero(np.asarray(table.counts.xyc) >= FREQUENT)
    size = min(sample, len(frequent))
    rows = np.random.default_rng(0).choice(frequent, size, replace=False).tolist()
    scores = [
        model.score(
            vocabulary.words[table.x[row]],
            vocabulary.words[table.y[row]],
            context_text(table.context(int(table.c[row])), vocabulary),
        )
        for row in rows
    ]
    return spearman(np.array(scores), np.asarray(mvpmi(table.counts))[rows])


def spearman(first: NDArray[np.floating], second: NDArray[np.floating]) -> float:
    """The correlation of the ranks, equal values sharing the mean of theirs."""
    return float(np.asarray(np.corrcoef(_ranks(first), _ranks(second)))[0, 1])


def _ranks(values: NDArray[np.floating]) -> NDArray[np.float64]:
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: NDArray[np.float64] = (last - (counts - 1) / 2)[which]
    return ranks

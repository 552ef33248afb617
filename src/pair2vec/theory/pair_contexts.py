"""All contexts of a pair in a corpus, with their scores: the paper's table of examples, exactly."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import UsageError
from pair2vec.text.corpus import Corpus
from pair2vec.text.patterns import DISTANCES, context_text
from pair2vec.text.spelling import WordPair
from pair2vec.text.vocabulary import Vocabulary
from pair2vec.theory.context_index import ContextIndex
from pair2vec.theory.counts import count_indexed, find_pair_in, id_frequency
from pair2vec.theory.pmi import PAPER, Counts, Negatives, mvpmi, pmi
from pair2vec.theory.scan import blocks
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
        self, by: Order = "count", *, min_count: int = 1, negatives: Negatives = PAPER
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
    for block in blocks(corpus):
        found = find_pair_in(block, pair)
        for part, distance, positions in zip(parts, DISTANCES, found, strict=True):
            part.append(gather_contexts(block, positions, distance))
    return [np.concatenate(part) for part in parts]

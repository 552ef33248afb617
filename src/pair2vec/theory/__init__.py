"""What the objective tends to: exact counts of triples, and the PMIs made of them."""

from pair2vec.text.patterns import Pattern, context_text, parse_pattern
from pair2vec.text.vocabulary import WordPair, find_pair
from pair2vec.theory.counts import count_pattern
from pair2vec.theory.pmi import Counts, Negatives, mvpmi, pmi, si1, si2, si3, si4
from pair2vec.theory.tables import (
    PairContexts,
    ScoredContext,
    TripleCounts,
    count_all,
    find_pair_contexts,
)

__all__ = [
    "Counts",
    "Negatives",
    "PairContexts",
    "Pattern",
    "ScoredContext",
    "TripleCounts",
    "WordPair",
    "context_text",
    "count_all",
    "count_pattern",
    "find_pair",
    "find_pair_contexts",
    "mvpmi",
    "parse_pattern",
    "pmi",
    "si1",
    "si2",
    "si3",
    "si4",
]

"""The optimum of the objective: exact counts of triples, and the PMIs computed from them."""

from pair2vec.text.patterns import Pattern, context_text, parse_pattern
from pair2vec.text.vocabulary import WordPair, look_up_pair
from pair2vec.theory.counts import count_pattern
from pair2vec.theory.pmi import Counts, Negatives, mvpmi, pmi, si1, si2, si3, si4
from pair2vec.theory.tables import (
    PairContexts,
    ScoredContext,
    TripleCounts,
    count_every_triple,
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
    "count_every_triple",
    "count_pattern",
    "find_pair_contexts",
    "look_up_pair",
    "mvpmi",
    "parse_pattern",
    "pmi",
    "si1",
    "si2",
    "si3",
    "si4",
]

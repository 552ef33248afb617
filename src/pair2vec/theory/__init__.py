"""What the objective tends to: exact counts of triples, and the PMIs made of them."""

from pair2vec.text.patterns import Pattern, context_text, parse_pattern
from pair2vec.text.spelling import WordPair, find_pair
from pair2vec.theory.counts import count_pattern
from pair2vec.theory.pair_contexts import PairContexts, ScoredContext, find_pair_contexts
from pair2vec.theory.pmi import Counts, Negatives, mvpmi, pmi, si1, si2, si3, si4
from pair2vec.theory.triple_table import TripleCounts, count_all

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

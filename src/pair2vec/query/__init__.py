"""Questions to a model, answered with numpy alone."""

from pair2vec.query.matches import Match, PairBatch, PairMatch, PatternMatch, RelationMatch
from pair2vec.query.model import Pair2vec, load
from pair2vec.query.relation_classifier import RelationClassifier
from pair2vec.query.relations import Relations

__all__ = [
    "Match",
    "Pair2vec",
    "PairBatch",
    "PairMatch",
    "PatternMatch",
    "RelationClassifier",
    "RelationMatch",
    "Relations",
    "load",
]

"""Questions to a model, answered with numpy alone."""

from pair2vec.query.matches import Match, PairBatch, PairMatch, PatternMatch
from pair2vec.query.model import Pair2vec, load

__all__ = ["Match", "Pair2vec", "PairBatch", "PairMatch", "PatternMatch", "load"]

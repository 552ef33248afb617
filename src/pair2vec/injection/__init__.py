"""Relations between words in the attention of other models; needs torch."""

from pair2vec.injection.pair_attention import PairAttention
from pair2vec.injection.pair_distance import pair_distance_attention
from pair2vec.injection.sources import (
    AttendedRelations,
    ConcatenatedSources,
    EmptySource,
    RelationSource,
)
from pair2vec.injection.subwords import AlignedWords, align_subwords
from pair2vec.injection.wordnet_attention import WordNetAttention

__all__ = [
    "AlignedWords",
    "AttendedRelations",
    "ConcatenatedSources",
    "EmptySource",
    "PairAttention",
    "RelationSource",
    "WordNetAttention",
    "align_subwords",
    "pair_distance_attention",
]

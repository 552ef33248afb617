"""Relations between words in the attention of other models; needs torch."""

from pair2vec.injection.joined import JoinedSources
from pair2vec.injection.no_pairs import NoPairs
from pair2vec.injection.pair_attention import PairAttention
from pair2vec.injection.pair_distance import pair_distance_attention
from pair2vec.injection.relation_source import BothSides, RelationSource
from pair2vec.injection.wordnet_attention import WordNetAttention

__all__ = [
    "BothSides",
    "JoinedSources",
    "NoPairs",
    "PairAttention",
    "RelationSource",
    "WordNetAttention",
    "pair_distance_attention",
]

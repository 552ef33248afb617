"""Pair vectors in the attention of other models; needs torch."""

from pair2vec.injection.pair_attention import BothSides, PairAttention

__all__ = ["BothSides", "PairAttention"]

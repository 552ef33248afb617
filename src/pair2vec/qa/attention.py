"""Trilinear attention (Seo et al., 2017), between two texts and within one.

Shapes: B batch, n and m words of the texts a and b, D dimension.
"""

import torch
from torch import Tensor, nn

from pair2vec.supervised.sequences import masked_softmax
from pair2vec.supervised.weights import linear


class Trilinear(nn.Module):
    """s_ij = w_a·a_i + w_b·b_j + w_ab·(a_i ∘ b_j), without ever having all a_i ∘ b_j."""

    def __init__(self, dimension: int) -> None:
        """Weights are drawn from torch's generator."""
        super().__init__()
        self.of_a, self.of_b, self.of_both = (
            nn.Parameter(nn.init.xavier_uniform_(torch.empty(1, dimension))[0]) for _ in range(3)
        )

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """(B, n, m), in float32: the scores are sums of many products, and small parts count."""
        with torch.autocast(a.device.type, enabled=False):
            a, b = (x if x.dtype == torch.float64 else x.float() for x in (a, b))
            scores: Tensor = (a * self.of_both) @ b.mT
            return scores + (a @ self.of_a)[:, :, None] + (b @ self.of_b)[:, None, :]


class SelfAttention(nn.Module):
    """What a word's own text says of it: ReLU(W [x; c; x ∘ c]), c_i = Σ_j≠i softmax_j(s_ij) x_j."""

    def __init__(self, dimension: int) -> None:
        """Weights are drawn from torch's generator."""
        super().__init__()
        self.scores = Trilinear(dimension)
        self.merge = linear(3 * dimension, dimension)

    def forward(self, x: Tensor, is_word: Tensor) -> Tensor:
        """Words (B, n, D) of which `is_word` (B, n) are some, to (B, n, D)."""
        is_other = ~torch.eye(x.shape[1], dtype=torch.bool, device=x.device)
        is_pair = is_word[:, None, :] & is_word[:, :, None] & is_other
        attention = masked_softmax(self.scores(x, x), is_pair, dim=2)
        context = attention.to(x.dtype) @ x
        merged: Tensor = self.merge(torch.cat([x, context, x * context], dim=-1)).relu()
        return merged

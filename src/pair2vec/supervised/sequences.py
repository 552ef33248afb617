"""Sequences of several lengths: dropped out, attended, pooled.

Shapes: B batch, n longest sequence of a block, D dimension.
"""

import torch
from torch import Tensor, nn


class VariationalDropout(nn.Module):
    """Drops the same dimensions of all words of a sequence (Gal & Ghahramani, 2016)."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, block: Tensor) -> Tensor:
        """(B, n, D), changed while training only."""
        if not self.training or not self.share:
            return block
        kept = torch.empty_like(block[:, :1]).bernoulli_(1 - self.share)
        return block * kept / (1 - self.share)

    def extra_repr(self) -> str:
        """What torch prints of it."""
        return f"share={self.share}"


def masked_softmax(scores: Tensor, is_in: Tensor, dim: int) -> Tensor:
    """Over the places that `is_in` allows, which is of the shape of the scores; zero elsewhere."""
    lowest = torch.finfo(scores.dtype).min
    # Where no place is allowed, softmax is even over nothing.
    return scores.masked_fill(~is_in, lowest).softmax(dim=dim).masked_fill(~is_in, 0)


def mean_words(block: Tensor, mask: Tensor) -> Tensor:
    """Over the words (B, n) of a block (B, n, D): (B, D); zero for a sequence without any."""
    total = (block * mask[..., None]).sum(
        dim=1, dtype=torch.promote_types(block.dtype, torch.float32)
    )
    return total / mask.sum(dim=1).clamp_min(1)[:, None]


def max_words(block: Tensor, mask: Tensor) -> Tensor:
    """The largest value of each dimension over the words of a block; zero without any: (B, D)."""
    if not block.shape[1]:
        return block.new_zeros(len(block), block.shape[2])
    lowest = torch.finfo(block.dtype).min
    largest = block.masked_fill(~mask[..., None], lowest).amax(dim=1)
    return largest.masked_fill(~mask.any(dim=1)[:, None], 0)

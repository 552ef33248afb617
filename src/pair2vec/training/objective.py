"""The objectives J_2NS and J_3NS (the paper's table of objectives).

Shapes: B triples, K negative words per side, D dimension.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional


class Scores(NamedTuple):
    """R·C of the observed triples and of each group of corrupted ones."""

    observed: Tensor
    """(B,): R(x, y)·C(c)"""
    contexts: Tensor
    """(B, k_c): R(x, y)·C(c')"""
    other_x: Tensor
    """(B, K): R(x', y)·C(c)"""
    other_y: Tensor
    """(B, K): R(x, y')·C(c)"""


class Losses(NamedTuple):
    """−log σ summed over a group's comparisons, for each triple: (B,) each."""

    observed: Tensor
    contexts: Tensor
    other_x: Tensor
    other_y: Tensor
    typed_x: Tensor
    typed_y: Tensor

    def total(self) -> Tensor:
        """−J of each triple, (B,): the bivariate objective where there are no other words."""
        return torch.stack(self).sum(dim=0)


def score_triples(pairs: Tensor, contexts: Tensor, other_contexts: Tensor) -> Scores:
    """Scores from R of (x, y), the (x', y) and the (x, y'), side by side, and C of the contexts.

    Args:
        pairs: (B, 1 + 2K, D).
        contexts: (B, D).
        other_contexts: (B, k_c, D).
    """
    observed = pairs[:, 0]
    by_context = (pairs * contexts[:, None]).sum(dim=-1)
    negatives = (pairs.shape[1] - 1) // 2
    return Scores(
        by_context[:, 0],
        (observed[:, None] * other_contexts).sum(dim=-1),
        by_context[:, 1 : 1 + negatives],
        by_context[:, 1 + negatives :],
    )


def losses(scores: Scores, typed: int) -> Losses:
    """The loss of each group; the last `typed` negative words are a group of their own."""
    plain = scores.other_x.shape[1] - typed

    def against(negatives: Tensor) -> Tensor:
        return functional.softplus(negatives).sum(dim=1)  # −log σ(−s) = softplus(s)

    return Losses(
        functional.softplus(-scores.observed),
        against(scores.contexts),
        against(scores.other_x[:, :plain]),
        against(scores.other_y[:, :plain]),
        against(scores.other_x[:, plain:]),
        against(scores.other_y[:, plain:]),
    )

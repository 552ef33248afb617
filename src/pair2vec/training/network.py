"""The network in training: two tables of word vectors, R and C, and their forward pass.

Shapes: V vocabulary, B triples, K negative words per side, D dimension.

The tables are large and a batch touches few of their rows, so they take no part in autograd: the
rows of a batch are copied out, and their gradient, as small as the batch, goes back by row.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from pair2vec.encoders.context import ContextConfig, ContextEncoder
from pair2vec.encoders.pair import PairConfig, make_pair_encoder
from pair2vec.kernels.rows import gather_rows
from pair2vec.training.objective import Losses, Scores, losses, score_triples


class TrainingBatch(NamedTuple):
    """Triples and their negatives as ids, contexts grouped by length."""

    x: Tensor
    """(B,)"""
    y: Tensor
    """(B,)"""
    contexts: tuple[Tensor, ...]
    """One (n, L) per length L; together B rows, in the order of x and y."""
    other_x: Tensor
    """(B, K)"""
    other_y: Tensor
    """(B, K)"""
    shuffles: Tensor
    """(B, k_c): rows of the batch whose context is a negative."""


class TouchedRows(NamedTuple):
    """The distinct rows of a table that a batch needs, as a leaf of the autograd graph."""

    rows: Tensor
    """(N,), sorted."""
    vectors: Tensor
    """(N, D), with a gradient after the backward pass."""


class BatchOutput(NamedTuple):
    losses: Losses
    scores: Scores
    touched: dict[str, TouchedRows]
    """By table."""


class Network(nn.Module):
    """E_a, E_c, R and C."""

    def __init__(
        self, vocabulary: int, pair: PairConfig, context: ContextConfig, generator: torch.Generator
    ) -> None:
        super().__init__()
        # The modules draw their initial weights from torch's global generator.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(torch.randint(2**62, (), generator=generator)))
            self.pair = make_pair_encoder(pair)
            self.context = ContextEncoder(context)
        self.register_buffer("pair_words", torch.zeros(vocabulary, pair.dimension))
        self.register_buffer("context_words", torch.zeros(vocabulary, context.dimension))

    pair_words: Tensor
    context_words: Tensor

    def forward(self, batch: TrainingBatch, typed: int) -> BatchOutput:
        """The losses of a batch, ready for the backward pass."""
        pair_rows, pairs = self._encode_pairs(batch)
        context_rows, contexts = self._encode_contexts(batch.contexts)
        scores = score_triples(pairs, contexts, gather_rows(contexts, batch.shuffles))
        touched = {"pair_words": pair_rows, "context_words": context_rows}
        return BatchOutput(losses(scores, typed), scores, touched)

    def _encode_pairs(self, batch: TrainingBatch) -> tuple[TouchedRows, Tensor]:
        """R of (x, y), the (x', y) and the (x, y'), side by side: (B, 1 + 2K, D)."""
        x, y = batch.x[:, None], batch.y[:, None]
        xs = torch.cat([x, batch.other_x, x.expand_as(batch.other_y)], dim=1)
        ys = torch.cat([y, y.expand_as(batch.other_x), batch.other_y], dim=1)
        touched, indices = _touch(self.pair_words, torch.stack([xs, ys]))
        parts = self.pair.word_parts(touched.vectors)
        return touched, self.pair.compose(parts, indices[0], indices[1])

    def _encode_contexts(self, contexts: tuple[Tensor, ...]) -> tuple[TouchedRows, Tensor]:
        """C of all contexts, (B, D)."""
        touched, indices = _touch(
            self.context_words, torch.cat([group.flatten() for group in contexts])
        )
        word_gates = self.context.word_gates(touched.vectors)
        groups = torch.split(indices, [group.numel() for group in contexts])
        encoded = [
            self.context.encode(word_gates, rows.view_as(group))
            for rows, group in zip(groups, contexts, strict=True)
            if len(group)
        ]
        return touched, torch.cat(encoded)


def _touch(table: Tensor, ids: Tensor) -> tuple[TouchedRows, Tensor]:
    """The distinct rows of `table` in `ids`, and for each id its index among them."""
    rows, indices = torch.unique(ids, return_inverse=True)
    return TouchedRows(rows, table[rows].requires_grad_()), indices

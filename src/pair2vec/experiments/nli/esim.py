"""ESIM (Chen et al., ACL 2017), with what pairs of words say in its inference layer.

Shapes: B batch, n and m places of premises and hypotheses, H hidden, D dimension of pairs. The
premise is a, the hypothesis is b.

    a, b        vectors of words, through a BiLSTM
    s_ij        a_i · b_j; α and β are its softmax over j and over i
    ā_i         Σ_j α_ij b_j
    r_i         Σ_j α_ij r_ij, from the source of relations (`eq:wordpair_attn`)
    a_i^inf     [a_i; ā_i; a_i − ā_i; a_i ∘ ā_i; r_i] (`eq:esim_inf`, `eq:pool`)

each projected to H, through another BiLSTM, pooled by mean and maximum, and classified. KIM (Chen
et al., ACL 2018) is this with WordNet's relations; the base model has a source of dimension 0.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from pair2vec.errors import UsageError
from pair2vec.experiments.embedders.embedder import Embedder
from pair2vec.experiments.nli.batches import NliBatch
from pair2vec.experiments.nli.examples import LABELS
from pair2vec.experiments.tasks.layers import (
    BiLstm,
    VariationalDropout,
    linear,
    masked_softmax,
    max_words,
    mean_words,
)
from pair2vec.injection.sources import RelationSource


@dataclass(frozen=True, kw_only=True, slots=True)
class EsimConfig:
    """The sizes of AllenNLP's ESIM."""

    hidden: int = 300
    dropout: float = 0.5

    def __post_init__(self) -> None:
        if self.hidden < 1:
            raise UsageError(f"esim.hidden is {self.hidden}; it must be 1 or more")
        if not 0 <= self.dropout < 1:
            raise UsageError(f"esim.dropout is {self.dropout}; it must be at least 0 and below 1")


class Attention(NamedTuple):
    """Between the words of premises and hypotheses; zero where there is no word."""

    of_a: Tensor
    """α, (B, n, m): of each word of a to those of b."""
    of_b: Tensor
    """β, (B, m, n)"""


class Encoded(NamedTuple):
    """Premises and hypotheses behind the first BiLSTM."""

    a: Tensor
    """(B, n, 2H)"""
    b: Tensor
    """(B, m, 2H)"""


class Esim(nn.Module):
    """From a batch of examples to a score for each label."""

    def __init__(
        self, embedder: Embedder, relations: RelationSource, config: EsimConfig | None = None
    ) -> None:
        """Weights are drawn from torch's generator."""
        super().__init__()
        config = config or EsimConfig()
        hidden = config.hidden
        self.embedder, self.relations = embedder, relations
        self.word_dropout = VariationalDropout(config.dropout)
        self.encoder = BiLstm(embedder.dimension, hidden)
        self.projection = linear(4 * self.encoder.dimension + relations.dimension, hidden)
        self.inference = BiLstm(hidden, hidden)
        self.classifier = nn.Sequential(
            nn.Dropout(config.dropout),
            linear(4 * self.inference.dimension, hidden),
            nn.ReLU(),
            nn.Dropout(config.dropout),
            linear(hidden, len(LABELS)),
        )

    def forward(self, batch: NliBatch) -> Tensor:
        """A score for each label, (B, 3)."""
        encoded = self.encode(batch)
        attention = attend(encoded, batch)
        return self.classify(batch, encoded, attention, attention)

    def encode(self, batch: NliBatch) -> Encoded:
        """Words in their sentences."""
        sides = (batch.premises, batch.hypotheses)
        words = [self.word_dropout(self.embedder(side.inputs)) for side in sides]
        return Encoded(*self.encoder(words, [side.is_word for side in sides]))

    def classify(
        self, batch: NliBatch, encoded: Encoded, for_words: Attention, for_pairs: Attention
    ) -> Tensor:
        """The rest of the way; two attentions, so that the part of each can be told apart."""
        sides = (batch.premises, batch.hypotheses)
        aligned = (for_words.of_a @ encoded.b, for_words.of_b @ encoded.a)
        related = self.relations.both(
            batch.premises.ids, batch.hypotheses.ids, for_pairs.of_a, for_pairs.of_b
        )
        projected = [
            self.word_dropout(
                self.projection(torch.cat([own, other, own - other, own * other, r], -1)).relu()
            )
            for own, other, r in zip(encoded, aligned, related, strict=True)
        ]
        inferred = self.inference(projected, [side.is_word for side in sides])
        pooled = [
            pool(block, side.is_word)
            for block, side in zip(inferred, sides, strict=True)
            for pool in (mean_words, max_words)
        ]
        scores: Tensor = self.classifier(torch.cat(pooled, dim=-1))
        return scores.float()


def attend(encoded: Encoded, batch: NliBatch) -> Attention:
    """α and β, in float32: the scores are sums of many products, and small parts of them count."""
    a_words, b_words = batch.premises.is_word, batch.hypotheses.is_word
    with torch.autocast(encoded.a.device.type, enabled=False):
        scores = encoded.a.float() @ encoded.b.float().mT
    is_pair = a_words[:, :, None] & b_words[:, None, :]
    return Attention(
        masked_softmax(scores, is_pair, dim=2), masked_softmax(scores.mT, is_pair.mT, dim=2)
    )

"""ESIM (Chen et al., ACL 2017), with relation vectors of word pairs in its inference layer.

Shapes: B batch, n and m padded lengths of premises and hypotheses, H hidden. The premise is a, the
hypothesis is b.

    a, b        word vectors, through a BiLSTM
    s_ij        a_i · b_j; α and β are its softmax over j and over i
    ā_i         Σ_j α_ij b_j
    r_i         Σ_j α_ij r_ij, from the source of relations (`eq:wordpair_attn`)
    a_i^inf     [a_i; ā_i; a_i − ā_i; a_i ∘ ā_i; r_i] (`eq:esim_inf`, `eq:pool`)

each projected to H, through another BiLSTM, pooled by mean and maximum, and classified. The base
model has a source of dimension 0. With WordNet's relations as r_ij it is ESIM + WordNet features;
KIM (`kim.py`) uses them in two more places.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

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
from pair2vec.ranges import PartialShare, Size, check_ranges


@dataclass(frozen=True, kw_only=True, slots=True)
class EsimConfig:
    """The sizes of AllenNLP's ESIM."""

    hidden: Size = 300
    dropout: PartialShare = 0.5

    def __post_init__(self) -> None:
        check_ranges(self)


class Attention(NamedTuple):
    """Between the words of premises and hypotheses; zero at padding."""

    a_to_b: Tensor
    """α, (B, n, m): from each word of a to those of b."""
    b_to_a: Tensor
    """β, (B, m, n)"""


class Encoded(NamedTuple):
    """Premises and hypotheses after the first BiLSTM."""

    a: Tensor
    """(B, n, 2H)"""
    b: Tensor
    """(B, m, 2H)"""


class Esim(nn.Module):
    """From a batch of examples to a score for each label."""

    poolings: ClassVar[int] = 2
    """Vectors that `pool` makes of a sentence."""

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
            linear(2 * self.poolings * self.inference.dimension, hidden),
            nn.ReLU(),
            nn.Dropout(config.dropout),
            linear(hidden, len(LABELS)),
        )

    def forward(self, batch: NliBatch) -> Tensor:
        """A score for each label, (B, 3)."""
        encoded = self.encode(batch)
        attention = self.attend(batch, encoded)
        return self.classify(batch, encoded, attention, attention)

    def encode(self, batch: NliBatch) -> Encoded:
        """Contextual vectors of words."""
        sides = (batch.premises, batch.hypotheses)
        words = [self.word_dropout(self.embedder(side.inputs)) for side in sides]
        return Encoded(*self.encoder(words, [side.is_word for side in sides]))

    def attend(self, batch: NliBatch, encoded: Encoded) -> Attention:
        """α and β, from `affinity`."""
        scores = self.affinity(batch, encoded)
        is_pair = batch.premises.is_word[:, :, None] & batch.hypotheses.is_word[:, None, :]
        return Attention(
            masked_softmax(scores, is_pair, dim=2), masked_softmax(scores.mT, is_pair.mT, dim=2)
        )

    def affinity(self, batch: NliBatch, encoded: Encoded) -> Tensor:
        """The scores s (B, n, m), in float32: each sums many products, and small terms count."""
        del batch
        with torch.autocast(encoded.a.device.type, enabled=False):
            return _precise(encoded.a) @ _precise(encoded.b).mT

    def pool(self, states: Tensor, is_word: Tensor, related: Tensor) -> list[Tensor]:
        """Vectors (B, 2H) of a sentence, from the states of its words and their relations r."""
        del related
        return [mean_words(states, is_word), max_words(states, is_word)]

    def classify(
        self, batch: NliBatch, encoded: Encoded, for_words: Attention, for_pairs: Attention
    ) -> Tensor:
        """Scores (B, 3) from encoded words; `explain` varies the two attentions one by one."""
        sides = (batch.premises, batch.hypotheses)
        aligned = (for_words.a_to_b @ encoded.b, for_words.b_to_a @ encoded.a)
        related = self.relations.both(
            batch.premises.ids, batch.hypotheses.ids, for_pairs.a_to_b, for_pairs.b_to_a
        )
        projected = [
            self.word_dropout(
                self.projection(torch.cat([own, other, own - other, own * other, r], -1)).relu()
            )
            for own, other, r in zip(encoded, aligned, related, strict=True)
        ]
        inferred = self.inference(projected, [side.is_word for side in sides])
        pooled = [
            vector
            for states, side, r in zip(inferred, sides, related, strict=True)
            for vector in self.pool(states, side.is_word, r)
        ]
        scores: Tensor = self.classifier(torch.cat(pooled, dim=-1))
        return _precise(scores)


def _precise(values: Tensor) -> Tensor:
    """In float32 or better."""
    return values.to(torch.promote_types(values.dtype, torch.float32))

"""KIM (Chen et al., ACL 2018): ESIM with WordNet's relations in three places.

Shapes: B batch, n and m padded lengths of premises and hypotheses, H hidden, F = 5 relations.

    s_ij        a_i · b_j + λ 1(r_ij), where 1 is whether any relation holds: knowledge-enriched
                co-attention
    r_i         Σ_j α_ij r_ij, in a_i^inf as in `esim`: local inference
    a^w         Σ_i softmax_i(H(r_i)) v_i over the states v of the second BiLSTM, beside their mean
                and maximum; H is one layer with ReLU: weighted pooling

The second and third see the relations of b_j to a_i on b's side. All else is `Esim`: AllenNLP's
classifier has ReLU where KIM's has tanh, so that a row of KIM differs from one of ESIM by knowledge
alone.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from torch import Tensor

from pair2vec.errors import UsageError
from pair2vec.experiments.embedders.embedder import Embedder
from pair2vec.experiments.nli.batches import NliBatch
from pair2vec.experiments.nli.esim import Encoded, Esim, EsimConfig
from pair2vec.experiments.tasks.layers import linear, masked_softmax
from pair2vec.injection.sources import RelationSource
from pair2vec.injection.wordnet_attention import WordNetAttention
from pair2vec.ranges import Range, check_ranges


@dataclass(frozen=True, kw_only=True, slots=True)
class KimConfig:
    """What KIM has beside ESIM's sizes."""

    weight: Annotated[float, Range(least=0, most=1_000)] = 1.0
    """λ, which a related pair of words gains in the co-attention; to be chosen on dev."""

    def __post_init__(self) -> None:
        check_ranges(self)


class Kim(Esim):
    """From a batch of examples to a score for each label."""

    poolings: ClassVar[int] = 3

    def __init__(
        self,
        embedder: Embedder,
        relations: RelationSource,
        config: EsimConfig | None = None,
        kim: KimConfig | None = None,
    ) -> None:
        """Weights are drawn from torch's generator.

        Raises:
            UsageError: the relations are not WordNet's.
        """
        if not isinstance(relations, WordNetAttention):
            raise UsageError("KIM takes its knowledge from WordNet; say --pairs wordnet")
        super().__init__(embedder, relations, config)
        self.knowledge = relations
        self.weight = (kim or KimConfig()).weight
        self.weigh = linear(relations.dimension, 1)

    def affinity(self, batch: NliBatch, encoded: Encoded) -> Tensor:
        """The scores s (B, n, m), where related words have λ more."""
        scores = super().affinity(batch, encoded)
        return scores + self.weight * self.knowledge.related(
            batch.premises.ids, batch.hypotheses.ids
        )

    def pool(self, states: Tensor, is_word: Tensor, related: Tensor) -> list[Tensor]:
        """Mean, maximum, and the mean weighted by relations."""
        # In float16 a sum over a long sentence would lose its small weights.
        with torch.autocast(states.device.type, enabled=False):
            scores = self.weigh(related.to(states.dtype)).relu().squeeze(-1)
            weights = masked_softmax(scores, is_word, dim=1)
            weighted = torch.einsum("bi,bih->bh", weights, states)
        return [*super().pool(states, is_word, related), weighted]

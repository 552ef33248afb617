"""BiDAF++ (Clark & Gardner, ACL 2018), with relation vectors of word pairs in its attention layer.

Shapes: B batch, n and m padded lengths of passages and questions, H hidden, U distinct words, C
characters, E dimension of a character, F filters. The passage is a, the question is b.

    a, b        words and their characters, through a BiGRU
    s_ij        trilinear in a_i and b_j; α is its softmax over j
    b̄_i         Σ_j α_ij b_j
    â           Σ_i μ_i a_i, μ the softmax over i of max_j s_ij
    r_i         Σ_j α_ij r_ij, from the source of relations (`eq:wordpair_attn`)
    a_i^inf     [a_i; b̄_i; a_i ∘ b̄_i; a_i ∘ â; r_i] (`eq:bidaf_inf`)

projected to 2H, through a BiGRU and self-attention, whose result is added to the projection; and
from there, by one BiGRU each, scores of first and of last words. The paper prints â where the
released code, and this, has a_i ∘ â. The base model has a source of dimension 0.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor, nn

from pair2vec.experiments.embedders.embedder import Embedder
from pair2vec.experiments.qa.batches import MAX_CHARACTERS, QaBatch
from pair2vec.experiments.qa.spans import SpanScores
from pair2vec.experiments.tasks.layers import (
    BiGru,
    VariationalDropout,
    linear,
    masked_softmax,
    max_words,
)
from pair2vec.injection.sources import RelationSource
from pair2vec.kernels.rows import gather_rows
from pair2vec.ranges import PartialShare, Range, Size, check_ranges

_CHARACTER_CODES = 256
"""As `character_codes` makes them: 0 is padding, the others are bytes plus one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BidafConfig:
    """The sizes of Clark & Gardner, and of BiDAF for characters."""

    hidden: Size = 100
    """Of each direction."""
    dropout: PartialShare = 0.2
    characters: Size = 16
    """The dimension of a character."""
    filters: Size = 100
    filter_width: Annotated[int, Range(least=1, most=MAX_CHARACTERS)] = 5
    no_answer: Size = 80
    """Units of the two hidden layers that score no answer."""

    def __post_init__(self) -> None:
        check_ranges(self)


class Bidaf(nn.Module):
    """From a batch of questions and passages to scores of spans."""

    def __init__(
        self, embedder: Embedder, relations: RelationSource, config: BidafConfig | None = None
    ) -> None:
        """Weights are drawn from torch's generator."""
        super().__init__()
        config = config or BidafConfig()
        hidden, both = config.hidden, 2 * config.hidden
        self.embedder, self.relations = embedder, relations
        self.characters = CharacterCnn(
            dimension=config.characters, filters=config.filters, width=config.filter_width
        )
        self.dropout = VariationalDropout(config.dropout)
        self.encoder = BiGru(embedder.dimension + self.characters.dimension, hidden)
        self.scores = Trilinear(both)
        self.projection = linear(4 * both + relations.dimension, both)
        self.modelling = BiGru(both, hidden)
        self.self_attention = SelfAttention(both)
        self.starts, self.ends = BiGru(both, hidden), BiGru(2 * both, hidden)
        self.start_score, self.end_score = linear(both, 1), linear(both, 1)
        self.no_answer = nn.Sequential(
            linear(3 * both, config.no_answer),
            nn.ReLU(),
            linear(config.no_answer, config.no_answer),
            nn.ReLU(),
            linear(config.no_answer, 1),
        )

    def forward(self, batch: QaBatch) -> SpanScores:
        a, b = self._encode(batch)
        projected = self.dropout(self._attend(a, b, batch))
        is_word = batch.passages.is_word
        (modelled,) = self.modelling([projected], [is_word])
        attended = projected + self.self_attention(self.dropout(modelled), is_word)
        dropped = self.dropout(attended)
        (starts,) = self.starts([dropped], [is_word])
        (ends,) = self.ends([torch.cat([dropped, starts], dim=-1)], [is_word])
        start_scores = _word_scores(self.start_score, starts, is_word)
        end_scores = _word_scores(self.end_score, ends, is_word)
        pooled = [
            _expected(start_scores, starts),
            _expected(end_scores, ends),
            max_words(attended, is_word),
        ]
        no_answer = self.no_answer(torch.cat(pooled, dim=-1))
        return SpanScores(start_scores, end_scores, _at_least_float32(no_answer)[:, 0])

    def _encode(self, batch: QaBatch) -> list[Tensor]:
        """Contextual vectors of words: a (B, n, 2H) and b (B, m, 2H)."""
        characters = self.characters(batch.characters)
        sides = ((batch.passages, batch.passage_rows), (batch.questions, batch.question_rows))
        words = [
            torch.cat([self.embedder(side.inputs), gather_rows(characters, rows)], dim=-1)
            for side, rows in sides
        ]
        masks = [side.is_word for side, _ in sides]
        encoded = self.encoder([self.dropout(block) for block in words], masks)
        return [self.dropout(block) for block in encoded]

    def _attend(self, a: Tensor, b: Tensor, batch: QaBatch) -> Tensor:
        """a^inf, projected: (B, n, 2H)."""
        a_words, b_words = batch.passages.is_word, batch.questions.is_word
        scores = self.scores(a, b)
        is_pair = a_words[:, :, None] & b_words[:, None, :]
        alpha = masked_softmax(scores, is_pair, dim=2)
        # Every passage and every question has a word.
        best = scores.masked_fill(~is_pair, torch.finfo(scores.dtype).min).amax(dim=2)
        mu = best.softmax(dim=1)
        aligned = alpha.to(b.dtype) @ b
        whole = mu[:, None].to(a.dtype) @ a
        related = self.relations(batch.passages.ids, batch.questions.ids, alpha)
        parts = [a, aligned, a * aligned, a * whole, related.to(a.dtype)]
        projected: Tensor = self.projection(torch.cat(parts, dim=-1)).relu()
        return projected


class CharacterCnn(nn.Module):
    """Words by their characters: the maximum of each filter over a word (Kim, 2014)."""

    def __init__(self, *, dimension: int, filters: int, width: int) -> None:
        """Weights are drawn from torch's generator."""
        super().__init__()
        self.dimension, self.width = filters, width
        self.letters = nn.Embedding(_CHARACTER_CODES, dimension, padding_idx=0)
        self.filters = linear(width * dimension, filters)

    def forward(self, characters: Tensor) -> Tensor:
        """Vectors (U, F) of words (U, C), as `character_codes` makes them."""
        vectors = self.letters(characters.int())
        # (U, C - width + 1, E, width): a matrix product is faster here than a convolution.
        windows = vectors.unfold(1, self.width, 1).flatten(2)
        maxima: Tensor = self.filters(windows).amax(dim=1).relu()
        return maxima


class Trilinear(nn.Module):
    """s_ij = w_a·a_i + w_b·b_j + w_ab·(a_i ∘ b_j) (Seo et al., 2017), by one matrix product."""

    def __init__(self, dimension: int) -> None:
        """Weights are drawn from torch's generator."""
        super().__init__()
        # The names are those of saved weights.
        self.of_a, self.of_b, self.of_both = (
            nn.Parameter(nn.init.xavier_uniform_(torch.empty(1, dimension))[0]) for _ in range(3)
        )

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """(B, n, m), in float32: the scores are sums of many products, and small terms count."""
        with torch.autocast(a.device.type, enabled=False):
            a, b = (x if x.dtype == torch.float64 else x.float() for x in (a, b))
            scores: Tensor = (a * self.of_both) @ b.mT
            return scores + (a @ self.of_a)[:, :, None] + (b @ self.of_b)[:, None, :]


class SelfAttention(nn.Module):
    """ReLU(W [x; c; x ∘ c]) with c_i = Σ_j≠i softmax_j(s_ij) x_j."""

    def __init__(self, dimension: int) -> None:
        """Weights are drawn from torch's generator."""
        super().__init__()
        self.scores = Trilinear(dimension)
        self.merge = linear(3 * dimension, dimension)

    def forward(self, x: Tensor, is_word: Tensor) -> Tensor:
        """(B, n, 2H) to (B, n, 2H); `is_word` (B, n) is False at padding."""
        is_other = ~torch.eye(x.shape[1], dtype=torch.bool, device=x.device)
        is_pair = is_word[:, None, :] & is_word[:, :, None] & is_other
        attention = masked_softmax(self.scores(x, x), is_pair, dim=2)
        context = attention.to(x.dtype) @ x
        merged: Tensor = self.merge(torch.cat([x, context, x * context], dim=-1)).relu()
        return merged


def _at_least_float32(values: Tensor) -> Tensor:
    return values.to(torch.promote_types(values.dtype, torch.float32))


def _word_scores(layer: nn.Linear, block: Tensor, is_word: Tensor) -> Tensor:
    """A score (B, n) for each word (B, n, 2H); in bfloat16 neighbours would often tie."""
    with torch.autocast(block.device.type, enabled=False):
        scores: Tensor = layer(_at_least_float32(block))[..., 0]
    return scores.masked_fill(~is_word, -torch.inf)


def _expected(scores: Tensor, block: Tensor) -> Tensor:
    """The expectation (B, 2H) of words (B, n, 2H) under the softmax of scores (B, n)."""
    return (scores.softmax(dim=1).to(block.dtype)[:, None] @ block)[:, 0]

"""Nothing known of any pair of words: the base model's place for relations, left empty."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from pair2vec.injection.relation_source import BothSides
from pair2vec.injection.word_ids import (
    PADDING,
    check_attention,
    check_ids,
    padded_ids,
)


class NoPairs(nn.Module):
    """A source of width 0, so that a model without relations needs no branch."""

    nothing: Tensor
    """(0,), which is where the module is."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("nothing", torch.empty(0), persistent=False)

    @property
    def dimension(self) -> int:
        """Of the result: 0."""
        return 0

    def ids(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """Zeros (B, n): every word is unknown."""
        return padded_ids(sentences, lambda _: PADDING, self.nothing.device)

    def forward(self, a_ids: Tensor, b_ids: Tensor, attention_ab: Tensor) -> Tensor:
        """Of a nothing: (B, n, 0)."""
        check_ids(a_ids, b_ids)
        check_attention(a_ids, b_ids, attention_ab, "ab")
        return attention_ab.new_empty(*a_ids.shape, 0)

    def both(
        self, a_ids: Tensor, b_ids: Tensor, attention_ab: Tensor, attention_ba: Tensor
    ) -> BothSides:
        """Of both sides nothing: (B, n, 0) and (B, m, 0)."""
        check_ids(a_ids, b_ids)
        check_attention(a_ids, b_ids, attention_ab, "ab")
        check_attention(b_ids, a_ids, attention_ba, "ba")
        return BothSides(
            attention_ab.new_empty(*a_ids.shape, 0), attention_ba.new_empty(*b_ids.shape, 0)
        )

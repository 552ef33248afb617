"""Pair vectors under a model's own attention: what pair2vec adds to a model of two sequences.

Shapes: B batch, n and m words of the sequences a and b, D dimension of R.
"""

import os
from collections.abc import Sequence
from typing import Literal, NamedTuple, Self, get_args

import torch
from torch import Tensor, nn

from pair2vec.errors import UsageError
from pair2vec.injection.frozen_pair import FrozenPair
from pair2vec.injection.pooling import PairTiles, pool_both_sides, pool_pairs
from pair2vec.model.folder import SavedModel, load_model
from pair2vec.model.shelf import find_model
from pair2vec.text.sentences import tokenize
from pair2vec.text.vocabulary import PADDING, SPECIAL_TOKENS, Vocabulary

Attention = Literal["kept", "renormalised"]
"""What becomes of the attention to words that are unknown or padding: it is lost, α being used as
it is (the paper); or the known words share it (the released code)."""

PAIRS_AT_ONCE = 8192
"""Few enough that the vectors of a tile take some ten megabytes, enough to keep a GPU busy."""

_SMALLEST_SHARE = 1e-13
"""A row of attention with less than this on known words is not brought back to one."""


class BothSides(NamedTuple):
    """What pair vectors say of each word of a and of each of b."""

    a: Tensor
    """(B, n, 2D)"""
    b: Tensor
    """(B, m, 2D)"""


class PairAttention(nn.Module):
    """r_i = Σ_j α_ij [R̂(a_i, b_j); R̂(b_j, a_i)] (`eq:bi-relemb`, `eq:wordpair_attn`).

    R is a frozen copy: no parameters, no gradient; it moves with the module, and is saved with it.
    The pairs of a word that is unknown or padding are zero.
    """

    def __init__(
        self,
        saved: SavedModel,
        *,
        dropout: float = 0.15,
        attention: Attention = "kept",
        pairs_at_once: int = PAIRS_AT_ONCE,
    ) -> None:
        """Copy R out of a model.

        Args:
            saved: The model folder.
            dropout: Of the result, while training.
            attention: What becomes of that to unknown words: "kept" or "renormalised".
            pairs_at_once: The most pairs whose vectors are in memory at a time.
        """
        super().__init__()
        if attention not in get_args(Attention):
            known = ", ".join(get_args(Attention))
            raise UsageError(f"attention is {attention!r}; it must be one of {known}")
        if not 0 <= dropout < 1:
            raise UsageError(f"dropout is {dropout}; it must be at least 0 and below 1")
        if pairs_at_once < 1:
            raise UsageError(f"pairs_at_once is {pairs_at_once}; it must be 1 or more")
        self.vocabulary: Vocabulary = saved.vocabulary
        self.attention, self.pairs_at_once = attention, pairs_at_once
        self.pair = FrozenPair(saved)
        self.dropout = nn.Dropout(dropout)

    @classmethod
    def load(
        cls,
        path_or_name: str | os.PathLike[str] | None = None,
        *,
        dropout: float = 0.15,
        attention: Attention = "kept",
    ) -> Self:
        """From a folder, a bundled model's name, or ``owner/name`` on the hub."""
        return cls(load_model(find_model(path_or_name)), dropout=dropout, attention=attention)

    @property
    def dimension(self) -> int:
        """Of the result, 2D."""
        return 2 * self.pair.words.shape[1]

    def ids(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """Words as ids (B, n), on the layer's device; 0 for unknown words and behind short ones.

        A word is spelled as ``pair2vec prepare`` spells it, in lower case for one; what that takes
        for several words, or for none, is unknown.
        """
        for sentence in sentences:
            if isinstance(sentence, str):
                raise UsageError(f"{sentence!r} is a string; give a list of its words")
        longest = max(map(len, sentences), default=0)
        rows = [
            [*map(self._id, sentence), *[PADDING] * (longest - len(sentence))]
            for sentence in sentences
        ]
        numbers = torch.tensor(rows, dtype=torch.long, device=self.pair.words.device)
        return numbers.reshape(len(rows), longest)

    def forward(self, a_ids: Tensor, b_ids: Tensor, attention_ab: Tensor) -> Tensor:
        """What pair vectors say of each word of a, its r: (B, n, 2D).

        Args:
            a_ids: (B, n), as `ids` makes them.
            b_ids: (B, m)
            attention_ab: (B, n, m), of the words of a to those of b.

        Raises:
            UsageError: shapes do not fit each other, or an id is not one of the model's.
        """
        pairs = self._pairs(a_ids, b_ids)
        weights = self._weights(a_ids, b_ids, attention_ab, "ab")
        dropped: Tensor = self.dropout(pool_pairs(pairs, weights))
        return dropped

    def both(
        self, a_ids: Tensor, b_ids: Tensor, attention_ab: Tensor, attention_ba: Tensor
    ) -> BothSides:
        """Both sides from the same pair vectors.

        The same as two calls, the second with everything exchanged: `attention_ba` is (B, m, n).
        """
        pairs = self._pairs(a_ids, b_ids)
        weights_ab = self._weights(a_ids, b_ids, attention_ab, "ab")
        weights_ba = self._weights(b_ids, a_ids, attention_ba, "ba")
        side_a, side_b = pool_both_sides(pairs, weights_ab, weights_ba)
        return BothSides(self.dropout(side_a), self.dropout(side_b))

    def extra_repr(self) -> str:
        """What torch prints of it."""
        return f"words={len(self.vocabulary)}, attention={self.attention!r}"

    def _id(self, word: str) -> int:
        tokens = tokenize(word)
        return self.vocabulary.ids.get(tokens[0], PADDING) if len(tokens) == 1 else PADDING

    def _pairs(self, a_ids: Tensor, b_ids: Tensor) -> PairTiles:
        """Those of two sequences, by the parts of their distinct words."""
        for name, ids in (("a_ids", a_ids), ("b_ids", b_ids)):
            if ids.dim() != 2 or ids.is_floating_point():
                raise UsageError(
                    f"{name} is {ids.dtype} of shape {tuple(ids.shape)}; it must be whole numbers "
                    "(batch, words), as `ids` makes them"
                )
        both = torch.cat([a_ids.flatten(), b_ids.flatten()])
        distinct, rows = torch.unique(both, sorted=True, return_inverse=True)
        self._check_range(distinct)
        a, b = rows.split([a_ids.numel(), b_ids.numel()])
        parts = self.pair.word_parts(distinct)
        a, b = a.view(a_ids.shape), b.view(b_ids.shape)
        return PairTiles(self.pair.encoder, parts, a, b, self.pairs_at_once)

    def _check_range(self, distinct: Tensor) -> None:
        if not len(distinct):
            return
        least, most = int(distinct[0]), int(distinct[-1])
        if least < 0 or most >= len(self.vocabulary):
            raise UsageError(
                f"id {least if least < 0 else most} is not one of the model's, which go from 0 to "
                f"{len(self.vocabulary) - 1:,}; make ids with `ids`, not with another tokeniser"
            )

    def _weights(self, a_ids: Tensor, b_ids: Tensor, attention: Tensor, sides: str) -> Tensor:
        """The attention to known words by known words, (B, n, m)."""
        wanted = (*a_ids.shape, b_ids.shape[1])
        fits = len(a_ids) == len(b_ids) and attention.shape == wanted
        if not fits or not attention.is_floating_point():
            raise UsageError(
                f"attention_{sides} is {attention.dtype} of shape {tuple(attention.shape)} where "
                f"the ids have {tuple(a_ids.shape)} and {tuple(b_ids.shape)}; it must be floats "
                f"(batch, words of {sides[0]}, words of {sides[1]})"
            )
        is_known = _are_words(a_ids)[:, :, None] & _are_words(b_ids)[:, None, :]
        # Filled, not multiplied: a base model's row without any word to attend to may be NaN.
        weights = attention.masked_fill(~is_known, 0)
        if self.attention == "kept":
            return weights
        smallest = max(_SMALLEST_SHARE, torch.finfo(weights.dtype).tiny)
        return weights / weights.sum(dim=-1, keepdim=True).clamp_min(smallest)


def _are_words(ids: Tensor) -> Tensor:
    """Which are words: not padding, and not the other tokens that stand for none."""
    return ids >= len(SPECIAL_TOKENS)

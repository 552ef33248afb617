"""Pair vectors under a network's own attention: what pair2vec adds to a model of two sequences.

Shapes: B batch, n and m words of the sequences a and b, D dimension of R.
"""

import math
import os
from collections.abc import Sequence
from typing import Literal, Self, get_args

import torch
from torch import Tensor, nn

from pair2vec.errors import UsageError
from pair2vec.injection.frozen_pair import FrozenPair, PairWeights, whitened_weights
from pair2vec.injection.pooling import PairTiles, pool_both_sides, pool_in_one, pool_pairs
from pair2vec.injection.sources import (
    AttendedRelations,
    check_dropout,
    check_inputs,
    check_range,
    padded_ids,
)
from pair2vec.model.folder import load_model
from pair2vec.model.resolve import find_model
from pair2vec.text.vocabulary import PADDING, SPECIAL_TOKENS, Vocabulary, find_word

AttentionMode = Literal["kept", "renormalised"]
"""The attention to words that are unknown or padding: it is lost, α being used as it is (the
paper); or α is renormalised over the known words (the released code)."""

_CPU_TILE = 8192
"""Pairs at once: the vectors of a tile take some ten megabytes, and stay in the cache."""

_GPU_TILE = 131_072
"""Some hundred megabytes; with less a GPU waits for the CPU to launch the next tile."""

_MAX_CACHED_IDS = 1 << 20
"""Spellings whose ids are cached: all of a data set, but not all that a service ever sees."""

_SMALLEST_SUM = 1e-13
"""A row of attention with less than this on known words is not renormalised."""


class PairAttention(nn.Module):
    """r_i = Σ_j α_ij [R̂(a_i, b_j); R̂(b_j, a_i)] (`eq:bi-relemb`, `eq:wordpair_attn`).

    R̂ is R with unit norm. R is a frozen copy: no parameters, no gradient; it moves with the module,
    and is saved with it only if it is to be. The pairs of a word that is unknown or padding are
    zero.
    """

    def __init__(
        self,
        saved: PairWeights,
        *,
        dropout: float = 0.15,
        attention: AttentionMode = "kept",
        sharpness: float = 1.0,
        pairs_at_once: int = 0,
        keep_parts: bool = False,
        persistent: bool = False,
    ) -> None:
        """Copy R out of a model.

        Args:
            saved: The model, opened with `load_model`.
            dropout: Of the result, in training.
            attention: To unknown words: "kept" or "renormalised".
            sharpness: The power of α, whose rows are then renormalised; above 1, r_i is of fewer
                words than α is (in the limit, of the most attended alone); 1 is the paper's.
            pairs_at_once: The most pairs whose vectors are in memory at a time; 0 is what suits
                the device.
            keep_parts: Compute what depends on one word once for all words of the model, not for
                the words of each batch. It takes four times the memory of the words, and needs no
                synchronisation with a GPU for the number of words in a batch: the layer can be
                captured in a CUDA graph. Under torch.compile it changes nothing.
            persistent: Have R in `state_dict`, 82 MB of the bundled model. Otherwise the layer is
                made of the same model before a state is loaded; one that has R is loaded too.
        """
        super().__init__()
        if attention not in get_args(AttentionMode):
            known = ", ".join(get_args(AttentionMode))
            raise UsageError(f"attention is {attention!r}; it must be one of {known}")
        if not 0 < sharpness < math.inf:
            raise UsageError(f"sharpness is {sharpness}; it must be above 0, and 1 changes nothing")
        if pairs_at_once < 0:
            raise UsageError(f"pairs_at_once is {pairs_at_once}; it must be 1 or more, or 0")
        self.vocabulary: Vocabulary = saved.vocabulary
        self._cached_ids: dict[str, int] = {}
        self.attention, self.sharpness = attention, sharpness
        self.pairs_at_once, self.keep_parts = pairs_at_once, keep_parts
        self.pair = FrozenPair(saved, persistent=persistent)
        self.dropout = nn.Dropout(check_dropout(dropout))

    @classmethod
    def load(
        cls,
        path_or_name: str | os.PathLike[str] | None = None,
        *,
        dropout: float = 0.15,
        attention: AttentionMode = "kept",
        sharpness: float = 1.0,
        whitening: float = 0.0,
        persistent: bool = False,
    ) -> Self:
        """From a folder, a bundled model's name, or ``owner/name`` on the hub.

        `whitening`, from 0 (the paper) to 1, is how much R is whitened (`whitened_weights`).
        """
        saved = whitened_weights(load_model(find_model(path_or_name)), whitening)
        return cls(
            saved,
            dropout=dropout,
            attention=attention,
            sharpness=sharpness,
            persistent=persistent,
        )

    @property
    def dimension(self) -> int:
        """Of the result, 2D."""
        return 2 * self.pair.dimension

    def ids(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """Words as ids (B, n), on the layer's device; 0 for unknown words and behind short ones.

        Words are tokenised as by ``pair2vec prepare``, which lowercases them; what is neither one
        token nor a phrase of the vocabulary is unknown.

        Raises:
            UsageError: a sentence is not split into words.
        """
        return padded_ids(sentences, self._id, self.pair.words.device)

    def forward(self, a_ids: Tensor, b_ids: Tensor, attention_ab: Tensor) -> Tensor:
        """R of each word of a: (B, n, 2D).

        Args:
            a_ids: (B, n), as `ids` returns them.
            b_ids: (B, m)
            attention_ab: (B, n, m), of the words of a to those of b.

        Raises:
            UsageError: shapes do not fit each other, or an id is not one of the model's.
        """
        check_inputs(a_ids, b_ids, attention_ab)
        weights = self._weights(a_ids, b_ids, attention_ab)
        if torch.compiler.is_compiling():
            side_a, _ = self._in_one(a_ids, b_ids, weights, None)
        else:
            side_a = pool_pairs(self._pairs(a_ids, b_ids), weights)
        dropped: Tensor = self.dropout(side_a)
        return dropped

    def both(
        self, a_ids: Tensor, b_ids: Tensor, attention_ab: Tensor, attention_ba: Tensor
    ) -> AttendedRelations:
        """R of both sides from the same pair vectors.

        The same as two calls, the second with a and b swapped: `attention_ba` is (B, m, n).
        """
        check_inputs(a_ids, b_ids, attention_ab, attention_ba)
        weights_ab = self._weights(a_ids, b_ids, attention_ab)
        weights_ba = self._weights(b_ids, a_ids, attention_ba)
        if torch.compiler.is_compiling():
            side_a, side_b = self._in_one(a_ids, b_ids, weights_ab, weights_ba)
            assert side_b is not None
        else:
            side_a, side_b = pool_both_sides(self._pairs(a_ids, b_ids), weights_ab, weights_ba)
        return AttendedRelations(self.dropout(side_a), self.dropout(side_b))

    def extra_repr(self) -> str:
        return f"words={len(self.vocabulary)}, attention={self.attention!r}"

    def _id(self, word: str) -> int:
        word_id = self._cached_ids.get(word)
        if word_id is None:
            if len(self._cached_ids) >= _MAX_CACHED_IDS:
                self._cached_ids.clear()
            # Tokenising a word takes several times as long as looking up its id.
            found = find_word(word, self.vocabulary)
            if found is None and len(word.split()) > 1:
                raise UsageError(
                    f"{word!r} is neither a word nor a phrase of the model; give a sentence as a "
                    f"list of its words: ids([{word!r}.split()])"
                )
            word_id = PADDING if found is None else found
            self._cached_ids[word] = word_id
        return word_id

    def _pairs(self, a_ids: Tensor, b_ids: Tensor) -> PairTiles:
        """The pairs of two sequences, by the parts of all words or of their own."""
        at_once = self.pairs_at_once or pairs_at_once_on(a_ids.device)
        both = torch.cat([a_ids.flatten(), b_ids.flatten()])
        if self.keep_parts:
            check_range(len(self.vocabulary), both)
            return PairTiles(self.pair.prepared(), a_ids, b_ids, at_once)
        distinct, rows = torch.unique(both, sorted=True, return_inverse=True)
        check_range(len(self.vocabulary), distinct)
        a, b = rows.split([a_ids.numel(), b_ids.numel()])
        a, b = a.view(a_ids.shape), b.view(b_ids.shape)
        return PairTiles(self.pair.prepared_for(distinct), a, b, at_once)

    def _in_one(
        self, a_ids: Tensor, b_ids: Tensor, alpha: Tensor, beta: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        """The sums while torch.compile traces them.

        Ids are not checked, which would wait for them, and distinct words not looked for, of which
        a graph has no fixed number.
        """
        parts_a, parts_b = self.pair.parts(a_ids), self.pair.parts(b_ids)
        return pool_in_one(self.pair.encoder, parts_a, parts_b, alpha, beta)

    def _weights(self, a_ids: Tensor, b_ids: Tensor, attention: Tensor) -> Tensor:
        """The attention of known words to known words, (B, n, m)."""
        is_known = _are_words(a_ids)[:, :, None] & _are_words(b_ids)[:, None, :]
        # Filled, not multiplied: a base model's row without any word to attend to may be NaN.
        weights = sharpened(attention, self.sharpness).masked_fill(~is_known, 0)
        return weights if self.attention == "kept" else _renormalised(weights)


def sharpened(attention: Tensor, sharpness: float) -> Tensor:
    """α_ij^s / Σ_k α_ik^s, (B, n, m): if α is a softmax, that of s times the scores."""
    if sharpness == 1 or not attention.numel():
        return attention
    # Relative to the largest: powers of many small weights could all underflow.
    largest = attention.detach().amax(dim=-1, keepdim=True).clamp_min(_smallest_sum(attention))
    return _renormalised((attention / largest) ** sharpness)


def _renormalised(weights: Tensor) -> Tensor:
    """Rows that sum to one, or to less where there is next to nothing to divide by."""
    return weights / weights.sum(dim=-1, keepdim=True).clamp_min(_smallest_sum(weights))


def _smallest_sum(weights: Tensor) -> float:
    return max(_SMALLEST_SUM, torch.finfo(weights.dtype).tiny)


def pairs_at_once_on(device: torch.device) -> int:
    """The tile that suits a device."""
    return _CPU_TILE if device.type == "cpu" else _GPU_TILE


def _are_words(ids: Tensor) -> Tensor:
    """Which are words: neither padding nor another special token."""
    return ids >= len(SPECIAL_TOKENS)

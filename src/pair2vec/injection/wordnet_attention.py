"""WordNet's relations under a model's own attention: what KIM adds to a model of two sequences.

Shapes: B batch, n and m words of the sequences a and b, K related pairs, F = 5 relations.
"""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

from pair2vec.injection.sources import (
    PADDING,
    AttendedRelations,
    check_attention,
    check_dropout,
    check_ids,
    check_range,
    padded_ids,
)
from pair2vec.wordnet.dictionary import WordNet
from pair2vec.wordnet.related_words import related_words
from pair2vec.wordnet.relations import WORDNET_RELATIONS

_EXCHANGED = [
    WORDNET_RELATIONS.index({"hypernymy": "hyponymy", "hyponymy": "hypernymy"}.get(name, name))
    for name in WORDNET_RELATIONS
]
"""Where f(b_j, a_i) has what f(a_i, b_j) has: what is above x has x below it."""


class WordNetAttention(nn.Module):
    """r_i = Σ_j α_ij f(a_i, b_j), f the five relations (Chen et al., ACL 2018: local inference).

    It knows the relations among the words it was made for, and no others. There is nothing to train
    and nothing to save: a model that is loaded is given one made for the words at hand.
    """

    keys: Tensor
    """(K,) first · words + second, ascending."""
    features: Tensor
    """(K + 1, F); the last row is that of an unrelated pair."""
    exchanged: Tensor
    """(K + 1, F), as seen from the second word."""

    def __init__(self, wordnet: WordNet, words: Iterable[str], *, dropout: float = 0.0) -> None:
        """Look up all relations among some words.

        Args:
            wordnet: Where to look.
            words: As spelled in the text, in any case; those WordNet does not have are unknown.
            dropout: Of the result, while training.
        """
        super().__init__()
        self.dropout = nn.Dropout(check_dropout(dropout))
        found = related_words(wordnet, words)
        self._numbers = found.numbers
        self._size = 1 + max(found.numbers.values(), default=PADDING)
        keys = torch.from_numpy(found.first * self._size + found.second)
        features = nn.functional.pad(torch.from_numpy(found.features), (0, 0, 0, 1))
        self.register_buffer("keys", keys, persistent=False)
        self.register_buffer("features", features, persistent=False)
        self.register_buffer("exchanged", features[:, _EXCHANGED], persistent=False)

    @property
    def dimension(self) -> int:
        """Of the result, F."""
        return len(WORDNET_RELATIONS)

    def ids(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """Words as ids (B, n), on the layer's device.

        0 for words that WordNet does not have or the layer was not made for, and behind short
        sentences. Words with the same base forms have the same id.
        """
        return padded_ids(sentences, self._id, self.keys.device)

    def forward(self, a_ids: Tensor, b_ids: Tensor, attention_ab: Tensor) -> Tensor:
        """What WordNet says of each word of a alone, as in `both`: (B, n, F)."""
        check_ids(a_ids, b_ids)
        check_attention(a_ids, b_ids, attention_ab, "ab")
        side_a = _pooled(attention_ab, self._rows(a_ids, b_ids), self.features)
        dropped: Tensor = self.dropout(side_a)
        return dropped

    def both(
        self, a_ids: Tensor, b_ids: Tensor, attention_ab: Tensor, attention_ba: Tensor
    ) -> AttendedRelations:
        """What WordNet says of each word by those it attends to: (B, n, F) and (B, m, F).

        Args:
            a_ids: (B, n), as `ids` makes them.
            b_ids: (B, m)
            attention_ab: (B, n, m), of the words of a to those of b.
            attention_ba: (B, m, n), of the words of b to those of a.

        Raises:
            UsageError: shapes do not fit each other, or an id is not one of the layer's.
        """
        check_ids(a_ids, b_ids)
        check_attention(a_ids, b_ids, attention_ab, "ab")
        check_attention(b_ids, a_ids, attention_ba, "ba")
        rows = self._rows(a_ids, b_ids)
        side_a = _pooled(attention_ab, rows, self.features)
        side_b = _pooled(attention_ba, rows.mT, self.exchanged)
        return AttendedRelations(self.dropout(side_a), self.dropout(side_b))

    def extra_repr(self) -> str:
        """What torch prints of it."""
        return f"words={len(self._numbers)}, pairs={len(self.keys)}"

    def _id(self, word: str) -> int:
        return self._numbers.get(word.lower(), PADDING)

    def _rows(self, a_ids: Tensor, b_ids: Tensor) -> Tensor:
        """Which row of the features is that of each pair, (B, n, m)."""
        for ids in (a_ids, b_ids):
            check_range(ids, self._size)
        unrelated = len(self.keys)
        wanted = a_ids[:, :, None].long() * self._size + b_ids[:, None, :]
        if not unrelated:
            return torch.zeros_like(wanted)
        rows = torch.searchsorted(self.keys, wanted)
        # None is beyond the last key, which is that of the last word with itself.
        return rows.where(self.keys[rows] == wanted, unrelated)


def _pooled(attention: Tensor, rows: Tensor, features: Tensor) -> Tensor:
    """Σ_j α_ij f_ij, (B, n, F), in the precision of the attention."""
    # Filled, not multiplied: a base model's row without any word to attend to may be NaN.
    weights = attention.masked_fill(rows == len(features) - 1, 0)
    return torch.einsum("bij,bijf->bif", weights, features[rows].to(attention.dtype))

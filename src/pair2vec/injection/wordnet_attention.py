"""WordNet's relations under a network's attention: the relation features of KIM.

Shapes: B batch, n and m words of the sequences a and b, K related pairs, F = 5 relations.
"""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

from pair2vec.injection.sources import (
    AttendedRelations,
    check_dropout,
    check_ids,
    check_inputs,
    check_range,
    padded_ids,
)
from pair2vec.text.vocabulary import PADDING
from pair2vec.wordnet.dictionary import WordNet
from pair2vec.wordnet.related_words import related_words
from pair2vec.wordnet.relations import WORDNET_RELATIONS

_INVERSE = [
    WORDNET_RELATIONS.index({"hypernymy": "hyponymy", "hyponymy": "hypernymy"}.get(name, name))
    for name in WORDNET_RELATIONS
]
"""The column of f(a_i, b_j) for each of f(b_j, a_i): hypernymy and hyponymy swapped."""


class WordNetAttention(nn.Module):
    """r_i = Σ_j α_ij f(a_i, b_j), f the five relations (Chen et al., ACL 2018: local inference).

    It knows the relations among the words it is made for, and no others. There is nothing to train
    and nothing to save: a loaded network gets a layer made for the words of its data.
    """

    keys: Tensor
    """(K,) first · words + second, ascending."""
    features: Tensor
    """(K + 1, F); the last row is that of an unrelated pair."""
    inverse_features: Tensor
    """(K + 1, F), from the second word to the first."""

    def __init__(self, wordnet: WordNet, words: Iterable[str], *, dropout: float = 0.0) -> None:
        """Look up all relations among some words.

        Args:
            wordnet: Where to look.
            words: As spelled in the text, in any case; those WordNet does not have are unknown.
            dropout: Of the result, in training.
        """
        super().__init__()
        self.dropout = nn.Dropout(check_dropout(dropout))
        related = related_words(wordnet, words)
        self._word_ids = related.ids
        self._size = 1 + max(related.ids.values(), default=PADDING)
        keys = torch.from_numpy(related.first * self._size + related.second)
        features = nn.functional.pad(torch.from_numpy(related.features), (0, 0, 0, 1))
        self.register_buffer("keys", keys, persistent=False)
        self.register_buffer("features", features, persistent=False)
        self.register_buffer("inverse_features", features[:, _INVERSE], persistent=False)

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
        """The features of the words of a alone, as in `both`: (B, n, F)."""
        check_inputs(a_ids, b_ids, attention_ab)
        side_a = _pooled(attention_ab, self._rows(a_ids, b_ids), self.features)
        dropped: Tensor = self.dropout(side_a)
        return dropped

    def both(
        self, a_ids: Tensor, b_ids: Tensor, attention_ab: Tensor, attention_ba: Tensor
    ) -> AttendedRelations:
        """The features of each word by those it attends to: (B, n, F) and (B, m, F).

        Args:
            a_ids: (B, n), as `ids` returns them.
            b_ids: (B, m)
            attention_ab: (B, n, m), of the words of a to those of b.
            attention_ba: (B, m, n), of the words of b to those of a.

        Raises:
            UsageError: shapes do not fit each other, or an id is not one of the layer's.
        """
        check_inputs(a_ids, b_ids, attention_ab, attention_ba)
        rows = self._rows(a_ids, b_ids)
        side_a = _pooled(attention_ab, rows, self.features)
        side_b = _pooled(attention_ba, rows.mT, self.inverse_features)
        return AttendedRelations(self.dropout(side_a), self.dropout(side_b))

    def related(self, a_ids: Tensor, b_ids: Tensor) -> Tensor:
        """Whether any of the relations holds between a word of a and one of b: (B, n, m)."""
        check_ids(a_ids, b_ids)
        return self._rows(a_ids, b_ids) != len(self.keys)

    def extra_repr(self) -> str:
        return f"words={len(self._word_ids)}, pairs={len(self.keys)}"

    def _id(self, word: str) -> int:
        return self._word_ids.get(word.lower(), PADDING)

    def _rows(self, a_ids: Tensor, b_ids: Tensor) -> Tensor:
        """The row of each pair in the features, (B, n, m)."""
        check_range(self._size, a_ids, b_ids)
        unrelated = len(self.keys)
        keys = a_ids[:, :, None].long() * self._size + b_ids[:, None, :]
        if not unrelated:
            return torch.zeros_like(keys)
        rows = torch.searchsorted(self.keys, keys)
        # None is beyond the last key, which is that of the last word with itself.
        return rows.where(self.keys[rows] == keys, unrelated)


def _pooled(attention: Tensor, rows: Tensor, features: Tensor) -> Tensor:
    """Σ_j α_ij f_ij, (B, n, F), in the precision of the attention."""
    # Filled, not multiplied: a base model's row without any word to attend to may be NaN.
    weights = attention.masked_fill(rows == len(features) - 1, 0)
    return torch.einsum("bij,bijf->bif", weights, features[rows].to(attention.dtype))

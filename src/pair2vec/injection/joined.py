"""Several sources of relations as one: what each says of a word, side by side.

Shapes: B batch, n and m words of the sequences a and b, S sources, V distinct words.
"""

from collections.abc import Iterable, Sequence
from typing import cast

import torch
from torch import Tensor, nn

from pair2vec.errors import UsageError
from pair2vec.injection.relation_source import BothSides, RelationSource
from pair2vec.injection.word_ids import PADDING, check_ids, check_range, padded_ids


class JoinedSources(nn.Module):
    """r_i = [r_i of the first source; r_i of the second; …].

    It knows the words it was made for, and no others.
    """

    own_ids: Tensor
    """(V, S), each source's id of a word; those of padding first."""

    def __init__(self, sources: Sequence[RelationSource], words: Iterable[str]) -> None:
        """Put sources side by side.

        Args:
            sources: Each keeps ids of its own.
            words: As spelled in the text; each is looked up in every source.

        Raises:
            UsageError: there is no source.
        """
        super().__init__()
        if not sources:
            raise UsageError("sources is empty; give at least one, such as NoPairs()")
        self.parts = nn.ModuleList(cast("Sequence[nn.Module]", sources))
        distinct = list(dict.fromkeys(words))
        found = [source.ids([[word] for word in distinct]) for source in sources]
        rows = torch.cat([ids.cpu().reshape(-1, 1) for ids in found], dim=1).tolist()
        # Spellings that no source tells apart share a number.
        number_of = {(PADDING,) * len(sources): PADDING}
        self._numbers = {
            word: number_of.setdefault(tuple(ids), len(number_of))
            for word, ids in zip(distinct, rows, strict=True)
        }
        own_ids = torch.tensor(list(number_of), dtype=torch.long)
        self.register_buffer("own_ids", own_ids, persistent=False)

    @property
    def dimension(self) -> int:
        """Of the result: those of all sources together."""
        return sum(source.dimension for source in self._sources)

    def ids(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """Words as ids (B, n), on the module's device; 0 if unknown, and behind short sentences."""
        return padded_ids(sentences, self._id, self.own_ids.device)

    def forward(self, a_ids: Tensor, b_ids: Tensor, attention_ab: Tensor) -> Tensor:
        """What all sources say of the words of a, by their attention: (B, n, dimension)."""
        ids = zip(self._split(a_ids, b_ids), self._sources, strict=True)
        return torch.cat([source(a, b, attention_ab) for (a, b), source in ids], dim=-1)

    def both(
        self, a_ids: Tensor, b_ids: Tensor, attention_ab: Tensor, attention_ba: Tensor
    ) -> BothSides:
        """What all sources say of both sides, by attention (B, n, m) and (B, m, n)."""
        ids = zip(self._split(a_ids, b_ids), self._sources, strict=True)
        found = [source.both(a, b, attention_ab, attention_ba) for (a, b), source in ids]
        return BothSides(*(torch.cat(side, dim=-1) for side in zip(*found, strict=True)))

    @property
    def _sources(self) -> Sequence[RelationSource]:
        return cast("Sequence[RelationSource]", self.parts)

    def _id(self, word: str) -> int:
        return self._numbers.get(word, PADDING)

    def _split(self, a_ids: Tensor, b_ids: Tensor) -> list[tuple[Tensor, Tensor]]:
        """The ids of both sequences by each source."""
        check_ids(a_ids, b_ids)
        for ids in (a_ids, b_ids):
            check_range(ids, len(self.own_ids))
        a, b = (self.own_ids[ids.long()].unbind(dim=-1) for ids in (a_ids, b_ids))
        return list(zip(a, b, strict=True))

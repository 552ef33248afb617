"""Words of two batches of sentences as ids, and the attention between them: made, and checked.

Shapes: B batch, n and m words of the sequences a and b.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol, cast

import torch
from torch import Tensor, nn

from pair2vec.errors import UsageError

PADDING = 0
"""The id behind the end of a short sentence, and of an unknown word."""


def padded_ids(
    sentences: Sequence[Sequence[str]], id_of: Callable[[str], int], device: torch.device
) -> Tensor:
    """Words as ids (B, n).

    Raises:
        UsageError: a sentence is a string, not its words.
    """
    for sentence in sentences:
        if isinstance(sentence, str):
            raise UsageError(f"{sentence!r} is a string; give a list of its words")
    longest = max(map(len, sentences), default=0)
    rows = [
        [*map(id_of, sentence), *[PADDING] * (longest - len(sentence))] for sentence in sentences
    ]
    numbers = torch.tensor(rows, dtype=torch.long, device=device)
    return numbers.reshape(len(rows), longest)


def check_ids(a_ids: Tensor, b_ids: Tensor) -> None:
    """Refuse what cannot be ids of words.

    Raises:
        UsageError: they are not whole numbers, or not of a batch of sentences.
    """
    for name, ids in (("a_ids", a_ids), ("b_ids", b_ids)):
        if ids.dim() != 2 or ids.is_floating_point():
            raise UsageError(
                f"{name} is {ids.dtype} of shape {tuple(ids.shape)}; it must be whole numbers "
                "(batch, words), as `ids` makes them"
            )


def check_range(ids: Tensor, size: int) -> None:
    """Refuse ids that are none of the layer's `size`; unseen while a GPU records what it is told.

    Raises:
        UsageError: one is negative, or too large.
    """
    if not ids.numel() or (ids.is_cuda and torch.cuda.is_current_stream_capturing()):
        return
    least, most = (int(number) for number in torch.aminmax(ids))
    if least < 0 or most >= size:
        raise UsageError(
            f"id {least if least < 0 else most} is not one of the model's, which go from 0 to "
            f"{size - 1:,}; make ids with `ids`, not with another tokeniser"
        )


def check_attention(a_ids: Tensor, b_ids: Tensor, attention: Tensor, sides: str) -> None:
    """Refuse attention that is not from each word of a to each of b, (B, n, m).

    Raises:
        UsageError: its shape is another, or it is not of floats.
    """
    fits = len(a_ids) == len(b_ids) and attention.shape == (*a_ids.shape, b_ids.shape[1])
    if not fits or not attention.is_floating_point():
        raise UsageError(
            f"attention_{sides} is {attention.dtype} of shape {tuple(attention.shape)} where "
            f"the ids have {tuple(a_ids.shape)} and {tuple(b_ids.shape)}; it must be floats "
            f"(batch, words of {sides[0]}, words of {sides[1]})"
        )


def check_dropout(dropout: float) -> float:
    """The same, if it is a share of the result that can be dropped.

    Raises:
        UsageError: it is not.
    """
    if not 0 <= dropout < 1:
        raise UsageError(f"dropout is {dropout}; it must be at least 0 and below 1")
    return dropout


# == What a model of two sequences asks about the relations between their words, whoever knows it.
#
# Shapes: B batch, n and m words of the sequences a and b.


class AttendedRelations(NamedTuple):
    """What is known of each word of a and of each of b, by the words it attends to."""

    a: Tensor
    """(B, n, dimension)"""
    b: Tensor
    """(B, m, dimension)"""


class RelationSource(Protocol):
    """A module that knows relations between words; they are summed under a model's attention."""

    @property
    def dimension(self) -> int:
        """Of what it says of a word; 0 if it says nothing."""

    def ids(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """Words as ids (B, n), on the module's device; 0 if unknown, and behind short sentences."""

    def __call__(self, a_ids: Tensor, b_ids: Tensor, attention_ab: Tensor) -> Tensor:
        """What is known of the words of a, by their attention (B, n, m): (B, n, dimension)."""

    def both(
        self, a_ids: Tensor, b_ids: Tensor, attention_ab: Tensor, attention_ba: Tensor
    ) -> AttendedRelations:
        """What is known of both sides, by attention (B, n, m) and (B, m, n)."""


# == Nothing known of any pair of words: the base model's place for relations, left empty.


class EmptySource(nn.Module):
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
    ) -> AttendedRelations:
        """Of both sides nothing: (B, n, 0) and (B, m, 0)."""
        check_ids(a_ids, b_ids)
        check_attention(a_ids, b_ids, attention_ab, "ab")
        check_attention(b_ids, a_ids, attention_ba, "ba")
        return AttendedRelations(
            attention_ab.new_empty(*a_ids.shape, 0), attention_ba.new_empty(*b_ids.shape, 0)
        )


# == Several sources of relations as one: what each says of a word, side by side.
#
# Shapes: B batch, n and m words of the sequences a and b, S sources, V distinct words.


class ConcatenatedSources(nn.Module):
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
    ) -> AttendedRelations:
        """What all sources say of both sides, by attention (B, n, m) and (B, m, n)."""
        ids = zip(self._split(a_ids, b_ids), self._sources, strict=True)
        found = [source.both(a, b, attention_ab, attention_ba) for (a, b), source in ids]
        return AttendedRelations(*(torch.cat(side, dim=-1) for side in zip(*found, strict=True)))

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

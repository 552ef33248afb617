"""Sources of relations between the words of two sequences, for a network that attends between them.

Shapes: B batch, n and m words of the sequences a and b, S sources, V distinct words.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol, cast

import torch
from torch import Tensor, nn

from pair2vec.errors import UsageError
from pair2vec.text.vocabulary import PADDING


class AttendedRelations(NamedTuple):
    """Features of each word of a and of b, summed over the words it attends to."""

    a: Tensor
    """(B, n, dimension)"""
    b: Tensor
    """(B, m, dimension)"""


class RelationSource(Protocol):
    """A module with features of word pairs, which it sums under a network's attention."""

    @property
    def dimension(self) -> int:
        """Of a word's features; 0 if there are none."""

    def ids(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """Words as ids (B, n), on the module's device; 0 if unknown, and behind short sentences."""

    def __call__(self, a_ids: Tensor, b_ids: Tensor, attention_ab: Tensor) -> Tensor:
        """The features of the words of a, by their attention (B, n, m): (B, n, dimension)."""

    def both(
        self, a_ids: Tensor, b_ids: Tensor, attention_ab: Tensor, attention_ba: Tensor
    ) -> AttendedRelations:
        """The features of both sides, by attention (B, n, m) and (B, m, n)."""


class EmptySource(nn.Module):
    """A source of dimension 0, so that a network without relations needs no branch."""

    nothing: Tensor
    """(0,), to have the module's device."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("nothing", torch.empty(0), persistent=False)

    @property
    def dimension(self) -> int:
        return 0

    def ids(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """Zeros (B, n): every word is unknown."""
        return padded_ids(sentences, lambda _: PADDING, self.nothing.device)

    def forward(self, a_ids: Tensor, b_ids: Tensor, attention_ab: Tensor) -> Tensor:
        check_inputs(a_ids, b_ids, attention_ab)
        return attention_ab.new_empty(*a_ids.shape, 0)

    def both(
        self, a_ids: Tensor, b_ids: Tensor, attention_ab: Tensor, attention_ba: Tensor
    ) -> AttendedRelations:
        check_inputs(a_ids, b_ids, attention_ab, attention_ba)
        return AttendedRelations(
            attention_ab.new_empty(*a_ids.shape, 0), attention_ba.new_empty(*b_ids.shape, 0)
        )


class ConcatenatedSources(nn.Module):
    """r_i = [r_i of the first source; r_i of the second; …].

    It knows the words it is made for, and no others.
    """

    own_ids: Tensor
    """(V, S), each source's id of a word; those of padding first."""

    def __init__(self, sources: Sequence[RelationSource], words: Iterable[str]) -> None:
        """Put sources side by side.

        Args:
            sources: Each has ids of its own.
            words: As spelled in the text; each is looked up in every source.

        Raises:
            UsageError: there is no source.
        """
        super().__init__()
        if not sources:
            raise UsageError("sources is empty; give at least one, such as EmptySource()")
        self.parts = nn.ModuleList(cast("Sequence[nn.Module]", sources))
        distinct = list(dict.fromkeys(words))
        columns = [source.ids([[word] for word in distinct]) for source in sources]
        rows = torch.cat([ids.cpu().reshape(-1, 1) for ids in columns], dim=1).tolist()
        # Spellings that no source distinguishes share an id.
        id_of_row = {(PADDING,) * len(sources): PADDING}
        self._word_ids = {
            word: id_of_row.setdefault(tuple(row), len(id_of_row))
            for word, row in zip(distinct, rows, strict=True)
        }
        own_ids = torch.tensor(list(id_of_row), dtype=torch.long)
        self.register_buffer("own_ids", own_ids, persistent=False)

    @property
    def dimension(self) -> int:
        """The sum of those of the sources."""
        return sum(source.dimension for source in self._sources)

    def ids(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        return padded_ids(
            sentences, lambda word: self._word_ids.get(word, PADDING), self.own_ids.device
        )

    def forward(self, a_ids: Tensor, b_ids: Tensor, attention_ab: Tensor) -> Tensor:
        ids = zip(self._split(a_ids, b_ids), self._sources, strict=True)
        return torch.cat([source(a, b, attention_ab) for (a, b), source in ids], dim=-1)

    def both(
        self, a_ids: Tensor, b_ids: Tensor, attention_ab: Tensor, attention_ba: Tensor
    ) -> AttendedRelations:
        ids = zip(self._split(a_ids, b_ids), self._sources, strict=True)
        parts = [source.both(a, b, attention_ab, attention_ba) for (a, b), source in ids]
        return AttendedRelations(*(torch.cat(side, dim=-1) for side in zip(*parts, strict=True)))

    @property
    def _sources(self) -> Sequence[RelationSource]:
        return cast("Sequence[RelationSource]", self.parts)

    def _split(self, a_ids: Tensor, b_ids: Tensor) -> list[tuple[Tensor, Tensor]]:
        """The ids of both sequences for each source."""
        check_ids(a_ids, b_ids)
        check_range(len(self.own_ids), a_ids, b_ids)
        a, b = (self.own_ids[ids.long()].unbind(dim=-1) for ids in (a_ids, b_ids))
        return list(zip(a, b, strict=True))


def padded_ids(
    sentences: Sequence[Sequence[str]], id_of: Callable[[str], int], device: torch.device
) -> Tensor:
    """Words as ids (B, n).

    Raises:
        UsageError: a sentence is a string, not its words.
    """
    for sentence in sentences:
        if isinstance(sentence, str):
            raise UsageError(
                f"{sentence!r} is a string; give a list of its words: ids([{sentence!r}.split()])"
            )
    longest = max(map(len, sentences), default=0)
    rows = [
        [*map(id_of, sentence), *[PADDING] * (longest - len(sentence))] for sentence in sentences
    ]
    return torch.tensor(rows, dtype=torch.long, device=device).reshape(len(rows), longest)


def check_inputs(
    a_ids: Tensor, b_ids: Tensor, attention_ab: Tensor, attention_ba: Tensor | None = None
) -> None:
    """Refuse ids and attention whose types or shapes do not fit.

    Raises:
        UsageError: ids are not integers (batch, words), or attention is not floats (B, n, m).
    """
    check_ids(a_ids, b_ids)
    _check_attention(a_ids, b_ids, attention_ab, "ab")
    if attention_ba is not None:
        _check_attention(b_ids, a_ids, attention_ba, "ba")


def check_ids(a_ids: Tensor, b_ids: Tensor) -> None:
    """Refuse what cannot be ids of words."""
    for name, ids in (("a_ids", a_ids), ("b_ids", b_ids)):
        if ids.dim() != 2 or ids.is_floating_point():
            raise UsageError(
                f"{name} is {ids.dtype} of shape {tuple(ids.shape)}; it must be integers "
                "(batch, words), as `ids` returns them"
            )


def check_range(vocabulary_size: int, *batches: Tensor) -> None:
    """Refuse ids out of range; not while a CUDA graph is captured, which must not synchronise."""
    for ids in batches:
        if not ids.numel() or (ids.is_cuda and torch.cuda.is_current_stream_capturing()):
            continue
        least, most = (int(extreme) for extreme in torch.aminmax(ids))
        if least < 0 or most >= vocabulary_size:
            raise UsageError(
                f"id {least if least < 0 else most} is not one of the model's, which go from 0 to "
                f"{vocabulary_size - 1:,}; make ids with `ids`, not with another tokeniser"
            )


def _check_attention(a_ids: Tensor, b_ids: Tensor, attention: Tensor, sides: str) -> None:
    fits = len(a_ids) == len(b_ids) and attention.shape == (*a_ids.shape, b_ids.shape[1])
    if not fits or not attention.is_floating_point():
        raise UsageError(
            f"attention_{sides} is {attention.dtype} of shape {tuple(attention.shape)} where "
            f"the ids have {tuple(a_ids.shape)} and {tuple(b_ids.shape)}; it must be floats "
            f"(batch, words of {sides[0]}, words of {sides[1]})"
        )


def check_dropout(dropout: float) -> float:
    """`dropout`, if it is a probability below 1."""
    if not 0 <= dropout < 1:
        raise UsageError(f"dropout is {dropout}; it must be at least 0 and below 1")
    return dropout

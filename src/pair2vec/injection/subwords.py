"""The words of a text behind the sub-words that a fast tokeniser makes of it, and back.

Shapes: B batch, T sub-words, W words of a sequence, F features. A sub-word takes the word it is a
part of by their characters, so that it does not matter where a tokeniser pre-splits a text:
WordPiece cuts *don't* in three, byte-level BPE has blanks in its pieces, SentencePiece has *cheap.*
in one.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from pair2vec.errors import UsageError
from pair2vec.injection.sources import RelationSource
from pair2vec.text.sentences import token_spans

_NO_WORD = -1


class SubwordEncoding(Protocol):
    """A row of a batch, as in Hugging Face's tokenizers."""

    @property
    def offsets(self) -> Sequence[tuple[int, int]]: ...
    @property
    def word_ids(self) -> Sequence[int | None]: ...
    @property
    def sequence_ids(self) -> Sequence[int | None]: ...


class SubwordBatch(Protocol):
    """A padded `transformers.BatchEncoding` of a fast tokeniser."""

    @property
    def encodings(self) -> Sequence[SubwordEncoding] | None: ...


class AlignedWords(NamedTuple):
    """The words of one sequence of each row, and the sub-words of each."""

    ids: Tensor
    """(B, W), as `RelationSource.ids` has them."""
    columns: Tensor
    """(B, T): the column in `ids` of each sub-word's word; -1 where there is none: at special
    tokens, padding, the other sequence, and blanks."""

    @property
    def subword_ids(self) -> Tensor:
        """The id of each sub-word's word, (B, T): in place of `ids`, with attention (B, T, T)."""
        return self.spread(self.ids[..., None])[..., 0]

    def pool(self, attention: Tensor, other: "AlignedWords") -> Tensor:
        """Attention between words, (B, W, W'), of that between sub-words, (B, T, T').

        The mean over the sub-words of a word, of the sum over those of a word attended to.
        """
        rows, columns = self._members(attention.dtype), other._members(attention.dtype)
        # Filled, not multiplied: a row that is masked as a whole may be NaN.
        masked = (self.columns < 0)[:, :, None] | (other.columns < 0)[:, None, :]
        attention = attention.masked_fill(masked, 0)
        counts = rows.sum(dim=1).clamp_min(1)
        return (rows.mT @ attention @ columns) / counts[..., None]

    def spread(self, features: Tensor) -> Tensor:
        """Features of words (B, W, F) for each of their sub-words, (B, T, F), zero elsewhere."""
        has_word = (self.columns >= 0)[..., None]
        if not features.shape[1]:
            return features.new_zeros(*self.columns.shape, features.shape[2])
        rows = self.columns.clamp_min(0)[..., None].expand(-1, -1, features.shape[2])
        return features.gather(1, rows).masked_fill(~has_word, 0)

    def to(self, device: torch.device | str) -> "AlignedWords":
        return AlignedWords(self.ids.to(device), self.columns.to(device))

    def _members(self, dtype: torch.dtype) -> Tensor:
        """1 where a sub-word is one of a word's, (B, T, W)."""
        words = torch.arange(self.ids.shape[1], device=self.columns.device)
        return (self.columns[..., None] == words).to(dtype)


def align_subwords(
    source: RelationSource,
    tokens: SubwordBatch,
    texts: Sequence[str | Sequence[str]],
    *,
    sequence: int = 0,
) -> AlignedWords:
    """The words of texts, as `source` knows them, and which sub-words are theirs.

    Args:
        source: Whose ids the words get.
        tokens: What a fast tokeniser made of the texts, with or without tensors and padding.
        texts: One a row: a string, or the list of words given with ``is_split_into_words``.
        sequence: Which of the two texts that a row encodes these are, 0 or 1.

    Raises:
        UsageError: the tokeniser is not a fast one, or the texts are not as many as its rows.
    """
    encodings = tokens.encodings
    if encodings is None:
        raise UsageError("the tokeniser does not say where its tokens are; take a fast one")
    if len(encodings) != len(texts):
        raise UsageError(f"{len(texts)} texts but {len(encodings)} rows of tokens; give one each")
    if sequence not in {0, 1}:
        raise UsageError(f"sequence is {sequence}; it must be 0, the first of a row, or 1")
    words: list[Sequence[str]] = []
    columns: list[list[int]] = []
    for encoding, text in zip(encodings, texts, strict=True):
        if isinstance(text, str):
            spans = token_spans(text)
            words.append([text[start:end] for start, end in spans])
            found = _words_of_offsets(encoding.offsets, spans, len(text))
        else:
            words.append(text)
            found = [_NO_WORD if word is None else word for word in encoding.word_ids]
        is_in = [number == sequence for number in encoding.sequence_ids]
        columns.append([word if own else _NO_WORD for word, own in zip(found, is_in, strict=True)])
    longest = max(map(len, columns), default=0)
    padded = [row + [_NO_WORD] * (longest - len(row)) for row in columns]
    ids = source.ids(words)
    table = torch.tensor(padded, dtype=torch.long, device=ids.device)
    return AlignedWords(ids, table.reshape(len(padded), longest))


def _words_of_offsets(
    offsets: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]], length: int
) -> list[int]:
    """For each sub-word the first word it has a character of."""
    word_at = [_NO_WORD] * length
    for number, (start, end) in enumerate(spans):
        word_at[start:end] = [number] * (end - start)
    return [
        next((word for word in word_at[start:end] if word != _NO_WORD), _NO_WORD)
        for start, end in offsets
    ]

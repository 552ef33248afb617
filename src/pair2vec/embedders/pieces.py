"""Sentences as the pieces of words that a tokeniser of ``transformers`` makes of them.

Shapes: B sentences, p pieces of the longest, F what the tokeniser says of a piece.
"""

import logging
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pair2vec.embedders.embedder import Sentence

logger = logging.getLogger(__name__)

_MOST_SENTENCES = 1 << 18
"""Whose pieces are kept at hand, some 500 bytes each: all of a data set, but not all that a
service ever sees."""

_NO_WORD = -1


class Pieces(NamedTuple):
    """Those of a batch."""

    inputs: dict[str, Tensor]
    """(B, p) each, by the name under which the encoder takes it."""
    words: Tensor
    """(B, p): of which word in its sentence a piece is; -1 if it is of none."""


class PieceMaker:
    """A tokeniser that is asked about each sentence once.

    It takes ten times as long as looking up what it said, and a network is shown the same sentences
    in every epoch.
    """

    def __init__(self, tokenizer: Any, most_pieces: int | None) -> None:  # noqa: ANN401
        """Take one of the fast kind; longer sentences are cut, which is told once."""
        self._tokenizer, self._most_pieces = tokenizer, most_pieces
        self._said: dict[tuple[str, ...], NDArray[np.int32]] = {}
        """(1 + F, pieces) of a sentence: words first, then what has a name."""
        self._names: list[str] = []
        self._has_told_of_cut = False

    def __call__(self, sentences: Sequence[Sentence]) -> Pieces:
        """The pieces of a batch, which must not be empty."""
        keys = [tuple(sentence) for sentence in sentences]
        if len(self._said) + len(keys) > _MOST_SENTENCES:
            self._said.clear()
        if new := [key for key in dict.fromkeys(keys) if key not in self._said]:
            self._said.update(zip(new, self._ask(new), strict=True))
        return self._side_by_side([self._said[key] for key in keys])

    def _ask(self, sentences: Sequence[tuple[str, ...]]) -> list[NDArray[np.int32]]:
        encoded = self._tokenizer(
            [list(sentence) for sentence in sentences],
            is_split_into_words=True,
            truncation=self._most_pieces is not None,
            max_length=self._most_pieces,
        )
        self._tell_of_cut(encoded.encodings)
        self._names = list(encoded)
        words = [
            [_NO_WORD if word is None else word for word in encoding.word_ids]
            for encoding in encoded.encodings
        ]
        return [np.array(rows, np.int32) for rows in zip(words, *encoded.values(), strict=True)]

    def _side_by_side(self, said: Sequence[NDArray[np.int32]]) -> Pieces:
        lengths = np.array([rows.shape[1] for rows in said])
        is_piece = np.arange(lengths.max()) < lengths[:, None]
        block = np.zeros((1 + len(self._names), *is_piece.shape), np.int64)
        block[0] = _NO_WORD
        if "input_ids" in self._names:
            block[1 + self._names.index("input_ids")] = self._tokenizer.pad_token_id or 0
        block[:, is_piece] = np.concatenate(said, axis=1)
        words, *inputs = torch.from_numpy(block).unbind()
        return Pieces(dict(zip(self._names, inputs, strict=True)), words)

    def _tell_of_cut(self, encodings: Sequence[Any]) -> None:
        if not self._has_told_of_cut and any(encoding.overflowing for encoding in encodings):
            self._has_told_of_cut = True
            logger.warning(
                "a sentence has more than %d pieces; words beyond them are zero", self._most_pieces
            )

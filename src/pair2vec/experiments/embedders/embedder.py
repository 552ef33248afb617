"""The interface of embedders: from the words of sentences to a vector for each word.

The simplest has static word vectors: a word has the same vector in every sentence.

Shapes: B sentences, n words of the longest or more, K layers or words with a vector, D dimension.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn

from pair2vec.errors import UsageError
from pair2vec.kernels.rows import gather_rows
from pair2vec.text.sentences import fold
from pair2vec.text.vocabulary import Vocabulary
from pair2vec.word_vectors.formats import read_word_vectors

Sentence = Sequence[str]
"""Words as the text spells them, capitals kept."""

LAYERS = "layers"
"""The key of a precomputed batch: all layers of the pretrained model, (K, B, n, D)."""

PADDING, UNKNOWN = range(2)
"""The ids of padding, and of any word without a vector; those of known words follow."""

_UNKNOWN_NORM = 0.1
"""Times the mean norm of known words: small, so that it adds little noise before it is trained."""


@dataclass(frozen=True, slots=True)
class EmbedderInputs:
    """The tensors of a batch by name: made by `Embedder.prepare`, moved between devices as one."""

    tensors: dict[str, Tensor]

    def __getitem__(self, name: str) -> Tensor:
        return self.tensors[name]

    def to(self, device: torch.device | str, *, non_blocking: bool = False) -> "EmbedderInputs":
        moved = {
            name: tensor.to(device, non_blocking=non_blocking)
            for name, tensor in self.tensors.items()
        }
        return EmbedderInputs(moved)


class Embedder(nn.Module, ABC):
    """A pretrained model that gives each word of a sentence a vector.

    It is frozen but for a few parameters that adapt it to a task: only those have
    ``requires_grad``, and only those have to be saved with a network built on it.
    """

    dimension: int
    """D"""

    def prepare(self, sentences: Sequence[Sentence], width: int = 0) -> EmbedderInputs:
        """The inputs of `forward` for these sentences, on the CPU; `width` is the least n.

        Apart from `forward` because it is work for the CPU, done while a GPU computes the batch
        before.
        """
        for sentence in sentences:
            if isinstance(sentence, str):
                raise UsageError(f"{sentence!r} is a string; give a list of its words")
        return EmbedderInputs(self._prepare(sentences, max(width, *map(len, sentences), 0)))

    @abstractmethod
    def _prepare(self, sentences: Sequence[Sentence], width: int) -> dict[str, Tensor]:
        """The tensors of `prepare`; no sentence is a string, or longer than `width`."""

    def precompute(self, inputs: EmbedderInputs) -> EmbedderInputs:
        """A prepared batch with the frozen layers computed, for `forward` to continue from.

        Apart from `forward` because it has no gradient, and shapes that differ between batches, so
        that it cannot be part of a CUDA graph. A batch that was computed already is returned as is.
        """
        return inputs

    @abstractmethod
    def forward(self, inputs: EmbedderInputs) -> Tensor:
        """Vectors (B, n, D) of a batch, prepared or precomputed; zero after a sentence's end."""


def pad_rows(rows: Sequence[Sequence[int]], padding: int = 0, width: int = 0) -> Tensor:
    """Rows of integers as one tensor (B, n), the short ones filled up with `padding`."""
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    block = np.full((len(rows), max(width, lengths.max(initial=0))), padding, np.int64)
    is_filled = np.arange(block.shape[1]) < lengths[:, None]
    # All rows at once: several times as fast as `torch.tensor` of nested lists.
    block[is_filled] = np.fromiter(chain.from_iterable(rows), np.int64, lengths.sum())
    return torch.from_numpy(block)


class ScalarMix(nn.Module):
    """γ Σ_k softmax(w)_k h_k (Peters et al., 2018, equation 1); at first the mean of the layers."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(layers))
        self.gamma = nn.Parameter(torch.ones(()))

    def forward(self, layers: Tensor) -> Tensor:
        """(K, ...) to (...)."""
        shares = self.gamma * self.weights.softmax(0)
        mixed: Tensor = torch.tensordot(shares, layers, dims=1)
        return mixed


class LayeredEmbedder(Embedder):
    """A frozen model of several layers, in a trained mix."""

    mix: ScalarMix

    @abstractmethod
    def layers(self, inputs: EmbedderInputs) -> Tensor:
        """All layers (K, B, n, D) of a prepared batch; zero after a sentence's end."""

    @torch.no_grad()
    def precompute(self, inputs: EmbedderInputs) -> EmbedderInputs:
        if LAYERS in inputs.tensors:
            return inputs
        return EmbedderInputs({LAYERS: self.layers(inputs)})

    def forward(self, inputs: EmbedderInputs) -> Tensor:
        mixed: Tensor = self.mix(self.precompute(inputs)[LAYERS])
        return mixed


class WordVectorEmbedder(Embedder):
    """Frozen vectors of known words, and one trained vector for all unknown ones.

    A word without a vector in its own spelling has that of its lower case.
    """

    vectors: Tensor
    """(2 + K, D); the first two rows are zero."""

    def __init__(self, ids: Mapping[str, int], vectors: Tensor) -> None:
        """Take rows `ids` of the vectors (K, D); several words may share a row.

        The vector of unknown words is drawn from torch's generator.
        """
        super().__init__()
        first = UNKNOWN + 1
        self.ids = {word: first + number for word, number in ids.items()}
        self.dimension = vectors.shape[1]
        self.register_buffer("vectors", nn.functional.pad(vectors, (0, 0, first, 0)), False)
        scale = _UNKNOWN_NORM * vectors.norm(dim=1).mean() / self.dimension**0.5
        self.unknown = nn.Parameter(scale * torch.randn(self.dimension))

    @classmethod
    def open(cls, path: str | os.PathLike[str], words: Iterable[str]) -> Self:
        """The vectors of `words` in a file of any format that `read_word_vectors` reads.

        Raises:
            InputError: there is no such file, it is damaged, or it has none of the words.
        """
        distinct = dict.fromkeys(words)
        spellings = dict.fromkeys([*distinct, *map(fold, distinct)])
        # Counts are not used here.
        table = read_word_vectors(path, Vocabulary((spelling, 0) for spelling in spellings))
        known = table.found.nonzero()[0]
        ids = {table.vocabulary.words[row]: number for number, row in enumerate(known)}
        for word, number in [*ids.items()]:
            # A vector under the file's own spelling also serves the lower case of it.
            ids.setdefault(fold(word), number)
        return cls(ids, torch.from_numpy(table.vectors[known]))

    def _prepare(self, sentences: Sequence[Sentence], width: int) -> dict[str, Tensor]:
        rows = [[*map(self._id, sentence)] for sentence in sentences]
        return {"ids": pad_rows(rows, PADDING, width)}

    def _id(self, word: str) -> int:
        return self.ids.get(word) or self.ids.get(fold(word), UNKNOWN)

    def forward(self, inputs: EmbedderInputs) -> Tensor:
        """The vectors (B, n, D) of a batch; zero after a sentence's end."""
        ids = inputs["ids"]
        is_unknown = (ids == UNKNOWN).unsqueeze(-1)
        return torch.where(is_unknown, self.unknown, gather_rows(self.vectors, ids))

    def extra_repr(self) -> str:
        return f"words={len(self.ids)}, dimension={self.dimension}"

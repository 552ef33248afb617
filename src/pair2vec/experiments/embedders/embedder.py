"""The embedder: words of sentences in, a vector for each out, whatever makes it.

Shapes: B sentences, n words of the longest or more, D dimension.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from torch import Tensor, nn

from pair2vec.errors import UsageError

Sentence = Sequence[str]
"""Words as the text spells them, capitals kept."""


@dataclass(frozen=True, slots=True)
class EmbedderInputs:
    """What an embedder needs of a batch, by name: made by its `prepare`, moved as a whole."""

    tensors: dict[str, Tensor]

    def __getitem__(self, name: str) -> Tensor:
        return self.tensors[name]

    def to(self, device: torch.device | str, *, non_blocking: bool = False) -> "EmbedderInputs":
        """The same on another device."""
        moved = {
            name: tensor.to(device, non_blocking=non_blocking)
            for name, tensor in self.tensors.items()
        }
        return EmbedderInputs(moved)


class Embedder(nn.Module, ABC):
    """A pretrained model that gives each word of a sentence a vector.

    It is frozen but for a few parameters that learn how to use it: those, and no others, have
    ``requires_grad``. They are what a model built on it has to save.
    """

    dimension: int
    """D"""

    def prepare(self, sentences: Sequence[Sentence], width: int = 0) -> EmbedderInputs:
        """What `forward` needs of these sentences, on the CPU; at least `width` places for each.

        Apart from it because it is work for the CPU, to be done while a GPU is at the batch before.
        """
        for sentence in sentences:
            if isinstance(sentence, str):
                raise UsageError(f"{sentence!r} is a string; give a list of its words")
        return EmbedderInputs(self._prepare(sentences, max(width, *map(len, sentences), 0)))

    @abstractmethod
    def _prepare(self, sentences: Sequence[Sentence], width: int) -> dict[str, Tensor]:
        """The tensors of `prepare`; the sentences are no strings, and not longer than `width`."""

    def precompute(self, inputs: EmbedderInputs) -> EmbedderInputs:
        """A prepared batch with all work done that is frozen, for `forward` to go on from.

        Apart from it because it has no gradient, and its shapes may be others in every batch. What
        was read already stays as it is.
        """
        return inputs

    @abstractmethod
    def forward(self, inputs: EmbedderInputs) -> Tensor:
        """The vectors (B, n, D) of a batch, prepared or read; zero behind a sentence's end."""


def pad_rows(rows: Sequence[Sequence[int]], padding: int = 0, width: int = 0) -> Tensor:
    """Rows of numbers as one tensor (B, n), `padding` behind the short ones."""
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    numbers = np.full((len(rows), max(width, lengths.max(initial=0))), padding, np.int64)
    is_given = np.arange(numbers.shape[1]) < lengths[:, None]
    # All rows in one go: several times as quick as lists to be told the shape of.
    numbers[is_given] = np.fromiter(chain.from_iterable(rows), np.int64, lengths.sum())
    return torch.from_numpy(numbers)


# == The layers of a pretrained model, mixed into one vector a word as the task at hand learns to.
#
# Shapes: K layers, B sentences, n words, D dimension.


LAYERS = "layers"
"""What a batch that was read has of a pretrained model, (K, B, n, D)."""


class ScalarMix(nn.Module):
    """γ Σ_k softmax(w)_k h_k (Peters et al., 2018, equation 1); at first the mean of the layers."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(layers))
        self.gamma = nn.Parameter(torch.ones(()))

    def forward(self, layers: Tensor) -> Tensor:
        """Mix layers (K, ...) of any shape."""
        shares = self.gamma * self.weights.softmax(0)
        mixed: Tensor = torch.tensordot(shares, layers, dims=1)
        return mixed

"""The interface of embedders: from the words of sentences to a vector for each word.

Shapes: B sentences, n words of the longest or more, K layers, D dimension.
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

LAYERS = "layers"
"""The key of a precomputed batch: all layers of the pretrained model, (K, B, n, D)."""


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

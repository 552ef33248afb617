"""ELMo's vectors of words out of context: convolutions over their characters.

Shapes: W words, C characters, E dimension of a character, F filters, P dimension of a word.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from pair2vec.embedders.elmo_files import CHARACTERS, ElmoOptions, WeightFile

BEGIN, END = range(2)
"""The rows of `character_ids` for a sentence's begin and end; its words follow."""

_BEGIN_SENTENCE, _END_SENTENCE, _BEGIN_WORD, _END_WORD, _PADDING = map(chr, range(256, CHARACTERS))
"""The numbers above those of bytes, as letters that a string can hold."""

_WORDS_AT_ONCE = 512
"""A GPU's work, but little memory: the filters of the published model take 80 kB a word."""

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": torch.relu, "tanh": torch.tanh}


def character_ids(words: Sequence[str], options: ElmoOptions) -> Tensor:
    """A sentence's begin and end, then the words, as their bytes between two marks: (2 + W, C).

    Words are cut, or filled up, to the longest there is and some padding. More would only repeat
    what the widest filter sees of padding already, and what counts is the maximum.
    """
    most = options.longest_word - 2
    # A string of Latin letters is the quickest list of bytes that has room for more.
    spelled = [word.encode("utf-8", "ignore")[:most].decode("latin-1") for word in words]
    spelled = [_BEGIN_SENTENCE, _END_SENTENCE, *spelled]
    longest = max(map(len, spelled)) + 2
    width = min(options.longest_word, longest + options.widest)
    rows = "".join(
        f"{_BEGIN_WORD}{letters}{_END_WORD}".ljust(width, _PADDING) for letters in spelled
    )
    numbers = np.frombuffer(rows.encode("utf-16-le"), "<u2").astype(np.int32)
    return torch.from_numpy(numbers.reshape(-1, width))


class ElmoWords(nn.Module):
    """Characters, convolutions, their maxima, highway layers, and a projection to a word."""

    characters: Tensor
    """(261, E)"""
    projection: Tensor
    """(P, F)"""
    projection_bias: Tensor
    """(P,)"""

    def __init__(self, options: ElmoOptions, weights: WeightFile) -> None:
        super().__init__()
        wide, narrow = options.filter_count, options.projection
        characters = weights.tensor("char_embed", CHARACTERS, options.character_dimension)
        self.register_buffer("characters", characters, False)
        self.filters = nn.ModuleList(
            _Filters(options, weights, number) for number in range(len(options.filters))
        )
        self.highways = nn.ModuleList(
            _Highway(wide, weights, number) for number in range(options.highways)
        )
        projection = weights.tensor("CNN_proj/W_proj", wide, narrow)
        self.register_buffer("projection", projection.T.contiguous(), False)
        self.register_buffer("projection_bias", weights.tensor("CNN_proj/b_proj", narrow), False)
        self._activation = _ACTIVATIONS[options.activation]

    def forward(self, characters: Tensor) -> Tensor:
        """The vectors of words (W, C), as `character_ids` makes them: (W, P)."""
        return torch.cat([self._encode(some) for some in torch.split(characters, _WORDS_AT_ONCE)])

    def _encode(self, characters: Tensor) -> Tensor:
        letters = functional.embedding(characters, self.characters).transpose(1, 2)
        maxima = torch.cat([filters(letters) for filters in self.filters], dim=1)
        words = self._activation(maxima)
        for highway in self.highways:
            words = highway(words)
        return functional.linear(words, self.projection, self.projection_bias)


class _Filters(nn.Module):
    """The filters of one width."""

    weight: Tensor
    bias: Tensor

    def __init__(self, options: ElmoOptions, weights: WeightFile, number: int) -> None:
        super().__init__()
        width, count = options.filters[number]
        name = f"CNN/W_cnn_{number}"
        stored = weights.tensor(name, 1, width, options.character_dimension, count)
        self.register_buffer("weight", stored[0].permute(2, 1, 0).contiguous(), False)
        self.register_buffer("bias", weights.tensor(f"CNN/b_cnn_{number}", count), False)

    def forward(self, letters: Tensor) -> Tensor:
        """The most that each sees anywhere in words (W, E, C)."""
        return functional.conv1d(letters, self.weight, self.bias).amax(dim=2)


class _Highway(nn.Module):
    """g f(x) + (1 - g) x, where the files call g the carry gate, though it lets f(x) through."""

    carry: Tensor
    carry_bias: Tensor
    transform: Tensor
    transform_bias: Tensor

    def __init__(self, size: int, weights: WeightFile, number: int) -> None:
        super().__init__()
        for part in ("carry", "transform"):
            weight = weights.tensor(f"CNN_high_{number}/W_{part}", size, size)
            bias = weights.tensor(f"CNN_high_{number}/b_{part}", size)
            self.register_buffer(part, weight.T.contiguous(), False)
            self.register_buffer(f"{part}_bias", bias, False)

    def forward(self, words: Tensor) -> Tensor:
        """Words (W, F) to words."""
        gate = functional.linear(words, self.carry, self.carry_bias).sigmoid()
        transformed = functional.linear(words, self.transform, self.transform_bias).relu()
        return torch.lerp(words, transformed, gate)

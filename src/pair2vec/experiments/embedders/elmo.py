"""ELMo (Peters et al., 2018) as an embedder: character convolutions and two layers of biLM.

Shapes: B sentences, n words of the longest or more, T steps (n + 2: a sentence's begin and end are
words), W distinct words, C characters, E dimension of a character, F filters, P dimension of a word
in one direction, S of the LSTM cell, K layers, D dimension (2P).
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from pair2vec.errors import InputError
from pair2vec.experiments.embedders.elmo_files import (
    CHARACTERS,
    ElmoOptions,
    WeightFile,
    find_elmo_files,
    open_weights,
    read_options,
)
from pair2vec.experiments.embedders.embedder import (
    EmbedderInputs,
    LayeredEmbedder,
    ScalarMix,
    Sentence,
    pad_rows,
)

BEGIN, END = range(2)
"""The rows of `character_ids` for a sentence's begin and end; those of words follow."""

_BEGIN_SENTENCE, _END_SENTENCE, _BEGIN_WORD, _END_WORD, _PADDING = map(chr, range(256, CHARACTERS))
"""The ids above those of bytes, as characters that a string can hold."""

DIRECTIONS = range(2)
"""Forward and backward, in the order of the weights."""

_WORDS_PER_CHUNK = 512
"""Enough work for a GPU, but little memory: the published model's filters take 80 kB a word."""

_WORDS_PER_GEMM = 1024
"""Words whose input part of the gates is one matrix product (at least those of one step); the
published model takes 128 kB for each."""

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": torch.relu, "tanh": torch.tanh}


def character_ids(words: Sequence[str], options: ElmoOptions) -> Tensor:
    """A sentence's begin and end, then the words, as bytes between two marks: (2 + W, C).

    Words are truncated, or padded, to the longest one plus the widest filter: more padding cannot
    change the maximum over positions.
    """
    max_bytes = options.longest_word - 2
    # Decoding to Latin-1 is the fastest way to a sequence of bytes that has room for more ids.
    spelled = [word.encode("utf-8", "ignore")[:max_bytes].decode("latin-1") for word in words]
    spelled = [_BEGIN_SENTENCE, _END_SENTENCE, *spelled]
    longest = max(map(len, spelled)) + 2
    width = min(options.longest_word, longest + options.widest)
    rows = "".join(
        f"{_BEGIN_WORD}{characters}{_END_WORD}".ljust(width, _PADDING) for characters in spelled
    )
    ids = np.frombuffer(rows.encode("utf-16-le"), "<u2").astype(np.int32)
    return torch.from_numpy(ids.reshape(-1, width))


class ElmoWords(nn.Module):
    """Character CNN: convolutions, max over positions, highway layers, projection to a word."""

    characters: Tensor
    """(261, E)"""
    projection: Tensor
    """(P, F)"""
    projection_bias: Tensor
    """(P,)"""

    def __init__(self, options: ElmoOptions, weights: WeightFile) -> None:
        super().__init__()
        filters, size = options.filter_count, options.projection
        characters = weights.tensor("char_embed", CHARACTERS, options.character_dimension)
        self.register_buffer("characters", characters, False)
        self.filters = nn.ModuleList(
            _Filters(options, weights, number) for number in range(len(options.filters))
        )
        self.highways = nn.ModuleList(
            _Highway(filters, weights, number) for number in range(options.highways)
        )
        projection = weights.tensor("CNN_proj/W_proj", filters, size)
        self.register_buffer("projection", projection.T.contiguous(), False)
        self.register_buffer("projection_bias", weights.tensor("CNN_proj/b_proj", size), False)
        self._activation = _ACTIVATIONS[options.activation]

    def forward(self, characters: Tensor) -> Tensor:
        """The vectors of words (W, C), as `character_ids` makes them: (W, P)."""
        chunks = torch.split(characters, _WORDS_PER_CHUNK)
        return torch.cat([self._encode(chunk) for chunk in chunks])

    def _encode(self, characters: Tensor) -> Tensor:
        embedded = functional.embedding(characters, self.characters).transpose(1, 2)
        maxima = torch.cat([filters(embedded) for filters in self.filters], dim=1)
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

    def forward(self, characters: Tensor) -> Tensor:
        """The maximum of each filter over the positions of words (W, E, C)."""
        return functional.conv1d(characters, self.weight, self.bias).amax(dim=2)


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
        """(W, F) to (W, F)."""
        gate = functional.linear(words, self.carry, self.carry_bias).sigmoid()
        transformed = functional.linear(words, self.transform, self.transform_bias).relu()
        return torch.lerp(words, transformed, gate)


class ElmoLstm(nn.Module):
    """TensorFlow's ``LSTMCell`` with ``num_proj`` and clipping, in both directions, from zero.

    Both directions are one tensor: their products are small enough for a GPU to run as one.
    """

    words: Tensor
    """(2, P, 4S), from a word to the gates in the order input, cell, forget, output."""
    states: Tensor
    """(2, P, 4S), from the previous step's output to the gates."""
    bias: Tensor
    """(2, 1, 4S)"""
    projection: Tensor
    """(2, S, P)"""

    def __init__(self, options: ElmoOptions, weights: WeightFile, number: int) -> None:
        """Copy layer `number` out of the weights."""
        super().__init__()
        size, cell = options.projection, options.cell
        folders = [f"RNN_{side}/RNN/MultiRNNCell/Cell{number}/LSTMCell" for side in DIRECTIONS]

        def both(name: str, *shape: int) -> Tensor:
            return torch.stack([weights.tensor(f"{folder}/{name}", *shape) for folder in folders])

        words, states = both("W_0", 2 * size, 4 * cell).chunk(2, dim=1)
        bias = both("B", 4 * cell).unsqueeze(1)
        # TensorFlow adds the forget gate's bias of one at run time; the weights do not have it.
        bias[..., 2 * cell : 3 * cell] += 1
        self.register_buffer("words", words.contiguous(), False)
        self.register_buffer("states", states.contiguous(), False)
        self.register_buffer("bias", bias, False)
        self.register_buffer("projection", both("W_P_0", cell, size), False)
        self._cell_clip, self._projection_clip = options.cell_clip, options.projection_clip

    def forward(self, words: Tensor) -> Tensor:
        """Outputs (2, T, B, P) of words (2, T, B, P), each direction in its own order of time."""
        outputs = torch.empty_like(words)
        _, _, batch, size = words.shape
        state = words.new_zeros(len(DIRECTIONS), batch, size)
        cell = words.new_zeros(len(DIRECTIONS), batch, self.projection.shape[1])
        steps = max(1, _WORDS_PER_GEMM // max(1, batch))
        for start in range(0, words.shape[1], steps):
            chunk = words[:, start : start + steps]
            gates = torch.baddbmm(self.bias, chunk.flatten(1, 2), self.words)
            by_step = gates.view(*chunk.shape[:3], gates.shape[2]).unbind(1)
            for step, word_gates in enumerate(by_step, start):
                state, cell = self._step(word_gates, state, cell)
                outputs[:, step] = state
        return outputs

    def _step(self, gates: Tensor, state: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """The next state (2, B, P) and cell (2, B, S), given the word's part of the gates."""
        gates = torch.baddbmm(gates, state, self.states)
        input_gate, candidate, forget_gate, output_gate = gates.chunk(4, dim=-1)
        cell = forget_gate.sigmoid() * cell + input_gate.sigmoid() * candidate.tanh()
        cell = cell.clamp_(-self._cell_clip, self._cell_clip)
        state = torch.bmm(output_gate.sigmoid() * cell.tanh(), self.projection)
        return state.clamp_(-self._projection_clip, self._projection_clip), cell


class Elmo(LayeredEmbedder):
    """The layers of a frozen bidirectional language model, in a trained mix.

    Every sentence starts from a zero state. AllenNLP's encoder is stateful: it continues from the
    last batch, so that its vectors depend on the order of the batches.
    """

    def __init__(self, options: ElmoOptions, weights: WeightFile) -> None:
        super().__init__()
        self.options = options
        self.dimension = 2 * options.projection
        self.words = ElmoWords(options, weights)
        self.lstms = nn.ModuleList(
            ElmoLstm(options, weights, number) for number in range(options.layers)
        )
        self.mix = ScalarMix(1 + options.layers)

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Self:
        """Open a folder with ``*options.json`` and ``*.hdf5``, as published.

        Raises:
            UsageError: the library that reads the weights is not installed.
            InputError: a file is missing, or there are several; it is damaged, or not of ELMo.
        """
        options, weights = find_elmo_files(Path(folder))
        if len(options) != 1 or len(weights) != 1:
            raise InputError(
                f"{os.fspath(folder)}: has {len(options)} files *options.json and {len(weights)} "
                "*.hdf5; an ELMo model is one of each"
            )
        with open_weights(weights[0]) as file:
            return cls(read_options(options[0]), file)

    def _prepare(self, sentences: Sequence[Sentence], width: int) -> dict[str, Tensor]:
        distinct = dict.fromkeys(word for sentence in sentences for word in sentence)
        rows = {word: row for row, word in enumerate(distinct, start=END + 1)}
        ids = [[BEGIN, *map(rows.__getitem__, sentence), END] for sentence in sentences]
        return {
            "characters": character_ids(list(distinct), self.options),
            "words": pad_rows(ids, END, width + 2),
            "lengths": torch.tensor([*map(len, sentences)], dtype=torch.long),
        }

    def layers(self, inputs: EmbedderInputs) -> Tensor:
        words, lengths = inputs["words"], inputs["lengths"]
        # Autocast would cast all weights again for every step.
        with torch.autocast(words.device.type, enabled=False):
            return self._layers(self.words(inputs["characters"]), words, lengths)

    def _layers(self, table: Tensor, words: Tensor, lengths: Tensor) -> Tensor:
        """All layers (K, B, n, D) for words (B, T) that are rows of the table (W, P)."""
        steps = torch.arange(words.shape[1], device=words.device)
        last = lengths[:, None] + 1
        # Each sentence is reversed from its own end; padding stays where it is.
        backward = torch.where(steps <= last, last - steps, steps)
        both = torch.stack([words.T, words.gather(1, backward).T])
        is_word = (steps[1:-1] < last).unsqueeze(-1)
        outputs = table[both]
        layers = [_in_order(outputs, backward, is_word)]
        for number, lstm in enumerate(self.lstms):
            residual = outputs if number and self.options.skip_connections else 0
            outputs = lstm(outputs) + residual
            layers.append(_in_order(outputs, backward, is_word))
        return torch.stack(layers)


def _in_order(outputs: Tensor, backward: Tensor, is_word: Tensor) -> Tensor:
    """Outputs (2, T, B, P) as vectors of words (B, n, D), without a sentence's begin and end."""
    sentences = torch.arange(len(backward), device=backward.device)[:, None]
    forward_states = outputs[0, 1:-1].transpose(0, 1)
    backward_states = outputs[1, backward[:, 1:-1], sentences]
    return torch.cat([forward_states, backward_states], dim=-1) * is_word

"""ELMo as an embedder: a word's vector depends on its characters and on its sentence.

Shapes: B sentences, n words of the longest or more, T steps (n + 2: a sentence's begin and end are
words), W distinct words, P dimension of a word in one direction, K layers, D dimension (2P).
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import torch
from torch import Tensor, nn

from pair2vec.embedders.elmo_files import (
    ElmoOptions,
    WeightFile,
    find_elmo_files,
    open_weights,
    read_options,
)
from pair2vec.embedders.elmo_lstm import ElmoLstm
from pair2vec.embedders.elmo_words import BEGIN, END, ElmoWords, character_ids
from pair2vec.embedders.embedder import Embedder, EmbedderInputs, Sentence, padded
from pair2vec.embedders.scalar_mix import LAYERS, ScalarMix
from pair2vec.errors import InputError


class Elmo(Embedder):
    """The layers of two language models (Peters et al., 2018), frozen, in a mix that is learned.

    Every sentence starts from zero. AllenNLP's encoder instead goes on from what it read before,
    so that its vectors depend on the order of the batches, and a little on all sentences so far.
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
        """From a folder with the options and the weights, named as published or just so.

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
        places = [[BEGIN, *map(rows.__getitem__, sentence), END] for sentence in sentences]
        return {
            "characters": character_ids(list(distinct), self.options),
            "words": padded(places, END, width + 2),
            "lengths": torch.tensor([*map(len, sentences)], dtype=torch.long),
        }

    @torch.no_grad()
    def read(self, inputs: EmbedderInputs) -> EmbedderInputs:
        """All layers of the language models."""
        if LAYERS in inputs.tensors:
            return inputs
        words, lengths = inputs["words"], inputs["lengths"]
        # Autocast would copy all the weights to its own precision again for every step.
        with torch.autocast(words.device.type, enabled=False):
            layers = self._layers(self.words(inputs["characters"]), words, lengths)
        return EmbedderInputs({LAYERS: layers})

    def forward(self, inputs: EmbedderInputs) -> Tensor:
        """The vectors (B, n, D) of a batch, prepared or read; zero behind a sentence's end."""
        mixed: Tensor = self.mix(self.read(inputs)[LAYERS])
        return mixed

    def _layers(self, table: Tensor, words: Tensor, lengths: Tensor) -> Tensor:
        """All layers (K, B, n, D) for words (B, T) that are rows of the table (W, P)."""
        steps = torch.arange(words.shape[1], device=words.device)
        last = lengths[:, None] + 1
        # Each sentence backwards from its own end; what is behind that stays where it is.
        backward = torch.where(steps <= last, last - steps, steps)
        both = torch.stack([words.T, words.gather(1, backward).T])
        is_word = (steps[1:-1] < last).unsqueeze(-1)
        outputs = table[both]
        layers = [_in_order(outputs, backward, is_word)]
        for number, lstm in enumerate(self.lstms):
            skipped = outputs if number and self.options.skip_connections else 0
            outputs = lstm(outputs) + skipped
            layers.append(_in_order(outputs, backward, is_word))
        return torch.stack(layers)


def _in_order(outputs: Tensor, backward: Tensor, is_word: Tensor) -> Tensor:
    """Outputs (2, T, B, P) as vectors of words (B, n, D), without a sentence's begin and end."""
    sentences = torch.arange(len(backward), device=backward.device)[:, None]
    ahead = outputs[0, 1:-1].transpose(0, 1)
    back = outputs[1, backward[:, 1:-1], sentences]
    return torch.cat([ahead, back], dim=-1) * is_word

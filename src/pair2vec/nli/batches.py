"""Batches of premises and hypotheses, as tensors; made on the CPU, by another thread if need be.

Shapes: B batch, n and m words of the longest premise and hypothesis, E examples, W words.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pair2vec.embedders.embedder import Embedder, EmbedderInputs
from pair2vec.injection.relation_source import RelationSource
from pair2vec.nli.examples import LABELS, NliExample
from pair2vec.supervised.order import Numbers
from pair2vec.supervised.sequences import Packing

NO_CLASS = -100
"""Of an example without a label; torch's cross entropy leaves it out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """The premises, or the hypotheses, of a batch."""

    inputs: EmbedderInputs
    ids: Tensor
    """(B, n), of the relation source."""
    is_word: Tensor
    """(B, n)"""

    def to(self, device: torch.device) -> "Side":
        """On this device."""
        return Side(
            inputs=self.inputs.to(device), ids=self.ids.to(device), is_word=self.is_word.to(device)
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class NliBatch:
    """What a network needs of some examples."""

    premises: Side
    hypotheses: Side
    packing: Packing
    """Of both sides together."""
    labels: Tensor
    """(B,)"""

    def to(self, device: torch.device) -> "NliBatch":
        """On this device."""
        return NliBatch(
            premises=self.premises.to(device),
            hypotheses=self.hypotheses.to(device),
            packing=self.packing.to(device),
            labels=self.labels.to(device),
        )


class NumberedExamples:
    """Examples with their words as numbers: looked at once, however many networks learn of them."""

    def __init__(self, examples: Sequence[NliExample]) -> None:
        self.examples = examples
        number_of: defaultdict[str, int] = defaultdict(count().__next__)
        sentences = [sentence for example in examples for sentence in example.sentences]
        lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
        self.sizes: Numbers = lengths.reshape(-1, 2)
        """(E, 2): words of the premise and of the hypothesis."""
        numbers = map(number_of.__getitem__, chain.from_iterable(sentences))
        self._numbers = np.fromiter(numbers, np.int64, int(lengths.sum()))
        self._starts: Numbers = (np.cumsum(lengths) - lengths).reshape(-1, 2)
        self.words = list(number_of)
        """Each once; a word's number is its place."""
        classes = {label: number for number, label in enumerate(LABELS)}
        labels = (classes.get(example.label, NO_CLASS) for example in examples)
        self.labels: Numbers = np.fromiter(labels, np.int64, len(examples))
        """(E,), as numbers of `LABELS`."""

    def __len__(self) -> int:
        """How many there are."""
        return len(self.examples)

    def numbers(self, chosen: Numbers, side: int) -> tuple[Numbers, NDArray[np.bool_]]:
        """The words of some premises (0) or hypotheses (1), and which places have one: (B, n)."""
        lengths = self.sizes[chosen, side]
        places = np.arange(lengths.max(initial=0))
        is_word: NDArray[np.bool_] = places < lengths[:, None]
        words = np.zeros(is_word.shape, np.int64)
        words[is_word] = self._numbers[(self._starts[chosen, side][:, None] + places)[is_word]]
        return words, is_word


class NliBatches:
    """Examples for one network: asked for batches of them."""

    def __init__(
        self, numbered: NumberedExamples, embedder: Embedder, relations: RelationSource
    ) -> None:
        """Look up every distinct word once: a batch is then made of numbers alone."""
        self._numbered, self._embedder = numbered, embedder
        ids = relations.ids([[word] for word in numbered.words])
        self._ids: Numbers = ids.cpu().numpy().reshape(-1)
        self.sizes, self.labels = numbered.sizes, numbered.labels

    def __len__(self) -> int:
        """How many examples there are."""
        return len(self._numbered)

    def batch(self, chosen: Numbers) -> NliBatch:
        """The examples of these numbers."""
        lengths = self.sizes[chosen]
        examples = [self._numbered.examples[number] for number in chosen.tolist()]
        premises, hypotheses = (self._side(examples, chosen, side) for side in range(2))
        return NliBatch(
            premises=premises,
            hypotheses=hypotheses,
            packing=Packing.of([lengths[:, 0], lengths[:, 1]]),
            labels=torch.from_numpy(self.labels[chosen]),
        )

    def _side(self, examples: Sequence[NliExample], chosen: Numbers, side: int) -> Side:
        words, is_word = self._numbered.numbers(chosen, side)
        ids = np.where(is_word, self._ids[words] if len(self._ids) else 0, 0)
        return Side(
            inputs=self._embedder.prepare([example.sentences[side] for example in examples]),
            ids=torch.from_numpy(ids),
            is_word=torch.from_numpy(is_word),
        )

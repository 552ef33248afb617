"""Batches of premises and hypotheses, as tensors; made on the CPU, by another thread if need be.

Shapes: B batch, n and m places of premises and hypotheses, E examples.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pair2vec.arrays import Int64Array
from pair2vec.experiments.embedders.embedder import Embedder
from pair2vec.experiments.nli.examples import LABELS, NliExample
from pair2vec.experiments.tasks.batches import EncodedSentences, PadLength, TextBatch, exact_length
from pair2vec.injection.sources import RelationSource

NO_CLASS = -100
"""Of an example without a label; torch's cross entropy leaves it out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NliBatch:
    """What a network needs of some examples."""

    premises: TextBatch
    hypotheses: TextBatch
    labels: Tensor
    """(B,)"""

    def read_by(self, embedder: Embedder) -> "NliBatch":
        """With what is frozen of the embedder's work done."""
        return replace(
            self,
            premises=self.premises.read_by(embedder),
            hypotheses=self.hypotheses.read_by(embedder),
        )


class EncodedExamples:
    """Examples with their words as numbers: looked at once, however many networks learn of them."""

    def __init__(self, examples: Sequence[NliExample]) -> None:
        self.examples = examples
        self._sentences = EncodedSentences([s for e in examples for s in e.sentences])
        self.words = self._sentences.words
        """Each once; a word's number is its place."""
        self.sizes: Int64Array = self._sentences.lengths.reshape(-1, 2)
        """(E, 2): words of the premise and of the hypothesis."""
        classes = {label: number for number, label in enumerate(LABELS)}
        labels = (classes.get(example.label, NO_CLASS) for example in examples)
        self.labels: Int64Array = np.fromiter(labels, np.int64, len(examples))
        """(E,), as numbers of `LABELS`."""

    def __len__(self) -> int:
        """How many there are."""
        return len(self.examples)

    def numbers(
        self, chosen: Int64Array, side: int, widths: PadLength
    ) -> tuple[Int64Array, NDArray[np.bool_]]:
        """The words of some premises (0) or hypotheses (1), and which places have one: (B, n)."""
        return self._sentences.block(2 * chosen + side, widths=widths)


class NliBatches:
    """Examples for one network: asked for batches of them."""

    def __init__(
        self,
        numbered: EncodedExamples,
        embedder: Embedder,
        relations: RelationSource,
        widths: PadLength = exact_length,
    ) -> None:
        """Look up every distinct word once: a batch is then made of numbers alone."""
        self._numbered, self._embedder, self._widths = numbered, embedder, widths
        ids = relations.ids([[word] for word in numbered.words])
        self._ids: Int64Array = ids.cpu().numpy().reshape(-1)
        self.sizes, self.labels = numbered.sizes, numbered.labels

    def __len__(self) -> int:
        """How many examples there are."""
        return len(self._numbered)

    def batch(self, chosen: Int64Array) -> NliBatch:
        """The examples of these numbers."""
        examples = [self._numbered.examples[number] for number in chosen.tolist()]
        premises, hypotheses = (self._side(examples, chosen, side) for side in range(2))
        return NliBatch(
            premises=premises,
            hypotheses=hypotheses,
            labels=torch.from_numpy(self.labels[chosen]),
        )

    def _side(self, examples: Sequence[NliExample], chosen: Int64Array, side: int) -> TextBatch:
        words, is_word = self._numbered.numbers(chosen, side, self._widths)
        ids = np.where(is_word, self._ids[words] if len(self._ids) else 0, 0)
        sentences = [example.sentences[side] for example in examples]
        return TextBatch(
            inputs=self._embedder.prepare(sentences, words.shape[1]),
            ids=torch.from_numpy(ids),
            is_word=torch.from_numpy(is_word),
        )

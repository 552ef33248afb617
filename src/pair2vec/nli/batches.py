"""Batches of premises and hypotheses, as tensors; made on the CPU, by another thread if need be.

Shapes: B batch, n and m places of premises and hypotheses, E examples.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pair2vec.embedders.embedder import Embedder
from pair2vec.injection.relation_source import RelationSource
from pair2vec.nli.examples import LABELS, NliExample
from pair2vec.supervised.numbered_sentences import NumberedSentences
from pair2vec.supervised.order import Numbers
from pair2vec.supervised.side import Side
from pair2vec.supervised.widths import Widths, exactly

NO_CLASS = -100
"""Of an example without a label; torch's cross entropy leaves it out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NliBatch:
    """What a network needs of some examples."""

    premises: Side
    hypotheses: Side
    labels: Tensor
    """(B,)"""

    def read_by(self, embedder: Embedder) -> "NliBatch":
        """With what is frozen of the embedder's work done."""
        return replace(
            self,
            premises=self.premises.read_by(embedder),
            hypotheses=self.hypotheses.read_by(embedder),
        )


class NumberedExamples:
    """Examples with their words as numbers: looked at once, however many networks learn of them."""

    def __init__(self, examples: Sequence[NliExample]) -> None:
        self.examples = examples
        self._sentences = NumberedSentences([s for e in examples for s in e.sentences])
        self.words = self._sentences.words
        """Each once; a word's number is its place."""
        self.sizes: Numbers = self._sentences.lengths.reshape(-1, 2)
        """(E, 2): words of the premise and of the hypothesis."""
        classes = {label: number for number, label in enumerate(LABELS)}
        labels = (classes.get(example.label, NO_CLASS) for example in examples)
        self.labels: Numbers = np.fromiter(labels, np.int64, len(examples))
        """(E,), as numbers of `LABELS`."""

    def __len__(self) -> int:
        """How many there are."""
        return len(self.examples)

    def numbers(
        self, chosen: Numbers, side: int, widths: Widths
    ) -> tuple[Numbers, NDArray[np.bool_]]:
        """The words of some premises (0) or hypotheses (1), and which places have one: (B, n)."""
        return self._sentences.block(2 * chosen + side, widths=widths)


class NliBatches:
    """Examples for one network: asked for batches of them."""

    def __init__(
        self,
        numbered: NumberedExamples,
        embedder: Embedder,
        relations: RelationSource,
        widths: Widths = exactly,
    ) -> None:
        """Look up every distinct word once: a batch is then made of numbers alone."""
        self._numbered, self._embedder, self._widths = numbered, embedder, widths
        ids = relations.ids([[word] for word in numbered.words])
        self._ids: Numbers = ids.cpu().numpy().reshape(-1)
        self.sizes, self.labels = numbered.sizes, numbered.labels

    def __len__(self) -> int:
        """How many examples there are."""
        return len(self._numbered)

    def batch(self, chosen: Numbers) -> NliBatch:
        """The examples of these numbers."""
        examples = [self._numbered.examples[number] for number in chosen.tolist()]
        premises, hypotheses = (self._side(examples, chosen, side) for side in range(2))
        return NliBatch(
            premises=premises,
            hypotheses=hypotheses,
            labels=torch.from_numpy(self.labels[chosen]),
        )

    def _side(self, examples: Sequence[NliExample], chosen: Numbers, side: int) -> Side:
        words, is_word = self._numbered.numbers(chosen, side, self._widths)
        ids = np.where(is_word, self._ids[words] if len(self._ids) else 0, 0)
        sentences = [example.sentences[side] for example in examples]
        return Side(
            inputs=self._embedder.prepare(sentences, words.shape[1]),
            ids=torch.from_numpy(ids),
            is_word=torch.from_numpy(is_word),
        )

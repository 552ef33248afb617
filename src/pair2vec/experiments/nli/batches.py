"""Batches of premises and hypotheses, as tensors.

Shapes: B batch, n and m padded lengths of premises and hypotheses, E examples.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pair2vec.arrays import Int64Array
from pair2vec.experiments.embedders.embedder import Embedder
from pair2vec.experiments.nli.examples import LABELS, NliExample
from pair2vec.experiments.tasks.batches import (
    EncodedSentences,
    PadLength,
    TextBatch,
    TextCollator,
    exact_length,
)
from pair2vec.injection.sources import RelationSource

IGNORED_LABEL = -100
"""The class of an example without a label: the ``ignore_index`` of torch's cross entropy."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NliBatch:
    """The inputs of a network."""

    premises: TextBatch
    hypotheses: TextBatch
    labels: Tensor
    """(B,), indices of `LABELS`."""


class EncodedExamples:
    """Examples with their words as ids: encoded once, however many networks train on them."""

    def __init__(self, examples: Sequence[NliExample]) -> None:
        self.sentences = EncodedSentences([s for e in examples for s in e.sentences])
        """Premise and hypothesis of each example in turn."""
        self.sizes: Int64Array = self.sentences.lengths.reshape(-1, 2)
        """(E, 2), words of the premise and of the hypothesis."""
        classes = {label: number for number, label in enumerate(LABELS)}
        labels = (classes.get(example.label, IGNORED_LABEL) for example in examples)
        self.labels: Int64Array = np.fromiter(labels, np.int64, len(examples))
        """(E,), indices of `LABELS`."""


class NliBatches:
    """Makes batches of examples for one network."""

    def __init__(
        self,
        encoded: EncodedExamples,
        embedder: Embedder,
        relations: RelationSource,
        pad_length: PadLength = exact_length,
    ) -> None:
        self._collator = TextCollator(encoded.sentences, embedder, relations, pad_length)
        self.sizes, self.labels = encoded.sizes, encoded.labels

    def batch(self, indices: Int64Array) -> NliBatch:
        """These examples, on the CPU."""
        premises, hypotheses = (
            self._collator.collate(*self._collator.block(2 * indices + side)) for side in range(2)
        )
        labels = torch.from_numpy(self.labels[indices])
        return NliBatch(premises=premises, hypotheses=hypotheses, labels=labels)

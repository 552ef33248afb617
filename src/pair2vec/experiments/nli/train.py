"""The data of a training: examples to learn from and to choose by, and where they came from."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

from torch import Tensor, nn

from pair2vec.arrays import Int64Array
from pair2vec.experiments.nli.batches import EncodedExamples, NliBatch, NliBatches
from pair2vec.experiments.nli.classifier import CLASSIFIER, Classifier, NliSettings, predict_batches
from pair2vec.experiments.nli.esim import Esim
from pair2vec.experiments.nli.examples import NliExample, read_set
from pair2vec.experiments.tasks.batches import length_buckets
from pair2vec.experiments.tasks.inputs import InputPaths
from pair2vec.experiments.tasks.task import DevScores
from pair2vec.experiments.tasks.train import RunOptions, train_network, training_pad_length

_Paths = Sequence[str | os.PathLike[str]]


@dataclass(frozen=True)
class LabelledExamples:
    """Those of some files."""

    examples: list[NliExample]
    files: dict[str, int]
    """By name without folder, how many examples with a label each has."""

    @classmethod
    def read(cls, paths: _Paths) -> "LabelledExamples":
        """All files, one behind the other."""
        sets = [(Path(path).name, read_set(path).examples) for path in paths]
        return cls(
            [example for _, examples in sets for example in examples],
            {name: len(examples) for name, examples in sets},
        )

    @cached_property
    def numbered(self) -> EncodedExamples:
        """The same with words as numbers."""
        return EncodedExamples(self.examples)


@dataclass(frozen=True)
class NliData:
    """What a classifier is trained on."""

    train: LabelledExamples
    dev: LabelledExamples

    @classmethod
    def read(cls, train: _Paths, dev: _Paths) -> "NliData":
        """The examples of these files."""
        return cls(LabelledExamples.read(train), LabelledExamples.read(dev))

    def words(self) -> list[str]:
        """All that occur."""
        return [*self.train.numbered.words, *self.dev.numbered.words]

    @property
    def facts(self) -> dict[str, Any]:
        """What a classifier's config says of it."""
        return {"train": self.train.files, "dev": self.dev.files}

    @cached_property
    def fingerprint(self) -> str:
        """Of all examples in their order: a training goes on with the same ones only."""
        digest = hashlib.sha256()
        for part in (self.train, self.dev):
            for premise, hypothesis, label, _ in part.examples:
                digest.update(f"{' '.join(premise)}\t{' '.join(hypothesis)}\t{label}\n".encode())
            digest.update(b"\n")
        return digest.hexdigest()


# == From labelled examples to a classifier's folder: what ``pair2vec nli train`` does.


class NliTask:
    """ESIM as the loop wants it."""

    def __init__(self, network: Esim, train: NliBatches, dev: NliBatches) -> None:
        self.network = network
        self._train, self._dev = train, dev
        self.sizes = length_buckets(train.sizes)

    def batch(self, numbers: Int64Array) -> NliBatch:
        """Of the examples to learn from."""
        return self._train.batch(numbers)

    def read(self, batch: NliBatch) -> NliBatch:
        """Both sides by the embedder."""
        return batch.read_by(self.network.embedder)

    def measure(self, batch: NliBatch) -> dict[str, Tensor]:
        """Cross entropy, and the share of labels that are right."""
        scores = self.network(batch)
        right = (scores.argmax(dim=-1) == batch.labels).float().mean()
        return {"loss": nn.functional.cross_entropy(scores, batch.labels), "accuracy": right}

    def score_dev(self) -> DevScores:
        """The share of dev examples whose label is right."""
        device = next(self.network.parameters()).device
        found = predict_batches(self.network, self._dev, device).argmax(axis=1)
        return {"score": float((found == self._dev.labels).mean())}


def train_classifier(
    out: Path,
    data: NliData,
    places: InputPaths,
    settings: NliSettings | None = None,
    **options: Unpack[RunOptions],
) -> Classifier:
    """Train a classifier, or go on with one, and save it; see `train_network`.

    Raises:
        Interrupted: it was asked to stop, and wrote a checkpoint.
    """

    def task(network: Esim) -> NliTask:
        inputs = network.embedder, network.relations
        train = NliBatches(data.train.numbered, *inputs, training_pad_length(network))
        return NliTask(network, train, NliBatches(data.dev.numbered, *inputs))

    chosen = settings or NliSettings()
    return Classifier(*train_network(CLASSIFIER, task, out, data, places, chosen, **options))

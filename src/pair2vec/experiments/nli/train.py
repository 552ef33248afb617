"""Training of an NLI classifier: the data, the task, and what ``pair2vec nli train`` does."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

from torch import Tensor, nn

from pair2vec.arrays import Int64Array
from pair2vec.experiments.nli.batches import EncodedExamples, NliBatch, NliBatches
from pair2vec.experiments.nli.classifier import (
    CLASSIFIER,
    Classifier,
    NliSettings,
    predict_probabilities,
)
from pair2vec.experiments.nli.esim import Esim
from pair2vec.experiments.nli.examples import NliExample, read_nli_set
from pair2vec.experiments.tasks.batches import length_buckets, precompute_texts
from pair2vec.experiments.tasks.inputs import InputPaths
from pair2vec.experiments.tasks.task import DevScores
from pair2vec.experiments.tasks.train import RunOptions, train_network, training_pad_length

_Paths = Sequence[str | os.PathLike[str]]


@dataclass(frozen=True)
class LabelledExamples:
    """The examples of some files."""

    examples: list[NliExample]
    files: dict[str, int]
    """By file name, how many labelled examples each has."""

    @classmethod
    def read(cls, paths: _Paths) -> "LabelledExamples":
        """Concatenate the examples of these files."""
        sets = [(Path(path).name, read_nli_set(path).examples) for path in paths]
        return cls(
            [example for _, examples in sets for example in examples],
            {name: len(examples) for name, examples in sets},
        )

    @cached_property
    def encoded(self) -> EncodedExamples:
        return EncodedExamples(self.examples)


@dataclass(frozen=True)
class NliData:
    """Training examples, and dev examples to select the best weights by."""

    train: LabelledExamples
    dev: LabelledExamples

    @classmethod
    def read(cls, train: _Paths, dev: _Paths) -> "NliData":
        """The examples of these files."""
        return cls(LabelledExamples.read(train), LabelledExamples.read(dev))

    def words(self) -> list[str]:
        return [*self.train.encoded.sentences.words, *self.dev.encoded.sentences.words]

    @cached_property
    def fingerprint(self) -> str:
        """Of all examples in order: training resumes with the same ones only."""
        digest = hashlib.sha256()
        for part in (self.train, self.dev):
            for premise, hypothesis, label, _ in part.examples:
                digest.update(f"{' '.join(premise)}\t{' '.join(hypothesis)}\t{label}\n".encode())
            digest.update(b"\n")
        return digest.hexdigest()

    @property
    def facts(self) -> dict[str, Any]:
        """For the classifier's config."""
        return {"train": self.train.files, "dev": self.dev.files}


class NliTask:
    """ESIM as a `Task` of the supervised loop."""

    def __init__(self, network: Esim, train: NliBatches, dev: NliBatches) -> None:
        self.network = network
        self._train, self._dev = train, dev
        self.sizes = length_buckets(train.sizes)

    def batch(self, indices: Int64Array) -> NliBatch:
        return self._train.batch(indices)

    def precompute(self, batch: NliBatch) -> NliBatch:
        return precompute_texts(batch, self.network.embedder)

    def measure(self, batch: NliBatch) -> dict[str, Tensor]:
        """Cross entropy and accuracy."""
        scores = self.network(batch)
        accuracy = (scores.argmax(dim=-1) == batch.labels).float().mean()
        return {"loss": nn.functional.cross_entropy(scores, batch.labels), "accuracy": accuracy}

    def score_dev(self) -> DevScores:
        """The accuracy on the dev examples."""
        device = next(self.network.parameters()).device
        predicted = predict_probabilities(self.network, self._dev, device).argmax(axis=1)
        return {"score": float((predicted == self._dev.labels).mean())}


def train_classifier(
    out: Path,
    data: NliData,
    paths: InputPaths,
    settings: NliSettings | None = None,
    **options: Unpack[RunOptions],
) -> Classifier:
    """Train a classifier and save it, or resume its training; see `train_network`."""

    def task(network: Esim) -> NliTask:
        inputs = network.embedder, network.relations
        train = NliBatches(data.train.encoded, *inputs, training_pad_length(network))
        return NliTask(network, train, NliBatches(data.dev.encoded, *inputs))

    settings = settings or NliSettings()
    spec = replace(CLASSIFIER, model=settings.model)
    return Classifier(*train_network(spec, task, out, data, paths, settings, **options))

"""Training of a question answerer: the data, the task, and what ``pair2vec qa train`` does."""

import hashlib
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from torch import Tensor

from pair2vec.arrays import Int64Array
from pair2vec.errors import InputError
from pair2vec.experiments.qa.answerer import (
    ANSWERER,
    Answerer,
    QaSettings,
    ReadingConfig,
    predict_answers,
)
from pair2vec.experiments.qa.batches import (
    NOT_FOUND,
    EncodedQuestions,
    QaBatch,
    QaBatches,
    training_windows,
)
from pair2vec.experiments.qa.bidaf import Bidaf
from pair2vec.experiments.qa.examples import QaSet, read_qa
from pair2vec.experiments.qa.spans import span_loss
from pair2vec.experiments.qa.squad import best_match
from pair2vec.experiments.tasks.batches import length_buckets, precompute_texts
from pair2vec.experiments.tasks.inputs import InputPaths
from pair2vec.experiments.tasks.task import DevScores
from pair2vec.experiments.tasks.train import RunOptions, train_network, training_pad_length

_log = logging.getLogger(__name__)

_Paths = Sequence[str | os.PathLike[str]]


@dataclass(frozen=True)
class QaData:
    """Training questions, of which only ids are kept, and dev questions to select weights by."""

    train: EncodedQuestions
    train_files: dict[str, int]
    """By file name, how many questions each has."""
    dev: QaSet
    fingerprint: str
    """Of all questions in order: training resumes with the same ones only."""

    @classmethod
    def read(cls, train: _Paths, dev: _Paths) -> "QaData":
        """The questions of these files."""
        return cls.of(read_qa(train), read_qa(dev))

    @classmethod
    def of(cls, train: QaSet, dev: QaSet) -> "QaData":
        """The questions of two sets."""
        return cls(EncodedQuestions(train), train.files, dev, _fingerprint(train, dev))

    def words(self) -> list[str]:
        return [*self.train.words, *question_words(self.dev)]

    @property
    def facts(self) -> dict[str, Any]:
        """For the answerer's config."""
        not_found = int((self.train.answers[:, 0] == NOT_FOUND).sum())
        return {
            "train": self.train_files,
            "dev": self.dev.files,
            **({"answers_not_found": not_found} if not_found else {}),
        }


def question_words(*sets: QaSet) -> list[str]:
    """All words of some sets, each once, in order of first occurrence."""
    texts = (
        text
        for qa_set in sets
        for text in (*qa_set.passages, *(question.text for question in qa_set.questions))
    )
    return list(dict.fromkeys(word for text in texts for word in text.words))


def _fingerprint(*sets: QaSet) -> str:
    digest = hashlib.sha256()
    for qa_set in sets:
        for passage in qa_set.passages:
            digest.update(f"{' '.join(passage.words)}\n".encode())
        for question in qa_set.questions:
            words = " ".join(question.text.words)
            digest.update(f"{question.passage}\t{words}\t{question.answers}\n".encode())
        digest.update(b"\n")
    return digest.hexdigest()


class QaTrainable:
    """BiDAF++ as a `Trainable`: with the questions it is trained on."""

    def __init__(self, network: Bidaf, encoded: EncodedQuestions, reading: ReadingConfig) -> None:
        self.network = network
        windows, skipped = training_windows(encoded, reading.max_words)
        if not len(windows.question):
            raise InputError("no question to train on: no answer is where the data says")
        for count, reason in (
            (skipped.not_found, "is not in the passage"),
            (skipped.truncated, f"is beyond word {reading.max_words}"),
        ):
            if count:
                _log.info("%d questions are not trained on: their answer %s", count, reason)
        self._train = QaBatches(
            encoded, windows, network.embedder, network.relations, training_pad_length(network)
        )
        self.sizes = length_buckets(self._train.sizes)

    def batch(self, indices: Int64Array) -> QaBatch:
        return self._train.batch(indices)

    def precompute(self, batch: QaBatch) -> QaBatch:
        return precompute_texts(batch, self.network.embedder)

    def measure(self, batch: QaBatch) -> dict[str, Tensor]:
        """−log p of the answer, or of no answer."""
        return {"loss": span_loss(self.network(batch), batch.answers).mean()}


class QaTask(QaTrainable):
    """BiDAF++ as a `Task` of the supervised loop: with dev questions."""

    def __init__(self, network: Bidaf, data: QaData, reading: ReadingConfig) -> None:
        super().__init__(network, data.train, reading)
        self._reading = reading
        self._dev, self._dev_encoded = data.dev, EncodedQuestions(data.dev)
        self._dev_indices = _evenly_spaced(len(self._dev_encoded), reading.dev_questions)

    def score_dev(self) -> DevScores:
        """F1 and EM of SQuAD 2.0; where no answer is more probable, the prediction is empty."""
        device = next(self.network.parameters()).device
        predictions = predict_answers(
            self.network,
            self._dev_encoded,
            self._dev_indices,
            self._dev,
            reading=self._reading,
            device=device,
        )
        matches = []
        for index in self._dev_indices.tolist():
            question = self._dev.questions[index]
            predicted = predictions[question.id]
            answer = "" if predicted.no_answer > 0 else predicted.answer
            matches.append(best_match(answer, question))
        em, f1 = np.mean(matches, axis=0)
        return {"score": float(f1), "em": float(em)}


def _evenly_spaced(count: int, most: int) -> Int64Array:
    """About `most` of `count` indices; all if `most` is 0."""
    step = max(1, round(count / most)) if most else 1
    return np.arange(0, count, step)


def train_answerer(
    out: Path,
    data: QaData,
    paths: InputPaths,
    settings: QaSettings | None = None,
    **options: Unpack[RunOptions],
) -> Answerer:
    """Train an answerer and save it, or resume its training; see `train_network`."""
    resolved = settings or QaSettings()

    def task(network: Bidaf) -> QaTask:
        return QaTask(network, data, resolved.qa)

    return Answerer(*train_network(ANSWERER, task, out, data, paths, resolved, **options))

"""The data of a training: questions to learn from and to choose by, and where they came from."""

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
from pair2vec.experiments.tasks.batches import length_buckets
from pair2vec.experiments.tasks.inputs import InputPaths
from pair2vec.experiments.tasks.task import DevScores
from pair2vec.experiments.tasks.train import RunOptions, train_network, training_pad_length

_Paths = Sequence[str | os.PathLike[str]]


@dataclass(frozen=True)
class QaData:
    """What an answerer is trained on; of the questions to learn from only numbers are kept."""

    train: EncodedQuestions
    train_files: dict[str, int]
    """By name without folder, how many questions each has."""
    dev: QaSet
    fingerprint: str
    """Of all questions in their order: a training goes on with the same ones only."""

    @classmethod
    def read(cls, train: _Paths, dev: _Paths) -> "QaData":
        """The questions of these files."""
        return cls.of(read_qa(train), read_qa(dev))

    @classmethod
    def of(cls, train: QaSet, dev: QaSet) -> "QaData":
        """Those of two sets."""
        return cls(EncodedQuestions(train), train.files, dev, _fingerprint(train, dev))

    def words(self) -> list[str]:
        """All that occur."""
        return [*self.train.words, *question_words(self.dev)]

    @property
    def facts(self) -> dict[str, Any]:
        """What an answerer's config says of it."""
        not_found = int((self.train.answers[:, 0] == NOT_FOUND).sum())
        return {
            "train": self.train_files,
            "dev": self.dev.files,
            **({"answers_not_found": not_found} if not_found else {}),
        }


def question_words(*sets: QaSet) -> list[str]:
    """All words of some sets, each once, in the order in which they occur."""
    texts = (
        text
        for found in sets
        for text in (*found.passages, *(question.text for question in found.questions))
    )
    return list(dict.fromkeys(word for text in texts for word in text.words))


def _fingerprint(*sets: QaSet) -> str:
    digest = hashlib.sha256()
    for found in sets:
        for passage in found.passages:
            digest.update(f"{' '.join(passage.words)}\n".encode())
        for question in found.questions:
            asked = f"{question.passage}\t{' '.join(question.text.words)}\t{question.answers}\n"
            digest.update(asked.encode())
        digest.update(b"\n")
    return digest.hexdigest()


# == From questions with answers to an answerer's folder: what ``pair2vec qa train`` does.


_log = logging.getLogger(__name__)


class QaLearning:
    """BiDAF++, and the questions it learns from."""

    def __init__(self, network: Bidaf, asked: EncodedQuestions, reading: ReadingConfig) -> None:
        self.network = network
        windows, left = training_windows(asked, reading.max_words)
        if not len(windows.question):
            raise InputError("no question to learn from: no answer is where the data says")
        for count, reason in (
            (left.not_found, "is not in the passage"),
            (left.too_late, f"is behind word {reading.max_words}"),
        ):
            if count:
                _log.info("%d questions are not learnt from: their answer %s", count, reason)
        self._train = QaBatches(
            asked, windows, network.embedder, network.relations, training_pad_length(network)
        )
        self.sizes = length_buckets(self._train.sizes)

    def batch(self, numbers: Int64Array) -> QaBatch:
        """Of the questions to learn from."""
        return self._train.batch(numbers)

    def read(self, batch: QaBatch) -> QaBatch:
        """Both texts by the embedder."""
        return batch.read_by(self.network.embedder)

    def measure(self, batch: QaBatch) -> dict[str, Tensor]:
        """−log p of the answer, or of there being none."""
        return {"loss": span_loss(self.network(batch), batch.answers).mean()}


class QaTask(QaLearning):
    """With the questions that the best weights are chosen by."""

    def __init__(self, network: Bidaf, data: QaData, reading: ReadingConfig) -> None:
        super().__init__(network, data.train, reading)
        self._reading = reading
        self._dev, self._dev_numbered = data.dev, EncodedQuestions(data.dev)
        self._dev_chosen = _spread(len(self._dev_numbered), reading.dev_questions)

    def score_dev(self) -> DevScores:
        """F1 and EM of SQuAD 2.0; nothing is said where no answer is likelier."""
        device = next(self.network.parameters()).device
        found = predict_answers(
            self.network,
            self._dev_numbered,
            self._dev_chosen,
            self._dev,
            reading=self._reading,
            device=device,
        )
        matches = []
        for number in self._dev_chosen.tolist():
            question = self._dev.questions[number]
            said = found[question.id]
            matches.append(best_match("" if said.no_answer > 0 else said.answer, question))
        em, f1 = np.mean(matches, axis=0)
        return {"score": float(f1), "em": float(em)}


def _spread(count: int, most: int) -> Int64Array:
    """Every so many of `count`, so that there are about `most`; all if that is 0."""
    step = max(1, round(count / most)) if most else 1
    return np.arange(0, count, step)


def train_answerer(
    out: Path,
    data: QaData,
    places: InputPaths,
    settings: QaSettings | None = None,
    **options: Unpack[RunOptions],
) -> Answerer:
    """Train an answerer, or go on with one, and save it; see `train_network`.

    Raises:
        Interrupted: it was asked to stop, and wrote a checkpoint.
    """
    chosen = settings or QaSettings()

    def task(network: Bidaf) -> QaTask:
        return QaTask(network, data, chosen.qa)

    return Answerer(*train_network(ANSWERER, task, out, data, places, chosen, **options))

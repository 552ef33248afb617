"""From questions with answers to an answerer's folder: what ``pair2vec qa train`` does."""

import logging
from pathlib import Path
from typing import Unpack

import numpy as np
from torch import Tensor

from pair2vec.errors import InputError
from pair2vec.qa.answerer import ANSWERER, Answerer, predict
from pair2vec.qa.batches import QaBatch, QaBatches
from pair2vec.qa.bidaf import Bidaf
from pair2vec.qa.data import QaData
from pair2vec.qa.matching import best_match
from pair2vec.qa.numbered import NumberedQuestions
from pair2vec.qa.settings import QaSettings, ReadingConfig
from pair2vec.qa.spans import span_loss
from pair2vec.qa.windows import training_windows
from pair2vec.supervised.inputs import InputPlaces
from pair2vec.supervised.order import Numbers, classes_of_length
from pair2vec.supervised.task import Measures
from pair2vec.supervised.training import RunOptions, train_network, widths_of_training

_log = logging.getLogger(__name__)


class QaLearning:
    """BiDAF++, and the questions it learns from."""

    def __init__(self, network: Bidaf, asked: NumberedQuestions, reading: ReadingConfig) -> None:
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
            asked, windows, network.embedder, network.relations, widths_of_training(network)
        )
        self.sizes = classes_of_length(self._train.sizes)

    def batch(self, numbers: Numbers) -> QaBatch:
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
        self._dev, self._dev_numbered = data.dev, NumberedQuestions(data.dev)
        self._dev_chosen = _spread(len(self._dev_numbered), reading.dev_questions)

    def score_dev(self) -> Measures:
        """F1 and EM of SQuAD 2.0; nothing is said where no answer is likelier."""
        device = next(self.network.parameters()).device
        found = predict(
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


def _spread(count: int, most: int) -> Numbers:
    """Every so many of `count`, so that there are about `most`; all if that is 0."""
    step = max(1, round(count / most)) if most else 1
    return np.arange(0, count, step)


def train_answerer(
    out: Path,
    data: QaData,
    places: InputPlaces,
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

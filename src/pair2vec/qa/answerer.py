"""A trained answerer: asked, and loaded."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from pair2vec.qa.answering import Ranking, best_windows, ranking, span_odds
from pair2vec.qa.batches import QaBatches
from pair2vec.qa.bidaf import Bidaf
from pair2vec.qa.examples import QaSet, Question, Text
from pair2vec.qa.numbered import NumberedQuestions
from pair2vec.qa.predictions import Prediction
from pair2vec.qa.settings import QaSettings, ReadingConfig, settings_from_json
from pair2vec.qa.windows import answering_windows
from pair2vec.supervised.inputs import Inputs
from pair2vec.supervised.network_kind import NetworkKind
from pair2vec.supervised.order import Numbers
from pair2vec.supervised.saved_network import load_network


def _make(inputs: Inputs, settings: QaSettings) -> Bidaf:
    return Bidaf(inputs.embedder, inputs.relations, settings.bidaf)


ANSWERER = NetworkKind(
    name="qa answerer",
    noun="answerer",
    title="a QA answerer",
    model="bidaf++",
    command="pair2vec qa train",
    defaults=QaSettings(),
    make=_make,
)


class Answered(NamedTuple):
    """A possible answer in a passage."""

    answer: str
    probability: float
    start: int
    """Its first character in the passage."""
    end: int
    """One behind its last."""


class Answers(NamedTuple):
    """What an answerer says of a question."""

    answers: list[Answered]
    """The likeliest first."""
    no_answer: float
    """The probability that the passage has none."""

    @property
    def best(self) -> Answered | None:
        """The likeliest answer; None if that there is none is likelier."""
        first = self.answers[0] if self.answers else None
        return first if first and first.probability >= self.no_answer else None


@dataclass(frozen=True)
class Answerer:
    """A network that was trained, and what is known of it."""

    network: Bidaf
    config: Mapping[str, Any]
    device: torch.device

    @property
    def reading(self) -> ReadingConfig:
        """What it reads of passages, and takes for an answer."""
        return settings_from_json(self.config["settings"]).qa

    def predict(self, found: QaSet) -> dict[str, Prediction]:
        """By question, the best span of its passage; its own answers do not matter.

        Words that the answerer was not loaded for are unknown to it.
        """
        numbered = NumberedQuestions(found)
        chosen = np.arange(len(numbered))
        return predict(
            self.network, numbered, chosen, found, reading=self.reading, device=self.device
        )

    def answer(self, passage: Text, question: Text, top: int = 1) -> Answers:
        """The likeliest answers to one question."""
        reading = self.reading
        numbered = NumberedQuestions(QaSet([passage], [Question("", question, 0, ())], {}))
        windows = answering_windows(numbered, np.zeros(1, np.int64), reading.max_words)
        batches = QaBatches(numbered, windows, self.network.embedder, self.network.relations)
        odds = span_odds(
            self.network, batches, self.device, longest=reading.longest_answer, top=top
        )
        return _answers(passage, ranking(odds, top))


def _answers(passage: Text, found: Ranking) -> Answers:
    if not passage.words:
        return Answers([], 1.0)
    answers = [
        Answered(
            passage.span(span.first, span.last),
            span.probability,
            passage.starts[span.first],
            passage.ends[span.last],
        )
        for span in found.spans
    ]
    return Answers(answers, found.no_answer)


def predict(
    network: Bidaf,
    numbered: NumberedQuestions,
    chosen: Numbers,
    found: QaSet,
    *,
    reading: ReadingConfig,
    device: torch.device,
) -> dict[str, Prediction]:
    """By id, what a network says of some questions of a set, which are `chosen` by number."""
    windows = answering_windows(numbered, chosen, reading.max_words)
    batches = QaBatches(numbered, windows, network.embedder, network.relations)
    odds = span_odds(network, batches, device, longest=reading.longest_answer)
    best = best_windows(odds, windows.question)
    rows = zip(
        windows.question[best].tolist(),
        odds.first[best, 0].tolist(),
        odds.last[best, 0].tolist(),
        odds.odds[best, 0].tolist(),
        strict=True,
    )
    predictions = {}
    for number, first, last, log_odds in rows:
        question = found.questions[number]
        passage = found.passages[question.passage]
        text = passage.span(first, last) if passage.words else ""
        predictions[question.id] = Prediction(text, -log_odds, (first, last))
    return predictions


def load_answerer(
    folder: str | os.PathLike[str],
    words: Iterable[str],
    *,
    places: Mapping[str, str | None] | None = None,
    device: str = "auto",
) -> Answerer:
    """Open an answerer for these words; see `load_network`.

    Raises:
        InputError: there is none, it is not complete, or its inputs are not those it had.
    """
    return Answerer(*load_network(ANSWERER, folder, words, places=places, device=device))

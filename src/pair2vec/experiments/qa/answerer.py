"""All settings of an answerer and of its training, beside the data and its inputs."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from pair2vec.arrays import Int64Array
from pair2vec.errors import UsageError
from pair2vec.experiments.qa.batches import EncodedQuestions, QaBatches, answering_windows
from pair2vec.experiments.qa.bidaf import Bidaf, BidafConfig
from pair2vec.experiments.qa.examples import Prediction, QaQuestion, QaSet, Text
from pair2vec.experiments.qa.spans import all_spans, best_spans
from pair2vec.experiments.tasks.batches import batches_by_size
from pair2vec.experiments.tasks.inputs import Inputs, PairsConfig
from pair2vec.experiments.tasks.saved_network import load_network
from pair2vec.experiments.tasks.task import NetworkSpec, SupervisedConfig, assigned
from pair2vec.runtime.cuda_graphs import tree_to
from pair2vec.runtime.devices import autocast
from pair2vec.runtime.prefetch import prefetch
from pair2vec.training.recipes import with_settings


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadingConfig:
    """What is read of passages, and taken for an answer."""

    max_words: int = 400
    """Of a passage at a time: learning ends there, answering goes on in parts."""
    longest_answer: int = 17
    """In words."""
    dev_questions: int = 2000
    """The best weights are chosen by about so many of the dev questions, evenly spread (0: all)."""

    def __post_init__(self) -> None:
        for name in ("max_words", "longest_answer"):
            if getattr(self, name) < 1:
                raise UsageError(f"qa.{name} is {getattr(self, name)}; it must be 1 or more")
        if self.dev_questions < 0:
            raise UsageError(f"qa.dev_questions is {self.dev_questions}; it must be 0 or more")
        # A part shares a quarter with the next: an answer must not be cut by all of them.
        if self.longest_answer > max(1, self.max_words // 4):
            raise UsageError(
                f"qa.longest_answer is {self.longest_answer}; it must be at most a quarter of "
                f"qa.max_words, {self.max_words}"
            )


def _learning() -> SupervisedConfig:
    return SupervisedConfig(batch=64, epochs=20, rate=1e-3, clip=5.0, rate_patience=0, patience=3)


@dataclass(frozen=True, kw_only=True, slots=True)
class QaSettings:
    """The network is that of Clark & Gardner (2018); it learns by Adam, in batches for a GPU."""

    bidaf: BidafConfig = field(default_factory=BidafConfig)
    pairs: PairsConfig = field(default_factory=PairsConfig)
    qa: ReadingConfig = field(default_factory=ReadingConfig)
    training: SupervisedConfig = field(default_factory=_learning)


def qa_settings(assignments: Iterable[str], seed: int = 0) -> QaSettings:
    """The defaults, changed by ``key=value``s as in ``training.batch=128``."""
    return assigned(QaSettings(), assignments, seed)


def qa_settings_from_json(saved: Mapping[str, Any]) -> QaSettings:
    """The settings that ``asdict`` made this of."""
    return with_settings(QaSettings(), saved)


# == Answers: what a network's scores come to, over all parts of a passage.
#
# Scores of one part cannot be compared with those of another, since they have no zero in common but
# that of no answer. So a span counts by its log-odds s_i + g_j − z, and over all parts
#
#     p(span) = e^odds / (1 + Σ_parts Σ_spans e^odds)
#
# which is the network's own probability where there is one part. A span in two parts counts as it
# does where it counts more.
#
# Shapes: B batch, K windows, T spans kept of each.


_AT_ONCE = 128
_AHEAD = 4

_Floats = NDArray[np.float32]


class SpanOdds(NamedTuple):
    """The best spans of each window, in the order of the windows."""

    first: Int64Array
    """(K, T), counted in the whole passage."""
    last: Int64Array
    """(K, T), inclusive."""
    odds: _Floats
    """(K, T), their scores less that of no answer; the best first."""
    of_all: _Floats
    """(K,), of all spans together."""


@torch.no_grad()
def span_odds(
    network: Bidaf, batches: QaBatches, device: torch.device, *, longest: int, top: int = 1
) -> SpanOdds:
    """Ask a network about all windows; it is in eval mode meanwhile."""
    was_training = network.training
    network.eval()
    count = len(batches)
    found = SpanOdds(
        np.zeros((count, top), np.int64),
        np.zeros((count, top), np.int64),
        np.full((count, top), -np.inf, np.float32),
        np.zeros(count, np.float32),
    )
    orders = batches_by_size(batches.sizes, _AT_ONCE)
    made = ((tree_to(batches.batch(numbers), device), numbers) for numbers in orders)
    with autocast(device):
        for batch, numbers in prefetch(made, _AHEAD) if device.type == "cuda" else made:
            scores = network(batch)
            spans = best_spans(scores, longest, top)
            kept = spans.first.shape[1]
            begin = batches.windows.first[numbers][:, None]
            found.first[numbers, :kept] = begin + spans.first.cpu().numpy()
            found.last[numbers, :kept] = begin + spans.last.cpu().numpy()
            odds = spans.score - scores.no_answer[:, None]
            found.odds[numbers, :kept] = odds.cpu().numpy()
            found.of_all[numbers] = (all_spans(scores) - scores.no_answer).cpu().numpy()
    network.train(was_training)
    return found


class RankedSpan(NamedTuple):
    """A possible answer."""

    first: int
    last: int
    odds: float
    probability: float


class AnswerRanking(NamedTuple):
    """All that is said of one question."""

    spans: list[RankedSpan]
    """The best first."""
    no_answer: float
    """The probability that there is none."""


def ranking(found: SpanOdds, top: int) -> AnswerRanking:
    """Of the windows of one question, the best spans and their probabilities."""
    total = float(np.logaddexp.reduce([0.0, *found.of_all.tolist()]))
    best: dict[tuple[int, int], float] = {}
    spans = zip(found.first.flat, found.last.flat, found.odds.flat, strict=True)
    for first, last, odds in spans:
        if odds > -np.inf:
            place = int(first), int(last)
            best[place] = max(float(odds), best.get(place, -np.inf))
    ranked = sorted(best.items(), key=lambda span: -span[1])[:top]
    return AnswerRanking(
        [RankedSpan(*place, odds, float(np.exp(odds - total))) for place, odds in ranked],
        float(np.exp(-total)),
    )


def best_windows(found: SpanOdds, questions: Int64Array) -> Int64Array:
    """Of the windows (K,) of some questions, that with the best span of each, in their order."""
    order = np.lexsort((-found.odds[:, 0], questions))
    _, place = np.unique(questions[order], return_index=True)
    return order[place]


# == A trained answerer: asked, and loaded.


def _make(inputs: Inputs, settings: QaSettings) -> Bidaf:
    return Bidaf(inputs.embedder, inputs.relations, settings.bidaf)


ANSWERER = NetworkSpec(
    name="qa answerer",
    noun="answerer",
    title="a QA answerer",
    model="bidaf++",
    command="pair2vec qa train",
    defaults=QaSettings(),
    make=_make,
)


class CandidateAnswer(NamedTuple):
    """A possible answer in a passage."""

    answer: str
    probability: float
    start: int
    """Its first character in the passage."""
    end: int
    """One behind its last."""


class Answers(NamedTuple):
    """What an answerer says of a question."""

    answers: list[CandidateAnswer]
    """The likeliest first."""
    no_answer: float
    """The probability that the passage has none."""

    @property
    def best(self) -> CandidateAnswer | None:
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
        return qa_settings_from_json(self.config["settings"]).qa

    def predict(self, found: QaSet) -> dict[str, Prediction]:
        """By question, the best span of its passage; its own answers do not matter.

        Words that the answerer was not loaded for are unknown to it.
        """
        numbered = EncodedQuestions(found)
        chosen = np.arange(len(numbered))
        return predict_answers(
            self.network, numbered, chosen, found, reading=self.reading, device=self.device
        )

    def answer(self, passage: Text, question: Text, top: int = 1) -> Answers:
        """The likeliest answers to one question."""
        reading = self.reading
        numbered = EncodedQuestions(QaSet([passage], [QaQuestion("", question, 0, ())], {}))
        windows = answering_windows(numbered, np.zeros(1, np.int64), reading.max_words)
        batches = QaBatches(numbered, windows, self.network.embedder, self.network.relations)
        odds = span_odds(
            self.network, batches, self.device, longest=reading.longest_answer, top=top
        )
        return _answers(passage, ranking(odds, top))


def _answers(passage: Text, found: AnswerRanking) -> Answers:
    if not passage.words:
        return Answers([], 1.0)
    answers = [
        CandidateAnswer(
            passage.span(span.first, span.last),
            span.probability,
            passage.starts[span.first],
            passage.ends[span.last],
        )
        for span in found.spans
    ]
    return Answers(answers, found.no_answer)


def predict_answers(
    network: Bidaf,
    numbered: EncodedQuestions,
    chosen: Int64Array,
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

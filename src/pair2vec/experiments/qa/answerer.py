"""The question answerer: settings, loading and prediction.

A passage longer than the network reads is answered in overlapping windows. Scores of two windows
have no zero in common but that of no answer, so a span counts by its log-odds s_i + g_j − z, and

    p(span) = e^odds / (1 + Σ_windows Σ_spans e^odds)

which is the network's own probability where there is one window. A span in two windows counts with
the higher log-odds.

Shapes: K windows, T spans kept of each.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple, Unpack

import numpy as np
import torch
from numpy.typing import NDArray

from pair2vec.arrays import Int64Array
from pair2vec.errors import UsageError
from pair2vec.experiments.qa.batches import EncodedQuestions, QaBatches, answering_windows
from pair2vec.experiments.qa.bidaf import Bidaf, BidafConfig
from pair2vec.experiments.qa.examples import QaQuestion, QaSet, SpanPrediction, TokenisedText
from pair2vec.experiments.qa.spans import all_spans_score, best_spans
from pair2vec.experiments.tasks.batches import evaluating
from pair2vec.experiments.tasks.inputs import PairsConfig
from pair2vec.experiments.tasks.saved_network import load_network
from pair2vec.experiments.tasks.task import (
    LoadOptions,
    NetworkSpec,
    SupervisedConfig,
    Trained,
    assigned,
)
from pair2vec.ranges import Count, OptionalCount, Range, check_ranges
from pair2vec.training.recipes import with_settings

_EVAL_BATCH = 128


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadingConfig:
    """How passages are read, and which spans may be answers."""

    max_words: Annotated[int, Range(least=1, most=100_000)] = 400
    """Of a passage: training truncates it there, prediction reads the rest in further windows."""
    longest_answer: Count = 17
    """In words."""
    dev_questions: OptionalCount = 2000
    """The best weights are selected by about this many dev questions, evenly spaced (0: all)."""

    def __post_init__(self) -> None:
        check_ranges(self)
        # Windows overlap by a quarter: some window must have all of an answer.
        if self.longest_answer > max(1, self.max_words // 4):
            raise UsageError(
                f"longest_answer is {self.longest_answer}; it must be at most a quarter of "
                f"max_words, {self.max_words}"
            )


def _training_defaults() -> SupervisedConfig:
    return SupervisedConfig(batch=64, epochs=20, rate=1e-3, clip=5.0, rate_patience=0, patience=3)


@dataclass(frozen=True, kw_only=True, slots=True)
class QaSettings:
    """The network of Clark & Gardner (2018), trained by Adam in batches for a GPU."""

    bidaf: BidafConfig = field(default_factory=BidafConfig)
    pairs: PairsConfig = field(default_factory=PairsConfig)
    qa: ReadingConfig = field(default_factory=ReadingConfig)
    training: SupervisedConfig = field(default_factory=_training_defaults)


def qa_settings(assignments: Iterable[str], seed: int = 0) -> QaSettings:
    """The defaults, changed by ``key=value`` assignments such as ``training.batch=128``."""
    return assigned(QaSettings(), assignments, seed)


ANSWERER = NetworkSpec(
    name="qa answerer",
    noun="answerer",
    title="a QA answerer",
    model="bidaf++",
    command="pair2vec qa train",
    defaults=QaSettings(),
    make=lambda inputs, settings: Bidaf(inputs.embedder, inputs.relations, settings.bidaf),
)


class CandidateAnswer(NamedTuple):
    """A possible answer in a passage."""

    answer: str
    probability: float
    start: int
    """Its first character in the passage."""
    end: int
    """After its last character."""


class Answers(NamedTuple):
    """The answers to a question."""

    answers: list[CandidateAnswer]
    """The most probable first."""
    no_answer: float
    """The probability that the passage has none."""

    @property
    def best(self) -> CandidateAnswer | None:
        """The most probable answer; None if no answer is more probable."""
        first = self.answers[0] if self.answers else None
        return first if first and first.probability >= self.no_answer else None


class Answerer(Trained[Bidaf]):
    """A trained BiDAF++."""

    @property
    def reading(self) -> ReadingConfig:
        return with_settings(QaSettings(), self.config["settings"]).qa

    def predict(self, questions: QaSet) -> dict[str, SpanPrediction]:
        """By question id, the best span of its passage; gold answers are ignored.

        Words that the answerer was not loaded for are unknown to it.
        """
        encoded = EncodedQuestions(questions)
        return predict_answers(
            self.network,
            encoded,
            np.arange(len(encoded)),
            questions,
            reading=self.reading,
            device=self.device,
        )

    def answer(self, passage: TokenisedText, question: TokenisedText, top: int = 1) -> Answers:
        """The most probable answers to one question."""
        if not passage.words:
            return Answers([], 1.0)
        reading, network = self.reading, self.network
        encoded = EncodedQuestions(QaSet([passage], [QaQuestion("", question, 0, ())], {}))
        windows = answering_windows(encoded, np.zeros(1, np.int64), reading.max_words)
        batches = QaBatches(encoded, windows, network.embedder, network.relations)
        odds = span_odds(network, batches, self.device, longest=reading.longest_answer, top=top)
        spans, no_answer = rank_spans(odds, top)
        answers = [
            CandidateAnswer(
                passage.span(span.first, span.last),
                span.probability,
                passage.starts[span.first],
                passage.ends[span.last],
            )
            for span in spans
        ]
        return Answers(answers, no_answer)


def load_answerer(
    folder: str | os.PathLike[str], words: Iterable[str], **options: Unpack[LoadOptions]
) -> Answerer:
    """Open a saved answerer for these words; see `load_network`."""
    return Answerer(*load_network(ANSWERER, folder, words, **options))


def predict_answers(
    network: Bidaf,
    encoded: EncodedQuestions,
    indices: Int64Array,
    questions: QaSet,
    *,
    reading: ReadingConfig,
    device: torch.device,
) -> dict[str, SpanPrediction]:
    """By id, the best spans for the questions of these indices."""
    windows = answering_windows(encoded, indices, reading.max_words)
    batches = QaBatches(encoded, windows, network.embedder, network.relations)
    odds = span_odds(network, batches, device, longest=reading.longest_answer)
    best = best_windows(odds, windows.question)
    rows = zip(
        windows.question[best].tolist(),
        odds.first[best, 0].tolist(),
        odds.last[best, 0].tolist(),
        odds.log_odds[best, 0].tolist(),
        strict=True,
    )
    predictions = {}
    for index, first, last, log_odds in rows:
        question = questions.questions[index]
        passage = questions.passages[question.passage]
        text = passage.span(first, last) if passage.words else ""
        predictions[question.id] = SpanPrediction(text, -log_odds, (first, last))
    return predictions


class SpanOdds(NamedTuple):
    """The best spans of each window."""

    first: Int64Array
    """(K, T), word positions in the whole passage."""
    last: Int64Array
    """(K, T), inclusive."""
    log_odds: NDArray[np.float32]
    """(K, T), scores less that of no answer; the best first."""
    total_log_odds: NDArray[np.float32]
    """(K,), the log of the sum over all spans."""


def span_odds(
    network: Bidaf, batches: QaBatches, device: torch.device, *, longest: int, top: int = 1
) -> SpanOdds:
    """Score the spans of all windows."""
    count = len(batches.sizes)
    odds = SpanOdds(
        np.zeros((count, top), np.int64),
        np.zeros((count, top), np.int64),
        np.full((count, top), -np.inf, np.float32),
        np.zeros(count, np.float32),
    )
    with evaluating(network, batches, device, _EVAL_BATCH) as on_device:
        for batch, indices in on_device:
            scores = network(batch)
            spans = best_spans(scores, longest, top)
            kept = spans.first.shape[1]
            offset = batches.windows.first[indices][:, None]
            odds.first[indices, :kept] = offset + spans.first.cpu().numpy()
            odds.last[indices, :kept] = offset + spans.last.cpu().numpy()
            log_odds = spans.score - scores.no_answer[:, None]
            odds.log_odds[indices, :kept] = log_odds.cpu().numpy()
            total = all_spans_score(scores) - scores.no_answer
            odds.total_log_odds[indices] = total.cpu().numpy()
    return odds


class RankedSpan(NamedTuple):
    """A possible answer, by the positions of its words."""

    first: int
    last: int
    log_odds: float
    probability: float


class AnswerRanking(NamedTuple):
    """The best spans of one passage."""

    spans: list[RankedSpan]
    """The best first."""
    no_answer: float
    """The probability of no answer."""


def rank_spans(odds: SpanOdds, top: int) -> AnswerRanking:
    """The best spans over the windows of one question, and their probabilities."""
    total = float(np.logaddexp.reduce([0.0, *odds.total_log_odds.tolist()]))
    best: dict[tuple[int, int], float] = {}
    spans = zip(odds.first.flat, odds.last.flat, odds.log_odds.flat, strict=True)
    for first, last, log_odds in spans:
        if log_odds > -np.inf:
            span = int(first), int(last)
            best[span] = max(float(log_odds), best.get(span, -np.inf))
    ranked = sorted(best.items(), key=lambda item: -item[1])[:top]
    return AnswerRanking(
        [
            RankedSpan(*span, best_odds, float(np.exp(best_odds - total)))
            for span, best_odds in ranked
        ],
        float(np.exp(-total)),
    )


def best_windows(odds: SpanOdds, questions: Int64Array) -> Int64Array:
    """The window with the best span of each question, in the order of questions.

    Args:
        odds: Of the windows.
        questions: (K,), the question of each window.
    """
    order = np.lexsort((-odds.log_odds[:, 0], questions))
    _, first = np.unique(questions[order], return_index=True)
    return order[first]

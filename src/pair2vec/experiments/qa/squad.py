"""Exact match and F1 of answers, by the official programs of SQuAD and of its adversaries.

A prediction is scored against the best-matching gold answer. A question without an answer is right
if the prediction is empty, which it is where the score of no answer is above a threshold.

AddSent and AddOneSent (Jia & Liang, 2017) add to a passage a sentence that looks like an answer and
is none. A question has several such variants, ``ID-high-conf-turk2``, beside the original, ``ID``;
the worst one counts.

Shapes: n questions.
"""

import math
import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.qa.examples import QaQuestion, QaSet, SpanPrediction, read_qa

SQUAD_SETS = {
    "squad2": "SQuAD 2.0",
    "squad1": "SQuAD 1.1",
    "add_sent": "AddSent",
    "add_one_sent": "AddOneSent",
}
"""By name, their usual spelling."""

ALWAYS_ANSWER = math.inf
"""The threshold on sets where every question has an answer, such as SQuAD 1.1."""

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_VARIANT = re.compile(r"([0-9a-f]{24})-.+")
"""An id of SQuAD and a suffix; ids of other sets, such as UUIDs, may have a "-" too."""


class BestThreshold(NamedTuple):
    """The threshold that is best on the very questions that are scored."""

    value: float
    """The metric, in percent."""
    threshold: float
    """The lowest of the best; −inf if it is best never to answer."""


class SquadScores(NamedTuple):
    """In percent; None without questions of the kind."""

    n: int
    em: float
    f1: float
    has_answer_em: float | None
    has_answer_f1: float | None
    no_answer_em: float | None
    """The accuracy on questions without an answer."""
    best_em: BestThreshold
    best_f1: BestThreshold


class AdversarialScores(NamedTuple):
    """In percent, of the worst variants."""

    n: int
    """Original questions."""
    em: float
    f1: float
    original_em: float | None
    """On the originals, without an added sentence; None if the set lacks them."""
    original_f1: float | None


PredictFunction = Callable[[QaSet], Mapping[str, SpanPrediction]]
"""From a set to predictions by question id."""

SetScores = SquadScores | AdversarialScores


def squad_set_name(qa_set: QaSet) -> str:
    """Which of `SQUAD_SETS` it is, by its ids and by questions without answers."""
    if is_adversarial(qa_set.questions):
        variants = Counter(map(original_id, qa_set.questions))
        # The original and one variant.
        return "add_one_sent" if max(variants.values()) <= 2 else "add_sent"
    return "squad1" if all(question.answers for question in qa_set.questions) else "squad2"


def read_squad_sets(paths: Sequence[Path]) -> dict[str, QaSet]:
    """Sets by name, one a file.

    Raises:
        UsageError: there are none, or two are the same.
        InputError: a file cannot be read.
    """
    sets: dict[str, QaSet] = {}
    for path in paths:
        qa_set = read_qa([path])
        name = squad_set_name(qa_set)
        if name in sets:
            raise UsageError(
                f"{path}: is a second set of the kind {SQUAD_SETS[name]}; evaluate one at a time"
            )
        sets[name] = qa_set
    if not sets:
        raise UsageError("no questions to answer; name files of them as --data")
    return sets


def evaluate_squad(
    sets: Mapping[str, QaSet], predict: PredictFunction, threshold: float = 0.0
) -> dict[str, SetScores]:
    """The scores of each set; where all questions have an answer, no prediction is empty.

    Args:
        sets: By the names of `SQUAD_SETS`.
        predict: The model.
        threshold: On SQuAD 2.0.
    """
    return {
        name: _score_set(name, qa_set.questions, predict(qa_set), threshold)
        for name, qa_set in sets.items()
    }


def _score_set(
    name: str,
    questions: Sequence[QaQuestion],
    predictions: Mapping[str, SpanPrediction],
    threshold: float,
) -> SetScores:
    if name in {"add_sent", "add_one_sent"}:
        return score_adversarial(questions, predictions)
    return score_squad(questions, predictions, ALWAYS_ANSWER if name == "squad1" else threshold)


class _Outcomes(NamedTuple):
    """The outcome of each question, (n,) each."""

    has_answer: NDArray[np.bool_]
    no_answer: NDArray[np.float64]
    """Its score."""
    em: NDArray[np.float64]
    """Of the best span, whatever the threshold."""
    f1: NDArray[np.float64]


def score_squad(
    questions: Sequence[QaQuestion],
    predictions: Mapping[str, SpanPrediction],
    threshold: float = 0.0,
) -> SquadScores:
    """The scores of the official program of SQuAD 2.0.

    Args:
        questions: At least one.
        predictions: By question id.
        threshold: Where the score of no answer is above it, the prediction is empty.

    Raises:
        InputError: there are no questions, or one has no prediction.
    """
    if not questions:
        raise InputError("there are no questions to score")
    outcomes = _outcomes(questions, predictions)
    has_answer = outcomes.has_answer
    is_empty = outcomes.no_answer > threshold
    em, f1 = (np.where(is_empty, ~has_answer, score) for score in (outcomes.em, outcomes.f1))
    return SquadScores(
        len(questions),
        _percent(em),
        _percent(f1),
        _percent(em[has_answer]) if has_answer.any() else None,
        _percent(f1[has_answer]) if has_answer.any() else None,
        None if has_answer.all() else _percent(em[~has_answer]),
        _best_threshold(outcomes, outcomes.em),
        _best_threshold(outcomes, outcomes.f1),
    )


def prediction_of(
    question: QaQuestion, predictions: Mapping[str, SpanPrediction]
) -> SpanPrediction:
    """The prediction for a question.

    Raises:
        InputError: there is none.
    """
    if (prediction := predictions.get(question.id)) is None:
        raise InputError(f"question {question.id}: has no prediction; answer all of the set")
    return prediction


def _outcomes(
    questions: Sequence[QaQuestion], predictions: Mapping[str, SpanPrediction]
) -> _Outcomes:
    predicted = [prediction_of(question, predictions) for question in questions]
    matches = [best_match(p.answer, q) for p, q in zip(predicted, questions, strict=True)]
    return _Outcomes(
        np.array([bool(question.answers) for question in questions]),
        np.array([prediction.no_answer for prediction in predicted], np.float64),
        np.array([matched.em for matched in matches]),
        np.array([matched.f1 for matched in matches]),
    )


def _best_threshold(outcomes: _Outcomes, span_scores: NDArray[np.float64]) -> BestThreshold:
    """Over all thresholds: only those at a score of no answer differ."""
    order = np.argsort(outcomes.no_answer)
    thresholds = np.unique(np.append(outcomes.no_answer, -math.inf))
    empty_scores = (~outcomes.has_answer).astype(np.float64)
    gained = np.append(0.0, np.cumsum((span_scores - empty_scores)[order]))
    answered = np.searchsorted(outcomes.no_answer[order], thresholds, side="right")
    totals = empty_scores.sum() + gained[answered]
    best = int(totals.argmax())
    value = round(100 * float(totals[best]) / len(span_scores), 2)
    return BestThreshold(value, float(thresholds[best]))


def _percent(values: NDArray[np.float64] | Sequence[float]) -> float:
    return round(100 * float(np.mean(values)), 2)


def is_adversarial(questions: Sequence[QaQuestion]) -> bool:
    """Whether some are variants of others."""
    return any(_VARIANT.fullmatch(question.id) for question in questions)


def original_id(question: QaQuestion) -> str:
    """The id of the original of a variant, or of the question itself."""
    variant = _VARIANT.fullmatch(question.id)
    return variant[1] if variant else question.id


def score_adversarial(
    questions: Sequence[QaQuestion], predictions: Mapping[str, SpanPrediction]
) -> AdversarialScores:
    """The scores of Jia & Liang's program: F1 of each question's worst variant, and EM of the same.

    The original itself counts only if it has no variant. The best span is always the prediction,
    whatever the score of no answer: each of these questions has an answer.

    Raises:
        InputError: there are no questions, or one has no prediction.
    """
    if not questions:
        raise InputError("there are no questions to score")
    originals: dict[str, AnswerMatch] = {}
    variants: dict[str, list[AnswerMatch]] = {}
    for question in questions:
        matched = best_match(prediction_of(question, predictions).answer, question)
        if (original := original_id(question)) == question.id:
            originals[original] = matched
        else:
            variants.setdefault(original, []).append(matched)
    worst = {name: min(matches, key=lambda match: match.f1) for name, matches in variants.items()}
    counted = [*({**originals, **worst}).values()]
    plain = [*originals.values()]
    return AdversarialScores(
        len(counted),
        _percent([matched.em for matched in counted]),
        _percent([matched.f1 for matched in counted]),
        _percent([matched.em for matched in plain]) if plain else None,
        _percent([matched.f1 for matched in plain]) if plain else None,
    )


class AnswerMatch(NamedTuple):
    """How well a prediction matches an answer, from 0 to 1."""

    em: float
    """Exact match: 1 if they are the same, else 0."""
    f1: float
    """Of their words."""


def normalise_answer(text: str) -> str:
    """Lower case, without punctuation and articles, one space between words."""
    plain = text.lower().translate(_NO_PUNCTUATION)
    return " ".join(_ARTICLE.sub(" ", plain).split())


def match_answer(predicted: str, answer: str) -> AnswerMatch:
    """EM and F1 of a prediction; both are 1 if neither text has a word."""
    words, gold = normalise_answer(predicted).split(), normalise_answer(answer).split()
    if not words or not gold:
        return AnswerMatch(float(words == gold), float(words == gold))
    shared = (Counter(words) & Counter(gold)).total()
    return AnswerMatch(float(words == gold), 2 * shared / (len(words) + len(gold)))


def best_match(predicted: str, question: QaQuestion) -> AnswerMatch:
    """The best EM and the best F1 over the gold answers; the empty one if there is none.

    As in the official program of SQuAD 2.0, answers without a word (*the*) do not count.
    """
    answers = {answer.text for answer in question.answers if normalise_answer(answer.text)} or {""}
    matches = [match_answer(predicted, answer) for answer in answers]
    return AnswerMatch(max(match.em for match in matches), max(match.f1 for match in matches))

"""How well questions are answered: exact match and F1 as SQuAD's official programs have them.

An answer counts as the best of those that people gave. A question without an answer is right if
nothing was said; and something is said where the score of no answer is not above a threshold.

Shapes: n questions.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import InputError
from pair2vec.qa.examples import Question
from pair2vec.qa.matching import best_match
from pair2vec.qa.predictions import Prediction

ALWAYS = math.inf
"""The threshold of those that must always answer, as on SQuAD 1.1."""


class Best(NamedTuple):
    """The most that any threshold reaches on the very questions that are scored."""

    value: float
    """In percent."""
    threshold: float
    """The lowest that reaches it; −inf if it is best to say nothing."""


class SquadScores(NamedTuple):
    """In percent; None where there are no questions of a kind."""

    n: int
    em: float
    f1: float
    has_answer_em: float | None
    has_answer_f1: float | None
    no_answer_em: float | None
    """How often nothing was said where there was nothing to say."""
    best_em: Best
    best_f1: Best


class _Outcomes(NamedTuple):
    """What each question gets, (n,) each."""

    has_answer: NDArray[np.bool_]
    no_answer: NDArray[np.float64]
    """The score of no answer."""
    em: NDArray[np.float64]
    """If what is predicted is said."""
    f1: NDArray[np.float64]


def score(
    questions: Sequence[Question],
    predictions: Mapping[str, Prediction],
    threshold: float = 0.0,
) -> SquadScores:
    """Of all questions, each once.

    Args:
        questions: At least one.
        predictions: By question.
        threshold: Where the score of no answer is above it, nothing is said.

    Raises:
        InputError: there are no questions, or there is none of a question.
    """
    if not questions:
        raise InputError("there are no questions to score")
    found = _outcomes(questions, predictions)
    silent = found.no_answer > threshold
    em, f1 = (np.where(silent, ~found.has_answer, said) for said in (found.em, found.f1))
    return SquadScores(
        len(questions),
        _percent(em),
        _percent(f1),
        _percent(em[found.has_answer]) if found.has_answer.any() else None,
        _percent(f1[found.has_answer]) if found.has_answer.any() else None,
        None if found.has_answer.all() else _percent(em[~found.has_answer]),
        _best(found, found.em),
        _best(found, found.f1),
    )


def prediction_of(question: Question, predictions: Mapping[str, Prediction]) -> Prediction:
    """What was predicted.

    Raises:
        InputError: nothing was.
    """
    if (found := predictions.get(question.id)) is None:
        raise InputError(f"question {question.id}: has no prediction; answer all of the set")
    return found


def _outcomes(questions: Sequence[Question], predictions: Mapping[str, Prediction]) -> _Outcomes:
    predicted = [prediction_of(question, predictions) for question in questions]
    matches = [best_match(p.answer, q) for p, q in zip(predicted, questions, strict=True)]
    return _Outcomes(
        np.array([bool(question.answers) for question in questions]),
        np.array([one.no_answer for one in predicted], np.float64),
        np.array([one.em for one in matches]),
        np.array([one.f1 for one in matches]),
    )


def _best(found: _Outcomes, said: NDArray[np.float64]) -> Best:
    """Over all thresholds: between two neighbouring scores of no answer, all do the same."""
    order = np.argsort(found.no_answer)
    thresholds = np.unique(np.append(found.no_answer, -math.inf))
    silent = (~found.has_answer).astype(np.float64)
    gained = np.append(0.0, np.cumsum((said - silent)[order]))
    spoken = np.searchsorted(found.no_answer[order], thresholds, side="right")
    values = silent.sum() + gained[spoken]
    place = int(values.argmax())
    return Best(round(100 * float(values[place]) / len(said), 2), float(thresholds[place]))


def _percent(values: NDArray[np.float64]) -> float:
    return round(100 * float(values.mean()), 2)

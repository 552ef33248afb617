"""How far an answer is the right one: exact match and F1, as in SQuAD's official programs."""

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
from pair2vec.experiments.qa.examples import Prediction, QaQuestion, QaSet, read_qa

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


class AnswerMatch(NamedTuple):
    """How far one text is another, from 0 to 1."""

    em: float
    """1 if they are the same, and otherwise 0."""
    f1: float
    """Of the words they share."""


def normalised(text: str) -> str:
    """Lower case, without punctuation and articles, one blank between words."""
    plain = text.lower().translate(_NO_PUNCTUATION)
    return " ".join(_ARTICLE.sub(" ", plain).split())


def match(said: str, answer: str) -> AnswerMatch:
    """How far what was said is the answer; of two texts without any word, all the way."""
    words, right = normalised(said).split(), normalised(answer).split()
    if not words or not right:
        return AnswerMatch(float(words == right), float(words == right))
    shared = (Counter(words) & Counter(right)).total()
    return AnswerMatch(float(words == right), 2 * shared / (len(words) + len(right)))


def best_match(said: str, question: QaQuestion) -> AnswerMatch:
    """The best over the answers, of EM and F1 each by itself; the answer may be that there is none.

    As in the official program of SQuAD 2.0, answers without a word (*the*) do not count.
    """
    answers = {answer.text for answer in question.answers if normalised(answer.text)} or {""}
    matches = [match(said, answer) for answer in answers]
    return AnswerMatch(max(one.em for one in matches), max(one.f1 for one in matches))


# == How well questions are answered: exact match and F1 as SQuAD's official programs have them.
#
# An answer counts as the best of those that people gave. A question without an answer is right if
# nothing was said; and something is said where the score of no answer is not above a threshold.
#
# Shapes: n questions.


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


def score_squad(
    questions: Sequence[QaQuestion],
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


def prediction_of(question: QaQuestion, predictions: Mapping[str, Prediction]) -> Prediction:
    """What was predicted.

    Raises:
        InputError: nothing was.
    """
    if (found := predictions.get(question.id)) is None:
        raise InputError(f"question {question.id}: has no prediction; answer all of the set")
    return found


def _outcomes(questions: Sequence[QaQuestion], predictions: Mapping[str, Prediction]) -> _Outcomes:
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


# == Questions with an adversary's sentence in their passage: AddSent and AddOneSent.
#
# Jia and Liang (2017) add to a passage a sentence that looks like an answer and is none. A question
# has several such variants, ``ID-high-conf-turk2``, beside the original, ``ID``; what counts is the
# worst, as their program has it.


_VARIANT = re.compile(r"([0-9a-f]{24})-.+")
"""An id of SQuAD, and what an adversary adds; ids of other sets, UUIDs say, may have a "-" too."""


class AdversarialScores(NamedTuple):
    """In percent."""

    n: int
    """Original questions."""
    em: float
    f1: float
    original_em: float | None
    """Of the originals, with nothing added; None if the set lacks them."""
    original_f1: float | None


def is_adversarial(questions: Sequence[QaQuestion]) -> bool:
    """Whether they are variants of others."""
    return any(_VARIANT.fullmatch(question.id) for question in questions)


def original_of(question: QaQuestion) -> str:
    """The id of the question that this one is a variant of, or is."""
    variant = _VARIANT.fullmatch(question.id)
    return variant[1] if variant else question.id


def score_adversarial(
    questions: Sequence[QaQuestion], predictions: Mapping[str, Prediction]
) -> AdversarialScores:
    """Of each original question, the variant with the lowest F1, and EM of the same variant.

    The original counts itself only if it has no variant. A model must answer, whatever it thinks
    of there being an answer: each of these questions has one.

    Raises:
        InputError: there are no questions, or one has no prediction.
    """
    if not questions:
        raise InputError("there are no questions to score")
    originals: dict[str, AnswerMatch] = {}
    variants: dict[str, list[AnswerMatch]] = {}
    for question in questions:
        found = best_match(prediction_of(question, predictions).answer, question)
        if (original := original_of(question)) == question.id:
            originals[original] = found
        else:
            variants.setdefault(original, []).append(found)
    worst = {name: min(found, key=lambda one: one.f1) for name, found in variants.items()}
    counted = [*({**originals, **worst}).values()]
    plain = [*originals.values()]
    return AdversarialScores(
        len(counted),
        _mean_percent([one.em for one in counted]),
        _mean_percent([one.f1 for one in counted]),
        _mean_percent([one.em for one in plain]) if plain else None,
        _mean_percent([one.f1 for one in plain]) if plain else None,
    )


def _mean_percent(values: Sequence[float]) -> float:
    return round(100 * sum(values) / len(values), 2)


# == Sets of questions by name, and how well each is answered.


SQUAD_SETS = {
    "squad2": "SQuAD 2.0",
    "squad1": "SQuAD 1.1",
    "add_sent": "AddSent",
    "add_one_sent": "AddOneSent",
}
"""As they are called elsewhere."""

PredictFunction = Callable[[QaSet], Mapping[str, Prediction]]
"""What it predicts for each question of a set."""

SetScores = SquadScores | AdversarialScores


def squad_set_name(found: QaSet) -> str:
    """Which of `SQUAD_SETS` it is: adversaries and questions without answers tell."""
    if is_adversarial(found.questions):
        variants = Counter(map(original_of, found.questions))
        # The original, and one more.
        return "add_one_sent" if max(variants.values()) <= 2 else "add_sent"
    return "squad1" if all(question.answers for question in found.questions) else "squad2"


def read_squad_sets(paths: Sequence[Path]) -> dict[str, QaSet]:
    """Sets by name, one a file.

    Raises:
        UsageError: there are none, or two are the same.
        InputError: a file cannot be read.
    """
    sets: dict[str, QaSet] = {}
    for path in paths:
        found = read_qa([path])
        name = squad_set_name(found)
        if name in sets:
            raise UsageError(
                f"{path}: is a second set of the kind {SQUAD_SETS[name]}; ask one at a time"
            )
        sets[name] = found
    if not sets:
        raise UsageError("no questions to answer; name files of them as --data")
    return sets


def evaluate_squad(
    sets: Mapping[str, QaSet], answerer: PredictFunction, threshold: float = 0.0
) -> dict[str, SetScores]:
    """The scores of each set; where all questions have an answer, something is always said.

    Args:
        sets: By the names of `SQUAD_SETS`.
        answerer: What is examined.
        threshold: Of SQuAD 2.0.
    """
    return {name: _examine(name, found, answerer(found), threshold) for name, found in sets.items()}


def _examine(
    name: str, found: QaSet, predictions: Mapping[str, Prediction], threshold: float
) -> SetScores:
    if name in {"add_sent", "add_one_sent"}:
        return score_adversarial(found.questions, predictions)
    return score_squad(found.questions, predictions, ALWAYS if name == "squad1" else threshold)

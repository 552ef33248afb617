"""Questions with an adversary's sentence in their passage: AddSent and AddOneSent.

Jia and Liang (2017) add to a passage a sentence that looks like an answer and is none. A question
has several such variants, ``ID-high-conf-turk2``, beside the original, ``ID``; what counts is the
worst, as their program has it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pair2vec.errors import InputError
from pair2vec.evaluation.squad import prediction_of
from pair2vec.qa.examples import Question
from pair2vec.qa.matching import Match, best_match
from pair2vec.qa.predictions import Prediction

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


def is_adversarial(questions: Sequence[Question]) -> bool:
    """Whether they are variants of others."""
    return any(_VARIANT.fullmatch(question.id) for question in questions)


def original_of(question: Question) -> str:
    """The id of the question that this one is a variant of, or is."""
    variant = _VARIANT.fullmatch(question.id)
    return variant[1] if variant else question.id


def score_adversarial(
    questions: Sequence[Question], predictions: Mapping[str, Prediction]
) -> AdversarialScores:
    """Of each original question, the variant with the lowest F1, and EM of the same variant.

    The original counts itself only if it has no variant. A model must answer, whatever it thinks
    of there being an answer: each of these questions has one.

    Raises:
        InputError: there are no questions, or one has no prediction.
    """
    if not questions:
        raise InputError("there are no questions to score")
    originals: dict[str, Match] = {}
    variants: dict[str, list[Match]] = {}
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
        _percent([one.em for one in counted]),
        _percent([one.f1 for one in counted]),
        _percent([one.em for one in plain]) if plain else None,
        _percent([one.f1 for one in plain]) if plain else None,
    )


def _percent(values: Sequence[float]) -> float:
    return round(100 * sum(values) / len(values), 2)

"""Sets of questions by name, and how well each is answered."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pair2vec.errors import UsageError
from pair2vec.evaluation.squad import ALWAYS, SquadScores, score
from pair2vec.evaluation.squad_adversaries import (
    AdversarialScores,
    is_adversarial,
    original_of,
    score_adversarial,
)
from pair2vec.qa.examples import QaSet, read_qa
from pair2vec.qa.predictions import Prediction

SETS = {
    "squad2": "SQuAD 2.0",
    "squad1": "SQuAD 1.1",
    "add_sent": "AddSent",
    "add_one_sent": "AddOneSent",
}
"""As they are called elsewhere."""

Answerer = Callable[[QaSet], Mapping[str, Prediction]]
"""What it predicts for each question of a set."""

SetScores = SquadScores | AdversarialScores


def set_name(found: QaSet) -> str:
    """Which of `SETS` it is: adversaries and questions without answers tell."""
    if is_adversarial(found.questions):
        variants = Counter(map(original_of, found.questions))
        # The original, and one more.
        return "add_one_sent" if max(variants.values()) <= 2 else "add_sent"
    return "squad1" if all(question.answers for question in found.questions) else "squad2"


def read_sets(paths: Sequence[Path]) -> dict[str, QaSet]:
    """Sets by name, one a file.

    Raises:
        UsageError: there are none, or two are the same.
        InputError: a file cannot be read.
    """
    sets: dict[str, QaSet] = {}
    for path in paths:
        found = read_qa([path])
        name = set_name(found)
        if name in sets:
            raise UsageError(f"{path}: is a second set of the kind {SETS[name]}; ask one at a time")
        sets[name] = found
    if not sets:
        raise UsageError("no questions to answer; name files of them as --data")
    return sets


def examine(
    sets: Mapping[str, QaSet], answerer: Answerer, threshold: float = 0.0
) -> dict[str, SetScores]:
    """The scores of each set; where all questions have an answer, something is always said.

    Args:
        sets: By the names of `SETS`.
        answerer: What is examined.
        threshold: Of SQuAD 2.0.
    """
    return {name: _examine(name, found, answerer(found), threshold) for name, found in sets.items()}


def _examine(
    name: str, found: QaSet, predictions: Mapping[str, Prediction], threshold: float
) -> SetScores:
    if name in {"add_sent", "add_one_sent"}:
        return score_adversarial(found.questions, predictions)
    return score(found.questions, predictions, ALWAYS if name == "squad1" else threshold)

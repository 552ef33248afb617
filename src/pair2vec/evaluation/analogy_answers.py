"""Answers to analogies: which of the questions are right, for every α.

Shapes: Q questions, A values of α.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pair2vec.evaluation.contest import ALPHAS, Batch, Contest
from pair2vec.evaluation.known_questions import KnownQuestion
from pair2vec.query.pair_vectors import Numbers
from pair2vec.text.sources import OrderedMap

Report = Callable[[int, int], None]
"""Is told how many questions of how many are answered."""

_MOST_QUESTIONS = 512
"""Of a batch: each has a row of scores for all words in memory."""


def right_answers(
    questions: Sequence[KnownQuestion],
    contest: Contest,
    ordered_map: OrderedMap = map,
    report: Report = lambda done, total: None,
) -> NDArray[np.bool_]:
    """Of each question and α whether the best word is right: (Q, A).

    Args:
        questions: Of any relations: R(x, ·) is computed once for all that ask about the same x.
        contest: Finds the best words.
        ordered_map: Spreads the batches over processes.
        report: Is told of the progress.
    """
    rows = list(_rows_of_batches(questions))
    won = np.empty((len(questions), len(ALPHAS)), np.intp)
    done = 0
    batches = (_batch([questions[row] for row in batch]) for batch in rows)
    for batch, places in zip(rows, ordered_map(contest, batches), strict=True):
        won[batch] = places
        done += len(batch)
        report(done, len(questions))
    return _are_right(won, questions)


def _rows_of_batches(questions: Sequence[KnownQuestion]) -> Iterator[list[int]]:
    """The numbers of questions that go together, as they ask about one x."""
    by_x: defaultdict[int, list[int]] = defaultdict(list)
    for row, question in enumerate(questions):
        by_x[question.x].append(row)
    for rows in by_x.values():
        for start in range(0, len(rows), _MOST_QUESTIONS):
            yield rows[start : start + _MOST_QUESTIONS]


def _batch(questions: Sequence[KnownQuestion]) -> Batch:
    a, b = (np.array([q[column] for q in questions], np.intp) for column in (0, 1))
    return Batch(questions[0].x, a, b)


def _are_right(won: Numbers, questions: Sequence[KnownQuestion]) -> NDArray[np.bool_]:
    rows = zip(won.tolist(), questions, strict=True)
    right = [[place in question.answers for place in row] for row, question in rows]
    return np.array(right, np.bool_).reshape(won.shape)

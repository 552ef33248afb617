"""The contest of all words for the answer to an analogy, for every α at once.

score(y) = α·cos(r_ab, r_xy) + (1 − α)·cos(b − a + x, y)   (the paper's `eq:analogy_score`)

Shapes: N candidates, K questions, A values of α.

As points of the two cosines, the words that win for some α lie on the convex hull. So none lies
below the line from the word that wins at α = 0 to the one that wins at α = 1: one look at each
word finds the few that are above it, and only those are tried with every α.
"""

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pair2vec.query.half_pair import Vectors
from pair2vec.query.pair_vectors import Numbers

if TYPE_CHECKING:
    from torch import Tensor

ALPHAS = np.arange(21) / 20
"""From single words alone to pair vectors alone."""

Array = TypeVar("Array", NDArray[Any], "Tensor")

_OUT_OF_REACH = -2.0
"""Below every cosine."""
_SLACK = 1e-6
"""Keeps a word that is on the line from falling below it by rounding."""


class Batch(NamedTuple):
    """Questions about one x, its words by place."""

    x: int
    a: Numbers
    """(K,)"""
    b: Numbers
    """(K,)"""


class Contenders(NamedTuple):
    """The words that may win, one behind the other for all questions of a batch."""

    question: Numbers
    """Which of the batch's: ascending, and none is missing."""
    place: Numbers
    """Ascending within a question."""
    pair: Vectors
    """cos(r_ab, r_xy)"""
    offset: Vectors
    """cos(b − a + x, y)"""


class Contest(Protocol):
    """Answers a batch of questions."""

    def __call__(self, batch: Batch) -> Numbers:
        """The place of the best word for each question and α: (K, A)."""


def rule_out(cosines: Array, rows: Array, batch: Batch) -> None:
    """Keep a, b and x of each question from winning; `rows` numbers the questions, (K, N)."""
    cosines[:, batch.x] = _OUT_OF_REACH
    for words in (batch.a, batch.b):
        cosines[rows, words] = _OUT_OF_REACH


def able_to_win(pair: Array, offset: Array, rows: Array) -> Array:
    """Of each question which words may win, in arrays of numpy or of torch: (K, N) throughout.

    Args:
        pair: cos(r_ab, r_xy).
        offset: cos(b − a + x, y).
        rows: The numbers of the questions, (K,).
    """
    single, relational = offset.argmax(1), pair.argmax(1)
    fall = offset[rows, single] - offset[rows, relational]
    rise = pair[rows, relational] - pair[rows, single]
    # The α at which both score the same; a word that wins both has no rise and no fall.
    alpha = fall / (fall + rise + 1e-12)
    level = alpha * pair[rows, relational] + (1 - alpha) * offset[rows, relational]
    blend = alpha[:, None] * pair
    blend += (1 - alpha)[:, None] * offset
    able: Array = blend >= (level - _SLACK)[:, None]
    return able


def winners(contenders: Contenders, questions: int) -> Numbers:
    """The best word for each question and α, of equals the most frequent: (K, A)."""
    question, place, pair, offset = contenders
    # In float64, so that only equals are equal.
    scores = np.outer(ALPHAS, pair) + np.outer(1 - ALPHAS, offset)
    starts = np.searchsorted(question, np.arange(questions))
    highest = np.maximum.reduceat(scores, starts, axis=1)
    is_best = scores == highest[:, question]
    won: Numbers = np.minimum.reduceat(
        np.where(is_best, place, np.iinfo(np.intp).max), starts, axis=1
    )
    return won.T

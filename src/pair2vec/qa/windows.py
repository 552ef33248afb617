"""Windows: the parts of passages that a network reads at a time.

Shapes: Q questions, K windows.
"""

from typing import NamedTuple

import numpy as np

from pair2vec.qa.numbered import NOT_FOUND, NumberedQuestions
from pair2vec.supervised.order import Numbers


class Windows(NamedTuple):
    """A question and a part of its passage each; (K,) all."""

    question: Numbers
    first: Numbers
    """The word of the passage that the part begins with."""
    length: Numbers


class Left(NamedTuple):
    """How many questions are not learnt from, and why."""

    not_found: int
    """Their answer is not in the passage."""
    too_late: int
    """Their answer is not in the part that is read."""


def training_windows(numbered: NumberedQuestions, most: int) -> tuple[Windows, Left]:
    """The first `most` words of each passage, for questions that they answer or nothing does."""
    last = numbered.answers[:, 1]
    is_found, is_early = last != NOT_FOUND, last < most
    chosen = np.flatnonzero(is_found & is_early)
    length = np.minimum(numbered.sentences.lengths[numbered.passages[chosen]], most)
    left = Left(int((~is_found).sum()), int((~is_early).sum()))
    return Windows(chosen, np.zeros_like(chosen), length), left


def answering_windows(numbered: NumberedQuestions, chosen: Numbers, most: int) -> Windows:
    """Whole passages, in parts of `most` words that share a quarter with the next if need be."""
    lengths = numbered.sentences.lengths[numbered.passages[chosen]]
    step = most - most // 4
    counts = 1 + np.maximum(0, -(-(lengths - most) // step))
    question, length = np.repeat(chosen, counts), np.repeat(lengths, counts)
    number = np.arange(len(question)) - np.repeat(np.cumsum(counts) - counts, counts)
    # The last part ends where the passage does, and is as long as the others.
    first = np.minimum(number * step, np.maximum(0, length - most))
    return Windows(question, first, np.minimum(length, most))

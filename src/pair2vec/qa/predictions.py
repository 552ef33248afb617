"""What a model answers to a question."""

from typing import NamedTuple


class Prediction(NamedTuple):
    """The best answer that a passage has, and how much speaks against there being one."""

    answer: str
    """The text of the best span."""
    no_answer: float
    """The score of no answer less that of the best span; −inf of a model that always answers."""
    words: tuple[int, int]
    """The first and the last word of the span in the passage."""

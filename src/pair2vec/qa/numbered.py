"""Questions and passages with their words as numbers; answers as numbers of words.

Shapes: Q questions.
"""

import numpy as np

from pair2vec.qa.examples import QaSet, Question, answer_words
from pair2vec.supervised.numbered_sentences import NumberedSentences
from pair2vec.supervised.order import Numbers

NO_ANSWER, NOT_FOUND = -1, -2
"""In place of the words of an answer: there is none, or it is not where the data says."""

_NOTHING = ("",)
"""In place of no words at all, since there must be some to attend to: one that nobody knows."""


class NumberedQuestions:
    """What is learnt from, or asked: small enough to be handed to other processes."""

    def __init__(self, found: QaSet) -> None:
        """Look at every passage and question once."""
        texts = [*found.passages, *(question.text for question in found.questions)]
        self.sentences = NumberedSentences([text.words or _NOTHING for text in texts])
        """The passages, and behind them the questions."""
        count = len(found.questions)
        self.passages: Numbers = np.fromiter((q.passage for q in found.questions), np.int64, count)
        """(Q,), rows of the sentences."""
        self.questions: Numbers = len(found.passages) + np.arange(count)
        """(Q,), rows of the sentences."""
        spans = [_first_answer(found, question) for question in found.questions]
        self.answers: Numbers = np.array(spans, np.int64).reshape(count, 2)
        """(Q, 2), the first and the last word of the first answer; or `NO_ANSWER`, `NOT_FOUND`."""

    def __len__(self) -> int:
        """How many questions there are."""
        return len(self.passages)

    @property
    def words(self) -> list[str]:
        """Each once."""
        return self.sentences.words


def _first_answer(found: QaSet, question: Question) -> tuple[int, int]:
    """SQuAD's questions to learn from have one answer; of several, the first that is found."""
    if not question.answers:
        return NO_ANSWER, NO_ANSWER
    passage = found.passages[question.passage]
    spans = (answer_words(passage, answer) for answer in question.answers)
    return next((span for span in spans if span is not None), (NOT_FOUND, NOT_FOUND))

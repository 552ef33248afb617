"""Questions and passages with their words as numbers; answers as numbers of words.

Shapes: Q questions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pair2vec.arrays import Int64Array
from pair2vec.experiments.embedders.embedder import Embedder
from pair2vec.experiments.qa.examples import QaQuestion, QaSet, answer_words
from pair2vec.experiments.tasks.batches import EncodedSentences, PadLength, TextBatch, exact_length
from pair2vec.injection.sources import RelationSource

MAX_CHARACTERS = 20
"""Bytes of a word that are looked at; all words take as many, so that none depends on others."""


def spelled(words: Sequence[str]) -> NDArray[np.uint8]:
    """The bytes of words, each one more than it is, and 0 behind short words: (U, C)."""
    rows = b"".join(
        word.encode("utf-8", "ignore")[:MAX_CHARACTERS].ljust(MAX_CHARACTERS, b"\xff")
        for word in words
    )
    # The byte that fills up is the largest, and comes round to 0.
    return (np.frombuffer(rows, np.uint8) + np.uint8(1)).reshape(-1, MAX_CHARACTERS)


NO_ANSWER, NOT_FOUND = -1, -2
"""In place of the words of an answer: there is none, or it is not where the data says."""

_NOTHING = ("",)
"""In place of no words at all, since there must be some to attend to: one that nobody knows."""


class EncodedQuestions:
    """What is learnt from, or asked: small enough to be handed to other processes."""

    def __init__(self, found: QaSet) -> None:
        """Look at every passage and question once."""
        texts = [*found.passages, *(question.text for question in found.questions)]
        self.sentences = EncodedSentences([text.words or _NOTHING for text in texts])
        """The passages, and behind them the questions."""
        count = len(found.questions)
        self.passages: Int64Array = np.fromiter(
            (q.passage for q in found.questions), np.int64, count
        )
        """(Q,), rows of the sentences."""
        self.questions: Int64Array = len(found.passages) + np.arange(count)
        """(Q,), rows of the sentences."""
        spans = [_first_answer(found, question) for question in found.questions]
        self.answers: Int64Array = np.array(spans, np.int64).reshape(count, 2)
        """(Q, 2), the first and the last word of the first answer; or `NO_ANSWER`, `NOT_FOUND`."""

    def __len__(self) -> int:
        """How many questions there are."""
        return len(self.passages)

    @property
    def words(self) -> list[str]:
        """Each once."""
        return self.sentences.words


def _first_answer(found: QaSet, question: QaQuestion) -> tuple[int, int]:
    """SQuAD's questions to learn from have one answer; of several, the first that is found."""
    if not question.answers:
        return NO_ANSWER, NO_ANSWER
    passage = found.passages[question.passage]
    spans = (answer_words(passage, answer) for answer in question.answers)
    return next((span for span in spans if span is not None), (NOT_FOUND, NOT_FOUND))


# == Windows: the parts of passages that a network reads at a time.
#
# Shapes: Q questions, K windows.


class Windows(NamedTuple):
    """A question and a part of its passage each; (K,) all."""

    question: Int64Array
    first: Int64Array
    """The word of the passage that the part begins with."""
    length: Int64Array


class Left(NamedTuple):
    """How many questions are not learnt from, and why."""

    not_found: int
    """Their answer is not in the passage."""
    too_late: int
    """Their answer is not in the part that is read."""


def training_windows(numbered: EncodedQuestions, most: int) -> tuple[Windows, Left]:
    """The first `most` words of each passage, for questions that they answer or nothing does."""
    last = numbered.answers[:, 1]
    is_found, is_early = last != NOT_FOUND, last < most
    chosen = np.flatnonzero(is_found & is_early)
    length = np.minimum(numbered.sentences.lengths[numbered.passages[chosen]], most)
    left = Left(int((~is_found).sum()), int((~is_early).sum()))
    return Windows(chosen, np.zeros_like(chosen), length), left


def answering_windows(numbered: EncodedQuestions, chosen: Int64Array, most: int) -> Windows:
    """Whole passages, in parts of `most` words that share a quarter with the next if need be."""
    lengths = numbered.sentences.lengths[numbered.passages[chosen]]
    step = most - most // 4
    counts = 1 + np.maximum(0, -(-(lengths - most) // step))
    question, length = np.repeat(chosen, counts), np.repeat(lengths, counts)
    number = np.arange(len(question)) - np.repeat(np.cumsum(counts) - counts, counts)
    # The last part ends where the passage does, and is as long as the others.
    first = np.minimum(number * step, np.maximum(0, length - most))
    return Windows(question, first, np.minimum(length, most))


# == Batches of questions and passages, as tensors; made on the CPU, by another thread if need be.
#
# Shapes: B batch, n and m places of passages and questions, U distinct words of the batch or more,
# C characters, K windows.


@dataclass(frozen=True, kw_only=True, slots=True)
class QaBatch:
    """What a network needs of some questions."""

    passages: TextBatch
    questions: TextBatch
    letters: Tensor
    """(U, C), as `spelled` makes them: a word's characters are read once a batch."""
    passage_rows: Tensor
    """(B, n), rows of the letters."""
    question_rows: Tensor
    """(B, m)"""
    answers: Tensor
    """(B, 2), the first and the last word, counted in the passage's part; −1 for no answer."""

    def read_by(self, embedder: Embedder) -> "QaBatch":
        """With what is frozen of the embedder's work done."""
        return replace(
            self,
            passages=self.passages.read_by(embedder),
            questions=self.questions.read_by(embedder),
        )


class QaBatches:
    """Questions for one network: asked for batches of them."""

    def __init__(
        self,
        numbered: EncodedQuestions,
        windows: Windows,
        embedder: Embedder,
        relations: RelationSource,
        widths: PadLength = exact_length,
    ) -> None:
        """Look up every distinct word once: a batch is then made of numbers alone."""
        self._numbered, self.windows, self._embedder = numbered, windows, embedder
        self._widths = widths
        ids = relations.ids([[word] for word in numbered.words])
        self._ids: Int64Array = ids.cpu().numpy().reshape(-1)
        self._letters = spelled(numbered.words)
        questions = numbered.sentences.lengths[numbered.questions[windows.question]]
        self.sizes: Int64Array = np.stack([windows.length, questions], axis=1)
        """(K, 2): words of the passage's part, and of the question."""

    def __len__(self) -> int:
        """How many windows there are."""
        return len(self.sizes)

    def batch(self, chosen: Int64Array) -> QaBatch:
        """The windows of these numbers."""
        question, first, length = (part[chosen] for part in self.windows)
        numbered, sentences = self._numbered, self._numbered.sentences
        passages = sentences.block(numbered.passages[question], first, length, self._widths)
        questions = sentences.block(numbered.questions[question], widths=self._widths)
        words = np.concatenate([passages[0].ravel(), questions[0].ravel()])
        distinct, rows = np.unique(words, return_inverse=True)
        of_passages, of_questions = np.split(rows, [passages[0].size])
        answers = numbered.answers[question]
        letters = np.zeros((self._widths(len(distinct)), self._letters.shape[1]), np.uint8)
        letters[: len(distinct)] = self._letters[distinct]
        return QaBatch(
            passages=self._side(*passages),
            questions=self._side(*questions),
            letters=torch.from_numpy(letters),
            passage_rows=torch.from_numpy(of_passages.reshape(passages[0].shape)),
            question_rows=torch.from_numpy(of_questions.reshape(questions[0].shape)),
            answers=torch.from_numpy(np.where(answers < 0, answers, answers - first[:, None])),
        )

    def _side(self, words: Int64Array, is_word: NDArray[np.bool_]) -> TextBatch:
        texts = self._numbered.sentences.text(words, is_word)
        return TextBatch(
            inputs=self._embedder.prepare(texts, words.shape[1]),
            ids=torch.from_numpy(np.where(is_word, self._ids[words], 0)),
            is_word=torch.from_numpy(is_word),
        )

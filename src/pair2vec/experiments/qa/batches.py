"""Batches of questions and windows of their passages, as tensors.

Shapes: Q questions, K windows, B batch, n and m padded lengths of windows and questions, U distinct
words of a batch (padded), C characters.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pair2vec.arrays import Int64Array
from pair2vec.experiments.embedders.embedder import Embedder
from pair2vec.experiments.qa.examples import QaQuestion, QaSet, answer_span
from pair2vec.experiments.tasks.batches import (
    EncodedSentences,
    PadLength,
    TextBatch,
    TextCollator,
    exact_length,
)
from pair2vec.injection.sources import RelationSource

MAX_CHARACTERS = 20
"""Bytes of a word that are read; words are padded to it, so that none depends on others."""

NO_ANSWER, NOT_FOUND = -1, -2
"""In place of an answer's words: there is none, or it is not where the data says."""

_EMPTY_TEXT = ("",)
"""In place of a text without words, since attention needs one: an unknown word."""


@dataclass(frozen=True, kw_only=True, slots=True)
class QaBatch:
    """The inputs of a network."""

    passages: TextBatch
    questions: TextBatch
    characters: Tensor
    """(U, C), the `character_codes` of the distinct words: the CNN reads each word once a batch."""
    passage_rows: Tensor
    """(B, n), rows of the characters."""
    question_rows: Tensor
    """(B, m)"""
    answers: Tensor
    """(B, 2), the first and the last word, counted in the window; −1 for no answer."""


class EncodedQuestions:
    """Questions and passages with their words as ids: small enough to send to other processes."""

    def __init__(self, questions: QaSet) -> None:
        texts = [*questions.passages, *(question.text for question in questions.questions)]
        self.sentences = EncodedSentences([text.words or _EMPTY_TEXT for text in texts])
        """The passages, then the questions."""
        count = len(questions.questions)
        self.passages: Int64Array = np.fromiter(
            (question.passage for question in questions.questions), np.int64, count
        )
        """(Q,), rows of the sentences."""
        self.questions: Int64Array = len(questions.passages) + np.arange(count)
        """(Q,), rows of the sentences."""
        spans = [_first_answer(questions, question) for question in questions.questions]
        self.answers: Int64Array = np.array(spans, np.int64).reshape(count, 2)
        """(Q, 2), the first and the last word of the first answer; or `NO_ANSWER`, `NOT_FOUND`."""

    def __len__(self) -> int:
        """How many questions there are."""
        return len(self.passages)

    @property
    def words(self) -> list[str]:
        """Each once."""
        return self.sentences.words


def _first_answer(questions: QaSet, question: QaQuestion) -> tuple[int, int]:
    """SQuAD's training questions have one answer; of several, the first that is in the passage."""
    if not question.answers:
        return NO_ANSWER, NO_ANSWER
    passage = questions.passages[question.passage]
    spans = (answer_span(passage, answer) for answer in question.answers)
    return next((span for span in spans if span is not None), (NOT_FOUND, NOT_FOUND))


class Windows(NamedTuple):
    """Parts of passages, each for one question; (K,) all."""

    question: Int64Array
    first: Int64Array
    """The position in the passage of the window's first word."""
    length: Int64Array


class SkippedQuestions(NamedTuple):
    """How many questions are not trained on, and why."""

    not_found: int
    """The answer is not in the passage."""
    truncated: int
    """The answer is beyond the part of the passage that is read."""


def training_windows(encoded: EncodedQuestions, max_words: int) -> tuple[Windows, SkippedQuestions]:
    """The first words of each passage, for questions whose answer is there or that have none."""
    last = encoded.answers[:, 1]
    is_found, is_inside = last != NOT_FOUND, last < max_words
    questions = np.flatnonzero(is_found & is_inside)
    length = np.minimum(encoded.sentences.lengths[encoded.passages[questions]], max_words)
    skipped = SkippedQuestions(int((~is_found).sum()), int((~is_inside).sum()))
    return Windows(questions, np.zeros_like(questions), length), skipped


def answering_windows(encoded: EncodedQuestions, questions: Int64Array, max_words: int) -> Windows:
    """Whole passages, in windows that overlap by a quarter where one is not enough."""
    lengths = encoded.sentences.lengths[encoded.passages[questions]]
    step = max_words - max_words // 4
    counts = 1 + np.maximum(0, -(-(lengths - max_words) // step))
    question, length = np.repeat(questions, counts), np.repeat(lengths, counts)
    number = np.arange(len(question)) - np.repeat(np.cumsum(counts) - counts, counts)
    # The last window ends where the passage does, and is as long as the others.
    first = np.minimum(number * step, np.maximum(0, length - max_words))
    return Windows(question, first, np.minimum(length, max_words))


class QaBatches:
    """Makes batches of windows for one network."""

    def __init__(
        self,
        encoded: EncodedQuestions,
        windows: Windows,
        embedder: Embedder,
        relations: RelationSource,
        pad_length: PadLength = exact_length,
    ) -> None:
        self._encoded, self.windows = encoded, windows
        self._collator = TextCollator(encoded.sentences, embedder, relations, pad_length)
        self._characters = character_codes(encoded.words)
        questions = encoded.sentences.lengths[encoded.questions[windows.question]]
        self.sizes: Int64Array = np.stack([windows.length, questions], axis=1)
        """(K, 2), words of the window and of the question."""

    def batch(self, indices: Int64Array) -> QaBatch:
        """These windows, on the CPU."""
        question, first, length = (part[indices] for part in self.windows)
        encoded, collator = self._encoded, self._collator
        passages = collator.block(encoded.passages[question], first, length)
        questions = collator.block(encoded.questions[question])
        words = np.concatenate([passages[0].ravel(), questions[0].ravel()])
        distinct, rows = np.unique(words, return_inverse=True)
        passage_rows, question_rows = np.split(rows, [passages[0].size])
        characters = np.zeros((collator.pad_length(len(distinct)), MAX_CHARACTERS), np.uint8)
        characters[: len(distinct)] = self._characters[distinct]
        answers = encoded.answers[question]
        return QaBatch(
            passages=collator.collate(*passages),
            questions=collator.collate(*questions),
            characters=torch.from_numpy(characters),
            passage_rows=torch.from_numpy(passage_rows.reshape(passages[0].shape)),
            question_rows=torch.from_numpy(question_rows.reshape(questions[0].shape)),
            answers=torch.from_numpy(np.where(answers < 0, answers, answers - first[:, None])),
        )


def character_codes(words: Sequence[str]) -> NDArray[np.uint8]:
    """The UTF-8 bytes of words plus one, padded with 0: (U, C)."""
    rows = b"".join(
        word.encode("utf-8", "ignore")[:MAX_CHARACTERS].ljust(MAX_CHARACTERS, b"\xff")
        for word in words
    )
    # Padding is the largest byte, which overflows to 0; UTF-8 does not have it.
    return (np.frombuffer(rows, np.uint8) + np.uint8(1)).reshape(-1, MAX_CHARACTERS)

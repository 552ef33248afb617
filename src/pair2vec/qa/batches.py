"""Batches of questions and passages, as tensors; made on the CPU, by another thread if need be.

Shapes: B batch, n and m places of passages and questions, U distinct words of the batch or more,
C characters, K windows.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pair2vec.embedders.embedder import Embedder
from pair2vec.injection.relation_source import RelationSource
from pair2vec.qa.characters import spelled
from pair2vec.qa.numbered import NumberedQuestions
from pair2vec.qa.windows import Windows
from pair2vec.supervised.order import Numbers
from pair2vec.supervised.side import Side
from pair2vec.supervised.widths import Widths, exactly


@dataclass(frozen=True, kw_only=True, slots=True)
class QaBatch:
    """What a network needs of some questions."""

    passages: Side
    questions: Side
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
        numbered: NumberedQuestions,
        windows: Windows,
        embedder: Embedder,
        relations: RelationSource,
        widths: Widths = exactly,
    ) -> None:
        """Look up every distinct word once: a batch is then made of numbers alone."""
        self._numbered, self.windows, self._embedder = numbered, windows, embedder
        self._widths = widths
        ids = relations.ids([[word] for word in numbered.words])
        self._ids: Numbers = ids.cpu().numpy().reshape(-1)
        self._letters = spelled(numbered.words)
        questions = numbered.sentences.lengths[numbered.questions[windows.question]]
        self.sizes: Numbers = np.stack([windows.length, questions], axis=1)
        """(K, 2): words of the passage's part, and of the question."""

    def __len__(self) -> int:
        """How many windows there are."""
        return len(self.sizes)

    def batch(self, chosen: Numbers) -> QaBatch:
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

    def _side(self, words: Numbers, is_word: NDArray[np.bool_]) -> Side:
        texts = self._numbered.sentences.text(words, is_word)
        return Side(
            inputs=self._embedder.prepare(texts, words.shape[1]),
            ids=torch.from_numpy(np.where(is_word, self._ids[words], 0)),
            is_word=torch.from_numpy(is_word),
        )

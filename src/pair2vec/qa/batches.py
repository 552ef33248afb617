"""Batches of questions and passages, as tensors; made on the CPU, by another thread if need be.

Shapes: B batch, n and m words of the longest passage and question, U distinct words of the batch,
C characters, K windows.
"""

from dataclasses import dataclass

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
from pair2vec.supervised.sequences import Packing
from pair2vec.supervised.side import Side


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
    of_both: Packing
    """Of passages and questions together."""
    of_passages: Packing
    answers: Tensor
    """(B, 2), the first and the last word, counted in the passage's part; −1 for no answer."""

    def to(self, device: torch.device) -> "QaBatch":
        """On this device."""
        return QaBatch(
            passages=self.passages.to(device),
            questions=self.questions.to(device),
            letters=self.letters.to(device),
            passage_rows=self.passage_rows.to(device),
            question_rows=self.question_rows.to(device),
            of_both=self.of_both.to(device),
            of_passages=self.of_passages.to(device),
            answers=self.answers.to(device),
        )


class QaBatches:
    """Questions for one network: asked for batches of them."""

    def __init__(
        self,
        numbered: NumberedQuestions,
        windows: Windows,
        embedder: Embedder,
        relations: RelationSource,
    ) -> None:
        """Look up every distinct word once: a batch is then made of numbers alone."""
        self._numbered, self.windows, self._embedder = numbered, windows, embedder
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
        passages = sentences.block(numbered.passages[question], first, length)
        questions = sentences.block(numbered.questions[question])
        words = np.concatenate([passages[0].ravel(), questions[0].ravel()])
        distinct, rows = np.unique(words, return_inverse=True)
        of_passages, of_questions = np.split(rows, [passages[0].size])
        answers = numbered.answers[question]
        lengths = self.sizes[chosen]
        return QaBatch(
            passages=self._side(*passages),
            questions=self._side(*questions),
            letters=torch.from_numpy(self._letters[distinct]),
            passage_rows=torch.from_numpy(of_passages.reshape(passages[0].shape)),
            question_rows=torch.from_numpy(of_questions.reshape(questions[0].shape)),
            of_both=Packing.of([lengths[:, 0], lengths[:, 1]]),
            of_passages=Packing.of([lengths[:, 0]]),
            answers=torch.from_numpy(np.where(answers < 0, answers, answers - first[:, None])),
        )

    def _side(self, words: Numbers, is_word: NDArray[np.bool_]) -> Side:
        return Side(
            inputs=self._embedder.prepare(self._numbered.sentences.text(words, is_word)),
            ids=torch.from_numpy(np.where(is_word, self._ids[words], 0)),
            is_word=torch.from_numpy(is_word),
        )

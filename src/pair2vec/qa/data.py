"""The data of a training: questions to learn from and to choose by, and where they came from."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pair2vec.qa.examples import QaSet, read_qa
from pair2vec.qa.numbered import NOT_FOUND, NumberedQuestions

Paths = Sequence[str | os.PathLike[str]]


@dataclass(frozen=True)
class QaData:
    """What an answerer is trained on; of the questions to learn from only numbers are kept."""

    train: NumberedQuestions
    train_files: dict[str, int]
    """By name without folder, how many questions each has."""
    dev: QaSet
    fingerprint: str
    """Of all questions in their order: a training goes on with the same ones only."""

    @classmethod
    def read(cls, train: Paths, dev: Paths) -> "QaData":
        """The questions of these files."""
        return cls.of(read_qa(train), read_qa(dev))

    @classmethod
    def of(cls, train: QaSet, dev: QaSet) -> "QaData":
        """Those of two sets."""
        return cls(NumberedQuestions(train), train.files, dev, _fingerprint(train, dev))

    def words(self) -> list[str]:
        """All that occur."""
        return [*self.train.words, *words_of(self.dev)]

    @property
    def facts(self) -> dict[str, Any]:
        """What an answerer's config says of it."""
        not_found = int((self.train.answers[:, 0] == NOT_FOUND).sum())
        return {
            "train": self.train_files,
            "dev": self.dev.files,
            **({"answers_not_found": not_found} if not_found else {}),
        }


def words_of(*sets: QaSet) -> list[str]:
    """All words of some sets, each once, in the order in which they occur."""
    texts = (
        text
        for found in sets
        for text in (*found.passages, *(question.text for question in found.questions))
    )
    return list(dict.fromkeys(word for text in texts for word in text.words))


def _fingerprint(*sets: QaSet) -> str:
    digest = hashlib.sha256()
    for found in sets:
        for passage in found.passages:
            digest.update(f"{' '.join(passage.words)}\n".encode())
        for question in found.questions:
            asked = f"{question.passage}\t{' '.join(question.text.words)}\t{question.answers}\n"
            digest.update(asked.encode())
        digest.update(b"\n")
    return digest.hexdigest()

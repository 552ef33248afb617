"""The data of a training: examples to learn from and to choose by, and where they came from."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pair2vec.nli.batches import NumberedExamples
from pair2vec.nli.examples import NliExample, read_set

Paths = Sequence[str | os.PathLike[str]]


@dataclass(frozen=True)
class Examples:
    """Those of some files."""

    examples: list[NliExample]
    files: dict[str, int]
    """By name without folder, how many examples with a label each has."""

    @classmethod
    def read(cls, paths: Paths) -> "Examples":
        """All files, one behind the other."""
        sets = [(Path(path).name, read_set(path).examples) for path in paths]
        return cls(
            [example for _, examples in sets for example in examples],
            {name: len(examples) for name, examples in sets},
        )

    @cached_property
    def numbered(self) -> NumberedExamples:
        """The same with words as numbers."""
        return NumberedExamples(self.examples)


@dataclass(frozen=True)
class NliData:
    """What a classifier is trained on."""

    train: Examples
    dev: Examples

    @classmethod
    def read(cls, train: Paths, dev: Paths) -> "NliData":
        """The examples of these files."""
        return cls(Examples.read(train), Examples.read(dev))

    def words(self) -> list[str]:
        """All that occur."""
        return [*self.train.numbered.words, *self.dev.numbered.words]

    @property
    def facts(self) -> dict[str, Any]:
        """What a classifier's config says of it."""
        return {"train": self.train.files, "dev": self.dev.files}

    @cached_property
    def fingerprint(self) -> str:
        """Of all examples in their order: a training goes on with the same ones only."""
        digest = hashlib.sha256()
        for part in (self.train, self.dev):
            for premise, hypothesis, label, _ in part.examples:
                digest.update(f"{' '.join(premise)}\t{' '.join(hypothesis)}\t{label}\n".encode())
            digest.update(b"\n")
        return digest.hexdigest()

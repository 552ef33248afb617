"""Sets of labelled word pairs, such as BLESS and EVALution, with their splits.

A folder of ``train.tsv``, ``val.tsv`` and ``test.tsv``; in each one example a line: word, tab,
word, tab, relation.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pair2vec.errors import InputError, UsageError
from pair2vec.evaluation.analogies import numbered_lines

SPLITS = ("train", "val", "test")


class LabelledPair(NamedTuple):
    """Two words and what the second is to the first."""

    x: str
    y: str
    relation: str

    @property
    def words(self) -> tuple[str, str]:
        """Without the label."""
        return self.x, self.y


@dataclass(frozen=True)
class RelationSet:
    """A set and its splits."""

    name: str
    train: tuple[LabelledPair, ...]
    val: tuple[LabelledPair, ...]
    """To choose settings by."""
    test: tuple[LabelledPair, ...]

    @property
    def words(self) -> set[str]:
        """All that occur."""
        splits = (self.train, self.val, self.test)
        return {word for split in splits for pair in split for word in pair.words}


def read_relation_set(folder: Path) -> RelationSet:
    """A set in its folder.

    Raises:
        UsageError: there is no such folder.
        InputError: a split is missing or empty, or a line is malformed.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; give one with {_names()}")
    return RelationSet(folder.name, *(_read_split(folder / f"{name}.tsv") for name in SPLITS))


def _names() -> str:
    return ", ".join(f"{name}.tsv" for name in SPLITS)


def _read_split(path: Path) -> tuple[LabelledPair, ...]:
    if not path.is_file():
        raise InputError(f"{path}: no such file; a set of relations has {_names()}")
    pairs = tuple(_pair(place, line) for place, line in numbered_lines(path))
    if not pairs:
        raise InputError(f"{path}: has no pairs")
    return pairs


def _pair(place: str, line: str) -> LabelledPair:
    parts = [part.strip() for part in line.split("\t")]
    if len(parts) != 3 or not all(parts):
        raise InputError(f"{place}: expected word, tab, word, tab, relation, got {line!r}")
    return LabelledPair(*parts)

"""Analogies in words, as published sets have them: a is to b as x is to which y."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pair2vec.errors import InputError


class Entry(NamedTuple):
    """A word, and the words that stand in a relation to it."""

    word: str
    answers: tuple[str, ...]


class Question(NamedTuple):
    """An entry as an example, and the one that is asked about."""

    example: Entry
    """a, and b among its answers."""
    asked: Entry
    """x, and every y that is right."""


class Relation(NamedTuple):
    """Questions about one relation."""

    name: str
    group: str
    """Of relations of one kind, such as "encyclopedic"."""
    questions: tuple[Question, ...]


def numbered_lines(path: Path) -> Iterator[tuple[str, str]]:
    """The lines of a file that are not blank, each behind its place as an error names it.

    Raises:
        InputError: the file is not UTF-8.
    """
    try:
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 at byte {error.start + 1:,}") from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            # Some published files end their lines as Windows does.
            yield f"{path}, line {number}", line.rstrip("\r")

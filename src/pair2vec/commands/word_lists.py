"""Files of words or pairs to choose from."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pair2vec.commands.messages import say
from pair2vec.commands.questions import STANDARD_INPUT
from pair2vec.errors import InputError, UsageError

if TYPE_CHECKING:
    from pair2vec.text.vocabulary import Vocabulary

_POLICIES = ("error", "skip")


class _Row(NamedTuple):
    place: str
    words: list[str]


def read_words(path: Path, vocabulary: "Vocabulary", unknown: str) -> list[str]:
    """The words of a file, one a line.

    Args:
        path: ``-`` is standard input.
        vocabulary: Of the model.
        unknown: "error" refuses what is not in it, "skip" leaves it out and says how much.
    """
    rows = [_Row(place, [line]) for place, line in lines_of(path).items()]
    return [word for (word,) in _known(path, rows, vocabulary, unknown)]


def read_pairs(path: Path, vocabulary: "Vocabulary", unknown: str) -> list[tuple[str, str]]:
    """The pairs of a file, one a line, with a tab or white space between the words.

    Args:
        path: ``-`` is standard input.
        vocabulary: Of the model.
        unknown: "error" refuses what is not in it, "skip" leaves it out and says how much.
    """
    rows = []
    for place, line in lines_of(path).items():
        words = line.split("\t" if "\t" in line else None)
        if len(words) != 2:
            raise InputError(f"{place}: expected two words with a tab or white space between")
        rows.append(_Row(place, words))
    return [(x, y) for x, y in _known(path, rows, vocabulary, unknown)]


def lines_of(path: Path) -> dict[str, str]:
    """By their place, the lines that are not blank."""
    if str(path) != STANDARD_INPUT and not path.is_file():
        raise UsageError(f"{path}: no such file")
    content = sys.stdin.buffer.read() if str(path) == STANDARD_INPUT else path.read_bytes()
    try:
        lines = content.decode().split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 at byte {error.start + 1:,}") from error
    numbered = enumerate(map(str.strip, lines), start=1)
    return {f"{path}, line {number}": line for number, line in numbered if line}


def _known(path: Path, rows: list[_Row], vocabulary: "Vocabulary", unknown: str) -> list[list[str]]:
    """The rows of known words, and no others if `unknown` allows for others."""
    if unknown not in _POLICIES:
        raise UsageError(f"--unknown {unknown}: it must be one of {', '.join(_POLICIES)}")
    if unknown == "error":
        for row in rows:
            _check(row, vocabulary)
    known = [row.words for row in rows if _is_known(row.words, vocabulary)]
    if len(known) < len(rows):
        say(f"{path}: {len(rows) - len(known):,} of {len(rows):,} lines left out as unknown")
    if not known:
        raise InputError(f"{path}: has nothing to choose from")
    return known


def _check(row: _Row, vocabulary: "Vocabulary") -> None:
    from pair2vec.text.spelling import find_typed

    try:
        for word in row.words:
            find_typed(word, vocabulary)
    except UsageError as error:
        raise InputError(f"{row.place}: {error} (--unknown skip leaves it out)") from error


def _is_known(words: list[str], vocabulary: "Vocabulary") -> bool:
    # Not by `find_typed`, which looks long for words that are spelled alike.
    from pair2vec.text.sentences import tokenize

    tokens = [tokenize(word) for word in words]
    return all(len(parts) == 1 and parts[0] in vocabulary for parts in tokens)

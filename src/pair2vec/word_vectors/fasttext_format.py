"""fastText's binary model files: a word's vector is the mean of its row and those of its n-grams.

Bojanowski et al., 2017, section 3.2.
"""

import struct
from array import array
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import FloatArray
from pair2vec.word_vectors.vector_file import MAX_DIMENSION, ByteStream, WordMatcher

MAGIC = struct.pack("<i", 793712314)

_MATRIX_BLOCK = 1 << 22
"""Bytes of a model's matrix read at a time."""
_MODEL_VERSIONS = (11, 12)
_FNV_OFFSET_BASIS, _FNV_PRIME = 2166136261, 16777619
# fastText hashes bytes as signed integers: those from 128 on are sign-extended to 32 bits.
_SIGN_EXTENDED = [byte if byte < 128 else byte | 0xFFFFFF00 for byte in range(256)]


class FasttextModel(NamedTuple):
    """Sizes of a fastText model; n-grams with the same hash share a bucket."""

    dimension: int
    words: int
    buckets: int
    min_n: int
    max_n: int
    """Length of n-grams in characters, including the marks ``<`` and ``>`` of a word's ends."""


class _Entry(NamedTuple):
    """A word of a model: its own row, and its spelling."""

    row: int
    spelling: bytes


class _SubwordRows(NamedTuple):
    """Which rows of a model's matrix are averaged into which word's vector, sorted by row."""

    rows: NDArray[np.int64]
    word_ids: NDArray[np.int64]


@np.errstate(over="ignore", invalid="ignore")
def read_fasttext_model(stream: ByteStream, matcher: WordMatcher) -> FloatArray:
    """The vectors of a fastText model, as fastText's ``print-word-vectors`` computes them."""
    model = read_header(stream)
    subwords = _subword_rows(model, _matched_entries(stream, model, matcher))
    quantised, *shape = struct.unpack("<?2q", stream.read_exactly(17, "the matrix's header"))
    if quantised:
        raise stream.error("a quantised fastText model; use the .bin it was made from")
    if shape != [model.words + model.buckets, model.dimension]:
        raise stream.error("damaged: the matrix is not as large as its words need; fetch it again")
    vectors = np.zeros((matcher.ids, model.dimension), np.float32)
    for word_id, row in _matrix_rows(stream, model, subwords):
        vectors[word_id] += row
    if not np.isfinite(vectors).all():
        raise stream.error("has values that are not finite; fetch it again")
    vectors /= np.maximum(1, np.bincount(subwords.word_ids, minlength=matcher.ids))[:, None]
    return vectors


def read_header(stream: ByteStream) -> FasttextModel:
    """The sizes of a fastText model, at its beginning."""
    header = stream.read_exactly(92, "its first bytes")
    # Magic, version, twelve integers and the sampling threshold; then the dictionary's sizes.
    fields = struct.unpack("<2i12id3i2q", header)
    version, dimension = fields[1:3]
    buckets, min_n, max_n = fields[10:13]
    _, words, labels, _, pruned = fields[15:]
    if version not in _MODEL_VERSIONS:
        raise stream.error(f"a fastText model of version {version}; 11 and 12 can be read")
    if labels or pruned > 0:
        raise stream.error("a fastText classifier; use a model of 'fasttext skipgram' or 'cbow'")
    if not 0 < dimension <= MAX_DIMENSION or words < 0 or buckets < 0:
        raise stream.error("damaged: its first bytes make no sense; fetch it again")
    return FasttextModel(dimension, words, buckets, min_n, max_n)


def _matched_entries(
    stream: ByteStream, model: FasttextModel, matcher: WordMatcher
) -> dict[int, _Entry]:
    """The words of a model that are in the vocabulary, by id."""
    entries: dict[int, _Entry] = {}
    for row in range(model.words):
        spelling = stream.read_until(b"\0")
        stream.read_exactly(9, f"word {row + 1:,} of {model.words:,}")  # count and type
        word_id = matcher.match(spelling)
        if word_id is not None:
            entries[word_id] = _Entry(row, spelling)
    return entries


def _subword_rows(model: FasttextModel, entries: dict[int, _Entry]) -> _SubwordRows:
    rows, word_ids = array("q"), array("q")
    for word_id, (row, spelling) in entries.items():
        rows.append(row)
        rows.extend(model.words + bucket for bucket in word_buckets(spelling, model))
        word_ids.extend([word_id] * (len(rows) - len(word_ids)))
    order = np.argsort(rows)
    return _SubwordRows(np.array(rows)[order], np.array(word_ids)[order])


def word_buckets(word: bytes, model: FasttextModel) -> Iterator[int]:
    """The buckets of a word's character n-grams (`Dictionary::computeSubwords` in fastText)."""
    marked = b"<" + word + b">"
    # All bytes but the continuation bytes of UTF-8.
    starts = [position for position, byte in enumerate(marked) if byte & 0xC0 != 0x80]
    starts.append(len(marked))
    for first in range(len(starts) - 1 if model.buckets else 0):
        hashed = _FNV_OFFSET_BASIS
        ends = starts[first : first + model.max_n + 1]
        for length, (start, end) in enumerate(pairwise(ends), start=1):
            for byte in marked[start:end]:
                hashed = (hashed ^ _SIGN_EXTENDED[byte]) * _FNV_PRIME & 0xFFFFFFFF
            is_mark = length == 1 and (first == 0 or end == len(marked))
            if length >= model.min_n and not is_mark:
                yield hashed % model.buckets


def _matrix_rows(
    stream: ByteStream, model: FasttextModel, subwords: _SubwordRows
) -> Iterator[tuple[int, FloatArray]]:
    """Read the matrix block by block: each word's id with each row of its subwords."""
    total = model.words + model.buckets
    size = 4 * model.dimension
    step = max(1, _MATRIX_BLOCK // size)
    for first in range(0, total, step):
        count = min(step, total - first)
        data = stream.read_exactly(size * count, f"the {total:,} rows of its matrix")
        block = np.frombuffer(data, "<f4").reshape(count, model.dimension)
        begin, end = np.searchsorted(subwords.rows, [first, first + count])
        rows = (subwords.rows[begin:end] - first).tolist()
        for word_id, row in zip(subwords.word_ids[begin:end].tolist(), rows, strict=True):
            yield word_id, block[row]

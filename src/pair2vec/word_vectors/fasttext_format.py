"""fastText's own model files: a word's vector is the mean of its row and those of its n-grams.

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
from pair2vec.word_vectors.vector_file import LARGEST_DIMENSION, VectorContent, WantedWords

_MATRIX_BLOCK = 1 << 22
"""Bytes of a fastText model's matrix read at a time."""

MAGIC = struct.pack("<i", 793712314)
_MODEL_VERSIONS = (11, 12)
_OFFSET_BASIS, _PRIME = 2166136261, 16777619
# fastText hashes bytes as signed numbers: those from 128 on reach all of the hash's 32 bits.
_SIGNED = [byte if byte < 128 else byte | 0xFFFFFF00 for byte in range(256)]


class FasttextModel(NamedTuple):
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
def read_fasttext_model(content: VectorContent, wanted: WantedWords) -> FloatArray:
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


def _read_model_head(content: VectorContent) -> FasttextModel:
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
    if not 0 < dimension <= LARGEST_DIMENSION or words < 0 or buckets < 0:
        raise content.error("damaged: its first bytes make no sense; fetch it again")
    return FasttextModel(dimension, words, buckets, shortest, longest)


def _wanted_entries(
    content: VectorContent, model: FasttextModel, wanted: WantedWords
) -> dict[int, _Entry]:
    """The words of a model that are wanted, by id."""
    entries: dict[int, _Entry] = {}
    for row in range(model.words):
        spelling = content.take_until(b"\0")
        content.take_exactly(9, f"word {row + 1:,} of {model.words:,}")  # count and kind
        target = wanted.claim(spelling)
        if target is not None:
            entries[target] = _Entry(row, spelling)
    return entries


def _parts(model: FasttextModel, entries: dict[int, _Entry]) -> _Parts:
    rows, targets = array("q"), array("q")
    for target, (row, spelling) in entries.items():
        rows.append(row)
        rows.extend(model.words + bucket for bucket in word_buckets(spelling, model))
        targets.extend([target] * (len(rows) - len(targets)))
    order = np.argsort(rows)
    return _Parts(np.array(rows)[order], np.array(targets)[order])


def word_buckets(word: bytes, model: FasttextModel) -> Iterator[int]:
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


def _matrix_rows(
    content: VectorContent, model: FasttextModel, parts: _Parts
) -> Iterator[tuple[int, FloatArray]]:
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

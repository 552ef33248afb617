"""Inverted index: where each word of a corpus occurs, stored beside the corpus and built once.

A folder ``occurrences`` in that of the corpus, with for each shard N

- ``positions-N.bin``: uint32 positions in the shard's tokens, word after word, ascending;
- ``starts-N.bin``: uint64, the offset of each word's positions in it, and last the end;

and ``index.json``, written last, which names the corpus it was built from and has checksums of the
others: an index that is damaged is built again. Very frequent words are
not indexed: they are most of any text, and their neighbours are found from the other word.

Shapes: V vocabulary of the corpus.
"""

import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import Int64Array
from pair2vec.errors import InputError
from pair2vec.runtime.checksums import (
    CHECKSUMS,
    check_file,
    check_once,
    file_checksum,
    read_checksums,
    strict_json,
    with_checksums,
)
from pair2vec.runtime.jobs import RUN_AGAIN, exclusive_lock, explained_full_disk
from pair2vec.runtime.storage import PARTIAL, write_file
from pair2vec.text.corpus import Corpus, Shard
from pair2vec.text.vocabulary import SPECIAL_TOKENS

INDEX_FOLDER = "occurrences"
INDEX_FILE = "index.json"
INDEX_FORMAT = 1
MAX_INDEXED_SHARE = 1e-3
"""Words that are a larger share of the corpus are not indexed..."""
ALWAYS_INDEXED = 20_000
"""... unless they occur this often or less, as all words of a small corpus do."""

_log = logging.getLogger(__name__)

_BLOCK = 1 << 22
_HINT = "the index is built again"

Positions = NDArray[np.uint32]
IndexProgress = Callable[[int, int], None]
"""Called with the tokens done and the tokens in all."""


class ShardIndex(NamedTuple):
    positions: Positions
    starts: NDArray[np.uint64]
    """(V + 1,)"""

    def postings(self, word: int) -> Positions:
        """The positions of a word in the shard, ascending."""
        start, end = self.starts[word : word + 2].tolist()
        return self.positions[start:end]


@dataclass(frozen=True)
class InvertedIndex:
    corpus: Corpus
    shards: tuple[ShardIndex, ...]
    is_indexed: NDArray[np.bool_]
    """(V,)"""

    def occurrences(
        self, word: int, limit: int
    ) -> Iterator[tuple[NDArray[np.unsignedinteger], Int64Array]]:
        """Each shard's tokens, and at most `limit` positions of a word, evenly spread over it."""
        for shard, index in zip(self.corpus.shards, self.shards, strict=True):
            positions = index.postings(word).astype(np.int64)
            yield shard.tokens, positions[:: stride(len(positions), limit)]


def stride(count: int, limit: int) -> int:
    """The step of a slice that keeps at most `limit` of `count` items."""
    return max(1, -(-count // limit))


def open_index(corpus: Corpus, report: IndexProgress = lambda done, total: None) -> InvertedIndex:
    """The index beside a corpus; built if it is missing or belongs to another corpus."""
    folder = corpus.folder / INDEX_FOLDER
    if not _belongs_to(folder, corpus):
        with exclusive_lock(corpus.folder, wait=True), explained_full_disk(folder, RUN_AGAIN):
            if not _belongs_to(folder, corpus):  # unless another process has just built it
                _build(folder, corpus, report)
    shards = tuple(
        ShardIndex(
            _memory_map(folder / f"positions-{number}.bin", "<u4"),
            _memory_map(folder / f"starts-{number}.bin", "<u8"),
        )
        for number in range(len(corpus.shards))
    )
    return InvertedIndex(corpus, shards, indexed_words(corpus))


def indexed_words(corpus: Corpus) -> NDArray[np.bool_]:
    """Which words are indexed, (V,): all but special tokens and the very frequent."""
    counts = corpus.vocabulary.counts
    limit = max(MAX_INDEXED_SHARE * corpus.manifest.tokens, ALWAYS_INDEXED)
    indexed: NDArray[np.bool_] = counts <= limit
    indexed[: len(SPECIAL_TOKENS)] = False
    return indexed


def _belongs_to(folder: Path, corpus: Corpus) -> bool:
    """Whether there is an index of this corpus, and not a damaged one."""
    path = folder / INDEX_FILE
    try:
        saved = strict_json(path.read_bytes())
        checksums = read_checksums(path, saved, _HINT)
        if {name: value for name, value in saved.items() if name != CHECKSUMS} != _identity(corpus):
            return False
        files = [folder / name for name in _index_files(len(corpus.shards))]
        if not all(file.is_file() for file in files):
            return False

        def check() -> None:
            for name, checksum in checksums.items():
                check_file(folder / name, checksum, _HINT)

        check_once(files, json.dumps(checksums), check)
    except InputError as error:
        _log.warning("%s", error)
        return False
    except (FileNotFoundError, NotADirectoryError, ValueError, TypeError, AttributeError):
        return False
    return True


def _index_files(shards: int) -> list[str]:
    return [f"{name}-{number}.bin" for number in range(shards) for name in ("positions", "starts")]


def _identity(corpus: Corpus) -> dict[str, object]:
    """What an index was built from, and of which words."""
    return {
        "format": INDEX_FORMAT,
        "corpus": corpus.manifest.fingerprint,
        "largest_share": MAX_INDEXED_SHARE,
        "always_listed": ALWAYS_INDEXED,
    }


def _build(folder: Path, corpus: Corpus, report: IndexProgress) -> None:
    """Under another name first: a folder of the right name is complete.

    The caller holds the lock of the corpus, so that a partial one is what a killed process left.
    """
    shutil.rmtree(folder, ignore_errors=True)
    partial = folder.with_name(f"{INDEX_FOLDER}{PARTIAL}")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir()
    except OSError as error:
        raise InputError(
            f"{corpus.folder}: its index cannot be written beside it ({error.strerror}); "
            "copy the corpus to a folder you may write to"
        ) from error
    try:
        indexed, done = indexed_words(corpus), 0
        total = sum(len(shard.tokens) for shard in corpus.shards)
        for number, shard in enumerate(corpus.shards):
            for tokens in _build_shard(partial, number, shard, indexed):
                report(done + tokens, total)
            done += len(shard.tokens)
        names = _index_files(len(corpus.shards))
        checksums = {name: file_checksum(partial / name) for name in names}
        sealed = with_checksums(INDEX_FILE, _identity(corpus), checksums)
        write_file(partial / INDEX_FILE, json.dumps(sealed).encode())
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _build_shard(
    folder: Path, number: int, shard: Shard, indexed: NDArray[np.bool_]
) -> Iterator[int]:
    """Count every word, then scatter the positions: a counting sort in two passes.

    Yields how many tokens of the shard are done.
    """
    tokens = shard.tokens
    counts = np.zeros(len(indexed), np.int64)
    for start in range(0, len(tokens), _BLOCK):
        counts += np.bincount(tokens[start : start + _BLOCK], minlength=len(indexed))
    starts = np.concatenate([[0], np.cumsum(np.where(indexed, counts, 0))]).astype("<u8")
    positions = _allocated(folder / f"positions-{number}.bin", int(starts[-1]))
    next_free = starts[:-1].astype(np.int64)
    for start in range(0, len(tokens), _BLOCK):
        _scatter(tokens[start : start + _BLOCK], start, indexed, next_free, positions)
        yield min(start + _BLOCK, len(tokens))
    if isinstance(positions, np.memmap):
        positions.flush()
    write_file(folder / f"starts-{number}.bin", starts.tobytes())


def _allocated(path: Path, size: int) -> Positions:
    """A new file of `size` uint32, mapped to be written.

    All of it has its place on the disk: a map of a file with holes kills the process when the disk
    is full.
    """
    with path.open("wb") as file:
        if not size:  # which cannot be mapped
            return np.empty(0, "<u4")
        os.posix_fallocate(file.fileno(), 0, 4 * size)
    return np.memmap(path, "<u4", "r+", shape=(size,))


def _scatter(
    block: NDArray[np.unsignedinteger],
    first: int,
    indexed: NDArray[np.bool_],
    next_free: Int64Array,
    positions: Positions,
) -> None:
    """Write a block's positions into the postings of their words, and advance `next_free` (V,)."""
    kept = np.flatnonzero(indexed[block])
    words = np.asarray(block[kept])
    order = np.argsort(words, kind="stable")
    counts = np.bincount(words, minlength=len(next_free))
    group_starts = np.cumsum(counts) - counts
    words = words[order]
    targets = next_free[words] + np.arange(len(words)) - group_starts[words]
    positions[targets] = kept[order] + first
    next_free += counts


def _memory_map(path: Path, dtype: str) -> NDArray[np.unsignedinteger]:
    if not path.stat().st_size:
        return np.empty(0, dtype)
    return np.memmap(path, dtype, mode="r")

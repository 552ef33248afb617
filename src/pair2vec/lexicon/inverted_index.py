"""Where each word is in a corpus: an index beside it, made once.

A folder ``occurrences`` in that of the corpus, with for each shard

- ``positions.bin``: uint32 positions in the shard's tokens, word after word, in order;
- ``starts.bin``: uint64, where each word's positions begin in it, and last the end;

and ``index.json``, written last, which names the corpus it is of. Very frequent words are left out:
they are most of any text, and what stands beside them is found from the other word.
"""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import InputError
from pair2vec.runtime.storage import write_file
from pair2vec.text.corpus import Corpus, Shard
from pair2vec.text.vocabulary import SPECIAL_TOKENS

INDEX_FOLDER = "occurrences"
INDEX = "index.json"
INDEX_FORMAT = 1
LARGEST_SHARE = 1e-3
"""Of the corpus: words above it are not in the index..."""
ALWAYS_LISTED = 20_000
"""... but those that occur this often or less are, as all words of a small corpus do."""

_BLOCK = 1 << 22

Positions = NDArray[np.uint32]
IndexProgress = Callable[[int, int], None]
"""Told how many tokens are done, of how many."""


@dataclass(frozen=True)
class ShardIndex:
    """Of one shard."""

    positions: Positions
    starts: NDArray[np.uint64]
    """(V + 1,)"""

    def of(self, word: int) -> Positions:
        """Where a word is, in order."""
        start, end = self.starts[word : word + 2].tolist()
        return self.positions[start:end]


@dataclass(frozen=True)
class InvertedIndex:
    """Of a corpus."""

    corpus: Corpus
    shards: tuple[ShardIndex, ...]
    is_listed: NDArray[np.bool_]
    """(V,): which words are in the index."""


def open_index(corpus: Corpus, report: IndexProgress = lambda done, all_: None) -> InvertedIndex:
    """The index beside a corpus; made if it is not there, or of another corpus."""
    folder = corpus.folder / INDEX_FOLDER
    if not _is_of(folder, corpus):
        _make(folder, corpus, report)
    shards = tuple(
        ShardIndex(
            _map(folder / f"positions-{number}.bin", "<u4"),
            _map(folder / f"starts-{number}.bin", "<u8"),
        )
        for number in range(len(corpus.shards))
    )
    return InvertedIndex(corpus, shards, indexed_words(corpus))


def indexed_words(corpus: Corpus) -> NDArray[np.bool_]:
    """Which words are in the index: all but special tokens and the very frequent."""
    counts = corpus.vocabulary.counts
    most = max(LARGEST_SHARE * corpus.manifest.tokens, ALWAYS_LISTED)
    listed: NDArray[np.bool_] = counts <= most
    listed[: len(SPECIAL_TOKENS)] = False
    return listed


def _is_of(folder: Path, corpus: Corpus) -> bool:
    try:
        saved = json.loads((folder / INDEX).read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    return bool(saved == _facts(corpus))


def _facts(corpus: Corpus) -> dict[str, object]:
    """Of what corpus an index is, and of which words."""
    return {
        "format": INDEX_FORMAT,
        "corpus": corpus.manifest.fingerprint,
        "largest_share": LARGEST_SHARE,
        "always_listed": ALWAYS_LISTED,
    }


def _make(folder: Path, corpus: Corpus, report: IndexProgress) -> None:
    """Under another name first: a folder of the right name is complete."""
    shutil.rmtree(folder, ignore_errors=True)
    partial = folder.with_name(f"{INDEX_FOLDER}.{os.getpid()}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir()
    except OSError as error:
        raise InputError(
            f"{corpus.folder}: its index cannot be written beside it ({error.strerror}); "
            "copy the corpus to where you may write"
        ) from error
    try:
        listed, done = indexed_words(corpus), 0
        total = sum(len(shard.tokens) for shard in corpus.shards)
        for number, shard in enumerate(corpus.shards):
            before = done

            def note(tokens: int, before: int = before) -> None:
                report(before + tokens, total)

            _make_shard(partial, number, shard, listed, note)
            done += len(shard.tokens)
        write_file(partial / INDEX, json.dumps(_facts(corpus)).encode())
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _make_shard(
    folder: Path,
    number: int,
    shard: Shard,
    listed: NDArray[np.bool_],
    note: Callable[[int], None],
) -> None:
    """Count every word, and then put each position into its word's place: two readings."""
    tokens = shard.tokens
    counts = np.zeros(len(listed), np.int64)
    for start in range(0, len(tokens), _BLOCK):
        counts += np.bincount(tokens[start : start + _BLOCK], minlength=len(listed))
    starts = np.concatenate([[0], np.cumsum(np.where(listed, counts, 0))]).astype("<u8")
    path = folder / f"positions-{number}.bin"
    path.touch()
    size = int(starts[-1])
    # An empty file cannot be mapped.
    positions = np.memmap(path, "<u4", "w+", shape=(size,)) if size else np.empty(0, "<u4")
    free = starts[:-1].astype(np.int64)
    for start in range(0, len(tokens), _BLOCK):
        _place(tokens[start : start + _BLOCK], start, listed, free, positions)
        note(min(start + _BLOCK, len(tokens)))
    if isinstance(positions, np.memmap):
        positions.flush()
    write_file(folder / f"starts-{number}.bin", starts.tobytes())


def _place(
    block: NDArray[np.unsignedinteger],
    first: int,
    listed: NDArray[np.bool_],
    free: NDArray[np.int64],
    positions: NDArray[np.uint32],
) -> None:
    """Put the positions of a block where the next of their words are free, and move those on."""
    kept = np.flatnonzero(listed[block])
    words = np.asarray(block[kept])
    order = np.argsort(words, kind="stable")
    counts = np.bincount(words, minlength=len(free))
    begins = np.cumsum(counts) - counts
    words = words[order]
    places = free[words] + np.arange(len(words)) - begins[words]
    positions[places] = kept[order] + first
    free += counts


def _map(path: Path, dtype: str) -> NDArray[np.unsignedinteger]:
    if not path.stat().st_size:
        return np.empty(0, dtype)
    return np.memmap(path, dtype, mode="r")

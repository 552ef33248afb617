"""The vocabulary: which words have an id, and how often each occurs."""

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import InputError

PADDING, X, Y, BOUNDARY = range(4)
"""Ids of the special tokens: padding, the two slots of a context, and a sentence's edge."""

SPECIAL_TOKENS = ("<pad>", "<x>", "<y>", "<s>")
"""Spelled with brackets, which the tokeniser splits off: no word of a text can be one of these."""

LONGEST_WORD = 100
"""A longer token is data that lost its spaces, not a word."""


class WordCount(NamedTuple):
    """A word and how often it occurs."""

    word: str
    frequency: int


class Vocabulary:
    """Words by id and ids by word; ids 0 to 3 are the special tokens, then words by frequency."""

    def __init__(self, words: Sequence[WordCount]) -> None:
        entries = [*(WordCount(token, 0) for token in SPECIAL_TOKENS), *words]
        self.words: tuple[str, ...] = tuple(entry.word for entry in entries)
        self.counts: NDArray[np.int64] = np.array([entry.frequency for entry in entries], np.int64)
        self.ids: dict[str, int] = {word: number for number, word in enumerate(self.words)}

    def __len__(self) -> int:
        """How many ids there are, the special tokens included."""
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.ids

    def to_tsv(self) -> bytes:
        """One line an id: word, tab, count."""
        rows = zip(self.words, self.counts.tolist(), strict=True)
        return "".join(f"{word}\t{count}\n" for word, count in rows).encode()

    @classmethod
    def from_tsv(cls, path: Path) -> "Vocabulary":
        """Read what `to_tsv` wrote."""
        lines = path.read_text(encoding="utf-8").split("\n")[:-1]
        rows = [line.split("\t") for line in lines]
        for number, row in enumerate(rows, start=1):
            if len(row) != 2 or not row[1].isdigit():
                raise InputError(f"{path}, line {number}: expected a word, a tab and a count")
        if tuple(row[0] for row in rows[: len(SPECIAL_TOKENS)]) != SPECIAL_TOKENS:
            raise InputError(f"{path}: does not begin with {' '.join(SPECIAL_TOKENS)}")
        return cls([WordCount(word, int(count)) for word, count in rows[len(SPECIAL_TOKENS) :]])


class WordTotals:
    """Counts of words summed over many pieces of text, in bounded memory.

    Natural text never runs out of new words, so beyond `limit` distinct ones the sums so far are
    written to `folder` as a sorted run; `items` merges the runs.
    """

    def __init__(self, folder: Path, limit: int = 250_000) -> None:
        self._folder = folder
        self._limit = limit
        self._totals: Counter[str] = Counter()
        self._runs: list[Path] = []

    def add(self, words: Iterable[str], counts: Iterable[int]) -> None:
        """Count each of `words` as often as `counts` says."""
        totals = self._totals
        for word, count in zip(words, counts, strict=True):
            totals[word] += count
        if len(totals) > self._limit:
            self._write_run()

    def _write_run(self) -> None:
        run = self._folder / f"run-{len(self._runs):05d}.tsv"
        with run.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{word}\t{self._totals[word]}\n" for word in sorted(self._totals))
        self._runs.append(run)
        self._totals.clear()

    def items(self) -> Iterator[WordCount]:
        """Each distinct word once, with its total."""
        if not self._runs:
            yield from (WordCount(word, count) for word, count in self._totals.items())
            return
        if self._totals:
            self._write_run()
        with ExitStack() as files:
            runs = [files.enter_context(run.open(encoding="utf-8")) for run in self._runs]
            rows = heapq.merge(*(_read_run(run) for run in runs))
            for word, parts in groupby(rows, key=itemgetter(0)):
                yield WordCount(word, sum(count for _, count in parts))


def _read_run(lines: Iterable[str]) -> Iterator[tuple[str, int]]:
    for line in lines:
        word, _, count = line.partition("\t")
        yield word, int(count)


class Selection(NamedTuple):
    """The words that get an id, and the most frequent of those that do not."""

    kept: list[WordCount]
    dropped: list[WordCount]


def most_frequent(
    totals: Iterable[WordCount], size: int, min_count: int, examples: int = 10
) -> Selection:
    """The `size` most frequent words; of equally frequent ones, those first in the alphabet."""
    ranked = heapq.nsmallest(
        size + examples,
        (entry for entry in totals if len(entry.word) <= LONGEST_WORD),
        key=lambda entry: (-entry.frequency, entry.word),
    )
    kept = [entry for entry in ranked[:size] if entry.frequency >= min_count]
    return Selection(kept, ranked[len(kept) : len(kept) + examples])

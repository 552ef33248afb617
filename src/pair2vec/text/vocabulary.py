"""The vocabulary: which words have an id, and how often each occurs."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import InputError, UsageError
from pair2vec.text.sentences import tokenize

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

    def __init__(self, words: Iterable[tuple[str, int]]) -> None:
        entries = [*((token, 0) for token in SPECIAL_TOKENS), *words]
        self.words: tuple[str, ...]
        self.words, counts = zip(*entries, strict=True)
        self.counts: NDArray[np.int64] = np.array(counts, np.int64)
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
        rows = [line.partition("\t") for line in lines]
        for number, (_, _, count) in enumerate(rows, start=1):
            if not count.isdecimal():
                raise InputError(f"{path}, line {number}: expected a word, a tab and a count")
        if tuple(word for word, _, _ in rows[: len(SPECIAL_TOKENS)]) != SPECIAL_TOKENS:
            raise InputError(f"{path}: does not begin with {' '.join(SPECIAL_TOKENS)}")
        return cls((word, int(count)) for word, _, count in rows[len(SPECIAL_TOKENS) :])


class WordTotals:
    """Counts of words summed over many pieces of text, in little memory.

    Natural text never runs out of new words, so beyond `limit` distinct ones the sums so far go to
    `files` in `folder`, a word always to the same one, and `items` sums one file after another.
    """

    def __init__(self, folder: Path, limit: int = 250_000, files: int = 64) -> None:
        self._paths = [folder / f"words-{number:02d}.tsv" for number in range(files)]
        self._limit = limit
        self._totals: defaultdict[str, int] = defaultdict(int)
        self._on_disk = False

    def add(self, words: Iterable[str], counts: Iterable[int]) -> None:
        """Count each of `words` as often as `counts` says."""
        totals = self._totals
        for word, count in zip(words, counts, strict=True):
            totals[word] += count
        if len(totals) > self._limit:
            self._move_to_disk()

    def _move_to_disk(self) -> None:
        # The first time over what a killed run may have left.
        mode = "a" if self._on_disk else "w"
        with ExitStack() as stack:
            files = [stack.enter_context(path.open(mode, encoding="utf-8")) for path in self._paths]
            for word, count in self._totals.items():
                files[hash(word) % len(files)].write(f"{word}\t{count}\n")
        self._on_disk = True
        self._totals.clear()

    def items(self) -> Iterator[tuple[str, int]]:
        """Each distinct word once, with its total."""
        if not self._on_disk:
            yield from self._totals.items()
            return
        self._move_to_disk()
        for path in self._paths:
            totals: defaultdict[str, int] = defaultdict(int)
            with path.open(encoding="utf-8") as file:
                for line in file:
                    word, _, count = line.partition("\t")
                    totals[word] += int(count)
            yield from totals.items()


class Selection(NamedTuple):
    """The words that get an id, and the most frequent of those that do not."""

    kept: list[WordCount]
    dropped: list[WordCount]


def most_frequent(
    totals: Iterable[tuple[str, int]], size: int, min_count: int, examples: int = 10
) -> Selection:
    """The `size` most frequent words; of equally frequent ones, those first in the alphabet."""
    wanted = size + examples
    best: list[tuple[str, int]] = []
    least = 0
    for entry in totals:
        word, frequency = entry
        if frequency >= least and len(word) <= LONGEST_WORD:
            best.append(entry)
            if len(best) == 3 * wanted:
                best = list(islice(_ranked(best), wanted))
                least = best[-1][1]
    ranked = list(islice(_ranked(best), wanted))
    kept = [entry for entry in ranked[:size] if entry.frequency >= min_count]
    return Selection(kept, ranked[len(kept) : len(kept) + examples])


def _ranked(totals: Iterable[tuple[str, int]]) -> Iterator[WordCount]:
    """By frequency, then by the alphabet; only words that are asked for are sorted."""
    words: defaultdict[int, list[str]] = defaultdict(list)
    for word, frequency in totals:
        words[frequency].append(word)
    for frequency in sorted(words, reverse=True):
        for word in sorted(words[frequency]):
            yield WordCount(word, frequency)


# == Words as a user types them, found in a vocabulary or answered with words that look alike.


_WORDS_COMPARED = 50_000
_LENGTHS_APART = 2


class UnknownWordError(UsageError):
    """A word that a vocabulary does not have."""

    def __init__(self, word: str, alike: list[str]) -> None:
        hint = f"; did you mean {', '.join(alike)}?" if alike else ""
        super().__init__(f"{word!r} is not in the vocabulary{hint}")
        self.word = word
        self.alike = alike
        """Known words spelled like it, the nearest first."""


class WordPair(NamedTuple):
    """The ids of a word x and of a word y that comes after it."""

    x: int
    y: int


def find_pair(x: str, y: str, vocabulary: Vocabulary) -> WordPair:
    """The ids of two typed words.

    Raises:
        UsageError: one of them is not a single word of the vocabulary.
    """
    return WordPair(find_typed(x, vocabulary), find_typed(y, vocabulary))


def find_typed(text: str, vocabulary: Vocabulary) -> int:
    """The id of a word as a user may type it.

    Raises:
        UsageError: it is not one word.
        UnknownWordError: the vocabulary does not have it.
    """
    tokens = tokenize(text)
    if len(tokens) != 1:
        parts = f"{len(tokens)} tokens ({' '.join(tokens)})" if tokens else "nothing"
        raise UsageError(f"{text!r} is {parts} to the tokeniser; give one word")
    return find_word(tokens[0], vocabulary)


def is_word(text: str, vocabulary: Vocabulary) -> bool:
    """Whether `find_typed` finds it."""
    tokens = tokenize(text)
    return len(tokens) == 1 and tokens[0] in vocabulary


def find_word(word: str, vocabulary: Vocabulary) -> int:
    """The id of a word spelled as the tokeniser spells it.

    Raises:
        UnknownWordError: the vocabulary does not have it.
    """
    number = vocabulary.ids.get(word)
    if number is None:
        raise UnknownWordError(word, look_alikes(word, vocabulary))
    return number


def look_alikes(word: str, vocabulary: Vocabulary, count: int = 3) -> list[str]:
    """Up to `count` words of the vocabulary spelled most like `word`, the nearest first."""
    # Comparing is slow: rare words and words of quite another length are not worth it.
    frequent = islice(vocabulary.words, len(SPECIAL_TOKENS), _WORDS_COMPARED)
    candidates = [other for other in frequent if abs(len(other) - len(word)) <= _LENGTHS_APART]
    return get_close_matches(word, candidates, n=count, cutoff=0.7)

"""The vocabulary: which words have an id, how it is chosen, and how a typed word is looked up."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import InputError, UsageError
from pair2vec.text.phrases import MAX_PHRASE_TOKENS, is_phrase, join_tokens
from pair2vec.text.sentences import tokenize

PADDING, X, Y, BOUNDARY = range(4)
"""Ids of the special tokens: padding, the two slots of a context, and a sentence's edge."""

SPECIAL_TOKENS = ("<pad>", "<x>", "<y>", "<s>")
"""Spelled with brackets, which the tokeniser splits off: no word of a text can equal one."""

LONGEST_WORD = 100
"""A longer token is data that lost its spaces, not a word."""

_SUGGESTED_FROM = 50_000
"""Suggestions come from this many most frequent words: comparing spellings is slow."""
_MAX_LENGTH_DIFFERENCE = 2
_COUNT_DIGITS = 18


def is_count(text: str) -> bool:
    """Whether a text is a count as we write it, and fits 64 bits: no `²`, which is a digit too."""
    return text.isascii() and text.isdigit() and len(text) <= _COUNT_DIGITS


class WordCount(NamedTuple):
    word: str
    frequency: int


class Vocabulary:
    """Words by id and ids by word; ids 0 to 3 are the special tokens, then words by frequency.

    Phrases that were added to a model later stand behind its words.
    """

    def __init__(self, words: Iterable[tuple[str, int]]) -> None:
        spelled, counts = list(SPECIAL_TOKENS), [0] * len(SPECIAL_TOKENS)
        for word, count in words:  # a list of pairs or `zip` takes three times as long to open
            spelled.append(word)
            counts.append(count)
        self.words: tuple[str, ...] = tuple(spelled)
        self.counts: NDArray[np.int64] = np.array(counts, np.int64)
        self.ids: dict[str, int] = dict(zip(self.words, range(len(self.words)), strict=True))

    def __len__(self) -> int:
        """The number of ids, special tokens included."""
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.ids

    def join(self, tokens: Sequence[str]) -> list[str]:
        """The tokens of a sentence with each phrase of the vocabulary as one."""
        if self._phrase_beginnings.isdisjoint(tokens):
            return list(tokens)
        return join_tokens(tokens, self.ids)

    @cached_property
    def _phrase_beginnings(self) -> frozenset[str]:
        """The first tokens of all phrases: most sentences have none of them."""
        return frozenset(word.partition(" ")[0] for word in self.words if is_phrase(word))

    def to_tsv(self) -> bytes:
        """One line per id: word, tab, count."""
        rows = zip(self.words, self.counts.tolist(), strict=True)
        return "".join(f"{word}\t{count}\n" for word, count in rows).encode()

    @classmethod
    def from_tsv(cls, path: Path) -> "Vocabulary":
        """Read what `to_tsv` wrote.

        Raises:
            InputError: it is something else.
        """
        try:
            lines = path.read_bytes().decode().split("\n")
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: is not UTF-8") from error
        rows = [line.partition("\t") for line in lines[:-1]]
        for number, (_, _, count) in enumerate(rows, start=1):
            if not is_count(count):
                raise InputError(f"{path}, line {number}: expected a word, a tab and a count")
        if tuple(word for word, _, _ in rows[: len(SPECIAL_TOKENS)]) != SPECIAL_TOKENS:
            raise InputError(f"{path}: does not begin with {' '.join(SPECIAL_TOKENS)}")
        vocabulary = cls((word, int(count)) for word, _, count in rows[len(SPECIAL_TOKENS) :])
        if len(vocabulary.ids) != len(vocabulary) or lines[-1]:
            raise InputError(f"{path}: has a word twice, or is cut short")
        return vocabulary


class WordCounter:
    """Sums word counts over many pieces of text in bounded memory.

    Natural text never runs out of new words. Beyond `limit` distinct ones the counts so far are
    moved to `files` files in `folder`, partitioned by hash; `items` sums one file after another,
    and leaves the sums there for the next time.
    """

    def __init__(self, folder: Path, limit: int = 250_000, files: int = 64) -> None:
        self._paths = [folder / f"words-{number:02d}.tsv" for number in range(files)]
        self._limit = limit
        self._totals: defaultdict[str, int] = defaultdict(int)
        self._on_disk = False
        self._summed: set[Path] = set()

    def add(self, words: Iterable[str], counts: Iterable[int]) -> None:
        totals = self._totals
        for word, count in zip(words, counts, strict=True):
            totals[word] += count
        if len(totals) > self._limit:
            self._spill()

    def _spill(self) -> None:
        # The first time overwrites what a killed run may have left.
        mode = "a" if self._on_disk else "w"
        with ExitStack() as stack:
            files = [stack.enter_context(path.open(mode, encoding="utf-8")) for path in self._paths]
            for word, count in self._totals.items():
                files[hash(word) % len(files)].write(f"{word}\t{count}\n")
        self._on_disk = True
        self._totals.clear()
        self._summed.clear()

    def items(self) -> Iterator[tuple[str, int]]:
        """Each distinct word once, with its total count."""
        if not self._on_disk:
            yield from self._totals.items()
            return
        if self._totals:
            self._spill()
        for path in self._paths:
            yield from self._sums(path)

    def _sums(self, path: Path) -> Iterable[tuple[str, int]]:
        """The words in a file and their counts."""
        fields = path.read_text(encoding="utf-8").replace("\n", "\t").split("\t")
        entries = zip(fields[:-1:2], map(int, fields[1::2]), strict=True)
        if path in self._summed:
            return entries
        totals: defaultdict[str, int] = defaultdict(int)
        for word, count in entries:
            totals[word] += count
        lines = (f"{word}\t{count}\n" for word, count in totals.items())
        path.write_text("".join(lines), encoding="utf-8")
        self._summed.add(path)
        return totals.items()


@dataclass(frozen=True, kw_only=True, slots=True)
class IncludedWords:
    """Words that get an id before others that are more frequent."""

    words: frozenset[str]
    """As the tokeniser spells them; those of several tokens are phrases."""
    min_count: int = 1
    """A rarer one has to compete with the others; 0 includes those that never occur."""

    def __post_init__(self) -> None:
        if not self.words:
            raise UsageError("there are no words to include; list one or more")
        if self.min_count < 0:
            raise UsageError(f"the count of an included word is {self.min_count}; 0 is the least")

    def settings(self) -> dict[str, int | str]:
        """As JSON: what decides the choice, the words by a hash of them in alphabetical order."""
        checksum = hashlib.sha256("\n".join(sorted(self.words)).encode()).hexdigest()
        return {"words": len(self.words), "sha256": checksum, "min_count": self.min_count}


class VocabularySelection(NamedTuple):
    """The words that get an id, and the most frequent of those that do not."""

    kept: list[WordCount]
    dropped: list[WordCount]


def most_frequent(
    totals: Iterable[tuple[str, int]],
    size: int,
    min_count: int,
    examples: int = 10,
    include: IncludedWords | None = None,
) -> VocabularySelection:
    """The words to `include`, then the most frequent ones, `size` in all, sorted by frequency.

    Ties are broken alphabetically. Holds at most 3 · (size + examples) candidates at a time, and
    the included words.
    """
    limit = size + examples
    candidates: list[tuple[str, int]] = []
    included: dict[str, int] = {}
    lowest = 0
    for entry in totals:
        word, frequency = entry
        if include and word in include.words and frequency >= include.min_count:
            included[word] = frequency
        elif frequency >= lowest and len(word) <= LONGEST_WORD:
            candidates.append(entry)
            if len(candidates) == 3 * limit:
                candidates = list(islice(_ranked(candidates), limit))
                lowest = candidates[-1][1]
    if include and include.min_count == 0:
        included.update(dict.fromkeys(include.words - included.keys(), 0))
    first = list(_ranked(included.items()))
    # Most words are rarer than `min_count`, and of those only the examples need to be in order.
    frequent: list[tuple[str, int]] = []
    rare: list[tuple[str, int]] = []
    for entry in candidates:
        (frequent if entry[1] >= min_count else rare).append(entry)
    others = list(islice(_ranked(frequent), limit))
    room = max(0, size - len(first))
    kept = others[:room]
    others += islice(_ranked(rare), examples)
    left = [*(entry for entry in first[size:] if entry.frequency), *others[len(kept) :]]
    return VocabularySelection(
        list(_ranked([*first[:size], *kept])), list(islice(_ranked(left), examples))
    )


def _ranked(totals: Iterable[tuple[str, int]]) -> Iterator[WordCount]:
    """By frequency, then alphabetically; lazily, so that only consumed frequencies are sorted."""
    words: defaultdict[int, list[str]] = defaultdict(list)
    for word, frequency in totals:
        words[frequency].append(word)
    for frequency in sorted(words, reverse=True):
        for word in sorted(words[frequency]):
            yield WordCount(word, frequency)


class UnknownWordError(UsageError):
    """A word is not in the vocabulary."""

    def __init__(self, word: str, suggestions: list[str]) -> None:
        hint = f"; did you mean {', '.join(suggestions)}?" if suggestions else ""
        super().__init__(f"{word!r} is not in the vocabulary{hint}")
        self.word = word
        self.suggestions = suggestions
        """Known words of similar spelling, the most similar first."""


class WordPair(NamedTuple):
    """The ids of two words, x to the left of y."""

    x: int
    y: int


def look_up_pair(x: str, y: str, vocabulary: Vocabulary) -> WordPair:
    """The ids of two typed words or phrases.

    Raises:
        UsageError: one of them has no token.
        UnknownWordError: the vocabulary lacks one of them.
    """
    return WordPair(look_up_word(x, vocabulary), look_up_word(y, vocabulary))


def look_up_word(text: str, vocabulary: Vocabulary) -> int:
    """The id of a typed word or phrase, in any case.

    Raises:
        UsageError: it has no token.
        UnknownWordError: the vocabulary lacks it.
    """
    word_id = find_word(text, vocabulary)
    if word_id is not None:
        return word_id
    return look_up_token(spell_word(text), vocabulary)


def find_word(text: str, vocabulary: Vocabulary) -> int | None:
    """The id of a typed word or phrase, in any case; None if the vocabulary lacks it.

    Where it lacks ``new york`` it may have ``new_york``, as text has that was joined by other
    means, and the other way round.
    """
    tokens = tokenize(text)
    word_id = vocabulary.ids.get(" ".join(tokens))
    if word_id is None and len(tokens) > 1:
        return vocabulary.ids.get("_".join(tokens))
    if word_id is None and tokens and "_" in tokens[0]:
        return vocabulary.ids.get(tokens[0].replace("_", " "))
    return word_id


def spell_word(text: str) -> str:
    """A typed word or phrase as a vocabulary spells it: tokens with a blank between any two.

    Raises:
        UsageError: it has no token.
    """
    tokens = tokenize(text)
    if not tokens:
        raise UsageError(f"{text!r} is nothing to the tokeniser; give a word or a phrase")
    return " ".join(tokens)


def is_known_word(text: str, vocabulary: Vocabulary) -> bool:
    """Whether `look_up_word` would succeed; cheaper, as it needs no suggestions."""
    return find_word(text, vocabulary) is not None


def look_up_token(token: str, vocabulary: Vocabulary) -> int:
    """The id of a word or phrase as `spell_word` spells it.

    Raises:
        UnknownWordError: the vocabulary lacks it.
    """
    token_id = vocabulary.ids.get(token)
    if token_id is None:
        raise UnknownWordError(token, suggest_spellings(token, vocabulary))
    return token_id


def suggest_spellings(word: str, vocabulary: Vocabulary, count: int = 3) -> list[str]:
    """Up to `count` known words of similar spelling, the most similar first.

    For a phrase, first the longest known phrases within it; its known words, if there is nothing
    else.
    """
    frequent = islice(vocabulary.words, len(SPECIAL_TOKENS), _SUGGESTED_FROM)
    candidates = [
        other
        for other in frequent
        if abs(len(other) - len(word)) <= _MAX_LENGTH_DIFFERENCE
        and is_phrase(other) == is_phrase(word)
    ]
    alike = get_close_matches(word, candidates, n=count, cutoff=0.7)
    tokens = word.split(" ")
    if len(tokens) == 1:
        return alike
    within = [
        part
        for size in range(min(MAX_PHRASE_TOKENS, len(tokens) - 1), 1, -1)
        for start in range(len(tokens) - size + 1)
        if (part := " ".join(tokens[start : start + size])) in vocabulary
    ]
    known = [token for token in tokens if token in vocabulary]
    return list(dict.fromkeys([*within, *alike]))[:count] or list(dict.fromkeys(known))[:count]

"""Which phrases a corpus gets: those of a list that occur, and collocations found in the text.

A collocation is two neighbouring tokens whose normalised pointwise mutual information is high
(NPMI; Bouma 2009, Normalized (Pointwise) Mutual Information in Collocation Extraction):

    ln(p(x, y) / (p(x) p(y))) / -ln p(x, y)

which is 1 where neither occurs without the other, 0 by chance. It is counted twice, the second time
in the text joined by the phrases of the first, so that *new york city* may follow *new york*.

Counting is a function of an encoded piece, run on each by an engine; their sum is bounded by the
vocabulary. Shapes: T types (words and phrases that may be part of a collocation), B bigrams.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import Int64Array
from pair2vec.errors import UsageError
from pair2vec.text.function_words import FUNCTION_WORDS
from pair2vec.text.phrases import (
    MAX_PHRASE_TOKENS,
    PhraseTable,
    join_phrases,
    joined_counts,
    numbers_of,
    occurrences,
)
from pair2vec.text.pieces import PieceFile, load_ids
from pair2vec.text.vocabulary import most_frequent

PASSES = 2
_NO_END = FUNCTION_WORDS.union("all few fewer less least many more most much several".split())
"""The quantifiers are apart, because they may decide where sentences are compared."""

_BIGRAMS_PER_TYPE = 40
_FEWEST_BIGRAMS = 1 << 18

_Result = TypeVar("_Result")
_Result_co = TypeVar("_Result_co", covariant=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class PhraseConfig:
    """Which phrases are joined to words."""

    find: bool = True
    """Whether collocations are found in the text."""
    threshold: float = 0.5
    """The least NPMI of a collocation."""
    min_count: int = 10
    """The least count of a collocation; a rare one has a high NPMI by chance."""
    listed: frozenset[str] = frozenset()
    """Phrases to join that occur as often as a word must."""

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise UsageError(
                f"the threshold of phrases is {self.threshold:g}; NPMI is above 0, up to 1"
            )
        if self.min_count < 1:
            raise UsageError(f"the count of a phrase is {self.min_count}; 1 is the least")

    def settings(self) -> dict[str, Any]:
        """As JSON: the list by a hash of its phrases in alphabetical order."""
        found = {"measure": "npmi", "threshold": self.threshold, "min_count": self.min_count}
        if not self.listed:
            return found
        checksum = hashlib.sha256("\n".join(sorted(self.listed)).encode()).hexdigest()
        return {**(found if self.find else {}), "listed": len(self.listed), "sha256": checksum}


class OverPieces(Protocol):
    """Runs a function over the encoded pieces; results come in the order of the text."""

    def __call__(self, function: Callable[[PieceFile], _Result], /) -> Iterator[_Result]: ...


def find_phrases(
    config: PhraseConfig,
    totals: Callable[[], Iterable[tuple[str, int]]],
    over_pieces: OverPieces,
    *,
    words: int,
    min_count: int,
    included: frozenset[str] = frozenset(),
) -> list[str]:
    """The phrases that a text may be joined by, in alphabetical order.

    Args:
        config: Which ones.
        totals: How often each word occurs.
        over_pieces: Of the text.
        words: How many of the most frequent ones may be part of a collocation.
        min_count: Of listed phrases.
        included: Phrases to join, however rare.
    """
    phrases, asked = set(included), config.listed - included
    tokens = {token for phrase in asked for token in phrase.split(" ")}
    known: set[str] = set()

    def frequent_enough() -> Iterator[tuple[str, int]]:
        """For collocations; what lists need is noted in the same pass, as words may be on disk."""
        for word, count in totals():
            if count >= min_count and word in tokens:
                known.add(word)
            if count >= config.min_count:
                yield word, count

    frequent = most_frequent(frequent_enough(), words, config.min_count).kept
    listed = sorted(phrase for phrase in asked if known.issuperset(phrase.split(" ")))
    if listed:
        counts = sum_counts(over_pieces(partial(count_occurrences, phrases=as_lines(listed))))
        found = np.flatnonzero(counts >= min_count).tolist()
        phrases.update(listed[number] for number in found if number < len(listed))
    if config.find:
        types = [word for word, _ in frequent if may_end_collocation(word)]
        for _ in range(PASSES):
            phrases.update(find_collocations(config, types, sorted(phrases), over_pieces))
    return sorted(phrases)


def may_end_collocation(token: str) -> bool:
    """Whether a collocation may begin or end with a token.

    It has a letter, so that it is no punctuation and no number alone, and is no function word of
    English, contracted or not.
    """
    stem = token.partition("'")[0]
    is_function_word = token in _NO_END or stem in _NO_END or token.endswith("n't")
    return bool(stem) and not is_function_word and any(map(str.isalpha, token))


def as_lines(words: Iterable[str]) -> bytes:
    """Words as they travel to workers."""
    return "\n".join(words).encode()


def _from_lines(lines: bytes) -> list[str]:
    return lines.decode().split("\n") if lines else []


@lru_cache(maxsize=2)
def _phrase_table(phrases: bytes) -> PhraseTable:
    return PhraseTable(_from_lines(phrases))


class PhraseCounts(NamedTuple):
    """Of the phrases that are in a piece at all."""

    numbers: NDArray[np.integer]
    counts: Int64Array


def count_occurrences(piece: PieceFile, *, phrases: bytes) -> PhraseCounts:
    """How often each phrase occurs in a piece."""
    return _nonzero(occurrences(*load_ids(piece), _phrase_table(phrases)))


def count_joined(piece: PieceFile, *, phrases: bytes) -> PhraseCounts:
    """How often each phrase is joined in a piece."""
    return _nonzero(joined_counts(*load_ids(piece), _phrase_table(phrases)))


def _nonzero(counts: Int64Array) -> PhraseCounts:
    numbers = np.flatnonzero(counts)
    return PhraseCounts(numbers, counts[numbers])


def sum_counts(pieces: Iterable[PhraseCounts]) -> Int64Array:
    """By phrase; those behind the last that occurs are left out."""
    total = np.zeros(0, np.int64)
    for numbers, counts in pieces:
        if len(numbers) and numbers[-1] >= len(total):
            total = np.pad(total, (0, int(numbers[-1]) + 1 - len(total)))
        total[numbers] += counts
    return total


def find_collocations(
    config: PhraseConfig, words: list[str], phrases: list[str], over_pieces: OverPieces
) -> list[str]:
    """The pairs of neighbours with a high NPMI in a text that is joined by `phrases`."""
    inner = [phrase for phrase in phrases if all(map(may_end_collocation, _ends(phrase)))]
    types = [*words, *inner]
    count = partial(count_bigrams, phrases=as_lines(phrases), types=as_lines(types))
    bigrams = BoundedCounts(max(_FEWEST_BIGRAMS, _BIGRAMS_PER_TYPE * len(types)))
    type_counts, tokens = np.zeros(len(types), np.int64), 0
    for piece in over_pieces(count):
        bigrams.add(piece.bigrams, piece.bigram_counts)
        type_counts += piece.type_counts
        tokens += piece.tokens
    keys, counts = bigrams.at_least(config.min_count)
    left, right = np.divmod(keys, max(1, len(types)))
    scores = npmi(counts, type_counts[left], type_counts[right], tokens)
    chosen = np.flatnonzero(scores >= config.threshold)
    pairs = zip(left[chosen].tolist(), right[chosen].tolist(), strict=True)
    return [f"{types[x]} {types[y]}" for x, y in pairs]


def _ends(phrase: str) -> tuple[str, str]:
    tokens = phrase.split(" ")
    return tokens[0], tokens[-1]


def npmi(
    together: NDArray[Any], left: NDArray[Any], right: NDArray[Any], tokens: int
) -> NDArray[np.float64]:
    """NPMI of counts, from -1 to 1."""
    log_joint = np.log(together / tokens)
    pmi = log_joint - np.log(left / tokens) - np.log(right / tokens)
    # A text of one bigram alone has p(x, y) = 1, whose limit is 1.
    scores: NDArray[np.float64] = np.ones_like(pmi)
    np.divide(pmi, -log_joint, out=scores, where=log_joint < 0)
    return scores


class PieceBigrams(NamedTuple):
    """The neighbours in a piece."""

    type_counts: Int64Array
    """(T,)"""
    tokens: int
    bigrams: Int64Array
    """(B,), ascending: left type · T + right type."""
    bigram_counts: Int64Array
    """(B,)"""


def count_bigrams(piece: PieceFile, *, phrases: bytes, types: bytes) -> PieceBigrams:
    """Count the neighbours in a piece that is joined by `phrases`; both are of `types`."""
    ids, words = load_ids(piece)
    table, (type_ids, lengths) = _phrase_table(phrases), _type_ids(types)
    joined = join_phrases(ids, words, table)
    found = np.concatenate([numbers_of(words, type_ids), _phrase_types(phrases, types)])[joined]
    is_type = found > 0
    starts = np.flatnonzero(is_type[:-1] & is_type[1:])
    left, right = found[starts], found[starts + 1]
    is_short = lengths[left] + lengths[right] <= MAX_PHRASE_TOKENS
    keys = (left[is_short].astype(np.int64) - 1) * len(type_ids) + (right[is_short] - 1)
    bigrams, counts = np.unique(keys, return_counts=True)
    type_counts = np.bincount(found, minlength=len(type_ids) + 1)[1:]
    return PieceBigrams(type_counts, int(np.count_nonzero(joined)), bigrams, counts)


@lru_cache(maxsize=1)
def _type_ids(types: bytes) -> tuple[dict[str, int], NDArray[np.int8]]:
    """Types by word, from 1, and the tokens of each."""
    words = _from_lines(types)
    lengths = np.array([0, *(1 + word.count(" ") for word in words)], np.int8)
    return {word: number for number, word in enumerate(words, start=1)}, lengths


@lru_cache(maxsize=1)
def _phrase_types(phrases: bytes, types: bytes) -> NDArray[np.int32]:
    """The numbers of phrases among types, or 0; the same for every piece."""
    return numbers_of(_phrase_table(phrases).phrases, _type_ids(types)[0])[1:]


class BoundedCounts:
    """Sums of counts by key, of which the rarest are dropped when there are more than `limit`.

    As in lossy counting, a key that is dropped may come back, and then lacks what was dropped. What
    is dropped depends on the order of the counts alone.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._keys, self._counts = np.zeros((2, 0), np.int64)
        self._waiting: list[tuple[Int64Array, Int64Array]] = []
        self._waiting_keys = 0

    def add(self, keys: Int64Array, counts: Int64Array) -> None:
        self._waiting.append((keys, counts))
        self._waiting_keys += len(keys)
        # Many pieces at a time: merging sorts all keys.
        if self._waiting_keys > self._limit:
            self._merge()

    def _merge(self) -> None:
        all_keys, all_counts = zip((self._keys, self._counts), *self._waiting, strict=True)
        keys, counts = np.concatenate(all_keys), np.concatenate(all_counts)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        self._keys = keys[starts]
        self._counts = np.add.reduceat(counts[order], starts) if len(starts) else counts
        self._waiting, self._waiting_keys = [], 0
        if len(self._keys) > self._limit:
            # Down to half, so that the next time is far off; ties are dropped together.
            ranked = np.partition(self._counts, -(self._limit // 2))
            self._keep(self._counts > ranked[-(self._limit // 2)])

    def _keep(self, is_kept: NDArray[np.bool_]) -> None:
        self._keys, self._counts = self._keys[is_kept], self._counts[is_kept]

    def at_least(self, min_count: int) -> tuple[Int64Array, Int64Array]:
        """The keys with such a count, ascending, and their counts."""
        self._merge()
        self._keep(self._counts >= min_count)
        return self._keys, self._counts

"""Phrases: words of a vocabulary that are several tokens of the text, such as ``new york``.

A phrase is spelled with single blanks, which no token has. In a text its tokens are joined to one:
read from left to right, at each token the longest phrase that begins there. No phrase crosses a
sentence's edge. A typed word or pattern is joined by the same rule.

Ids here are those of a piece's own words: 0 ends a sentence, n is its word n - 1. Shapes: N tokens,
M matches, P phrases.
"""

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import Int64Array
from pair2vec.text.sentences import tokenize

MAX_PHRASE_TOKENS = 5
"""As far as the paper's contexts reach."""

_PLAIN_PHRASE = re.compile(rf"[a-z]+(?: [a-z]+){{1,{MAX_PHRASE_TOKENS - 1}}}", re.A | re.I)
_NO_PHRASE = -1
_HASHES = 1 << 22


def _hash(edges: Int64Array) -> Int64Array:
    """Multiplicative hashing: Knuth's constant spreads neighbours, of which we keep some bits."""
    return (edges * 2654435761 >> 16) & (_HASHES - 1)


def is_phrase(word: str) -> bool:
    """Whether a word of a vocabulary is a phrase."""
    return " " in word


def shares_words(one: str, other: str) -> bool:
    """Whether one of two words or phrases is a part of the other: *haydn* and *joseph haydn*."""
    first, second = f" {one} ", f" {other} "
    return first in second or second in first


def spell_phrase(text: str) -> str | None:
    """A line of a list as a phrase; None if it is none.

    An underscore between two words is a blank, as in titles of Wikipedia and lemmas of WordNet. A
    phrase has two to `MAX_PHRASE_TOKENS` tokens and neither begins nor ends with punctuation.
    """
    spelled = text.replace("_", " ")
    if _PLAIN_PHRASE.fullmatch(spelled):  # as the tokeniser spells it, in a tenth of the time
        return spelled.lower()
    tokens = tokenize(spelled)
    if not 2 <= len(tokens) <= MAX_PHRASE_TOKENS:
        return None
    ends = (tokens[0], tokens[-1])
    return " ".join(tokens) if all(any(map(str.isalnum, token)) for token in ends) else None


def join_tokens(tokens: Sequence[str], words: Container[str]) -> list[str]:
    """The tokens of a sentence with each phrase of `words` as one."""
    joined, start = [], 0
    while start < len(tokens):
        for end in range(min(start + MAX_PHRASE_TOKENS, len(tokens)), start, -1):
            phrase = " ".join(tokens[start:end])
            if end == start + 1 or phrase in words:
                joined.append(phrase)
                start = end
                break
    return joined


def numbers_of(words: Sequence[str], numbers: Mapping[str, int]) -> NDArray[np.int32]:
    """The number of each id's word, or 0; that of the id 0 is 0."""
    found = map(numbers.get, words, repeat(0))
    return np.fromiter(chain([0], found), np.int32, len(words) + 1)


class Matches(NamedTuple):
    """Where phrases occur."""

    starts: Int64Array
    """(M,), of their first tokens."""
    lengths: NDArray[np.integer]
    """(M,), in tokens."""
    numbers: NDArray[np.integer]
    """(M,), of the phrases."""


_NO_MATCHES = Matches(*np.zeros((3, 0), np.int64))


class PhraseTable:
    """Phrases, to be found in arrays of ids: a trie with one sorted array of edges a level."""

    def __init__(self, phrases: Collection[str]) -> None:
        self.phrases = tuple(phrases)
        split = [phrase.split(" ") for phrase in self.phrases]
        self.lengths = np.fromiter(map(len, split), np.int64, len(split))
        self.word_ids: dict[str, int] = {}
        """Of the tokens of phrases, from 1."""
        ids = np.zeros((len(split), MAX_PHRASE_TOKENS), np.int64)
        for row, tokens in zip(ids, split, strict=True):
            row[: len(tokens)] = [
                self.word_ids.setdefault(token, len(self.word_ids) + 1) for token in tokens
            ]
        self._words = len(self.word_ids) + 1
        # Most tokens begin no phrase, and most others are not followed by one's second.
        self._is_first, self._is_second = np.zeros((2, self._words), np.bool_)
        self._is_first[ids[:, 0]], self._is_second[ids[:, 1]] = True, True
        self._levels = list(self._build_levels(ids))
        # Of the others again most: whether an edge of this hash is there.
        self._is_hash = np.zeros(_HASHES, np.bool_)
        for edges, _ in self._levels:
            self._is_hash[_hash(edges)] = True

    def _build_levels(self, ids: Int64Array) -> Iterator[tuple[Int64Array, Int64Array]]:
        """For each length the edges to its nodes, sorted, and the phrase that ends at each node."""
        # A node of the first level is a word; of another level, the position of its edge.
        nodes = ids[:, 0].copy()
        for length in range(2, MAX_PHRASE_TOKENS + 1):
            rows = np.flatnonzero(self.lengths >= length)
            edges = self._edges(nodes[rows], ids[rows, length - 1])
            distinct, nodes[rows] = np.unique(edges, return_inverse=True)
            ends = np.full(len(distinct), _NO_PHRASE, np.int64)
            complete = np.flatnonzero(self.lengths == length)
            ends[nodes[complete]] = complete
            yield distinct, ends

    def _edges(self, nodes: Int64Array, words: NDArray[np.integer]) -> Int64Array:
        return nodes * self._words + words

    def matches(self, ids: NDArray[np.unsignedinteger], words: Sequence[str]) -> Iterator[Matches]:
        """Every occurrence in a piece, those of a length at a time, the shortest first.

        They may overlap.
        """
        # By words, of which there are fewer than tokens: 0 for what is in no phrase.
        own = numbers_of(words, self.word_ids)
        is_first, is_second = self._is_first[own], self._is_second[own]
        starts = np.flatnonzero(is_first[ids[:-1]] & is_second[ids[1:]])
        nodes = own[ids[starts]].astype(np.int64)
        for length, (edges, ends) in enumerate(self._levels, start=2):
            inside = np.searchsorted(starts, len(ids) - length, side="right")
            starts, nodes = starts[:inside], nodes[:inside]
            if not len(starts) or not len(edges):
                return
            wanted = self._edges(nodes, own[ids[starts + length - 1]])
            may_be = np.flatnonzero(self._is_hash[_hash(wanted)])
            starts, wanted = starts[may_be], wanted[may_be]
            rows = np.minimum(np.searchsorted(edges, wanted), len(edges) - 1)
            is_found = edges[rows] == wanted
            starts, nodes = starts[is_found], rows[is_found]
            numbers = ends[nodes]
            is_end = numbers != _NO_PHRASE
            count = np.count_nonzero(is_end)
            yield Matches(starts[is_end], np.full(count, length), numbers[is_end])

    def chosen(self, ids: NDArray[np.unsignedinteger], words: Sequence[str]) -> Matches:
        """The occurrences that are joined, in the order of the text."""
        by_length = [_NO_MATCHES, *self.matches(ids, words)]
        found = Matches(*map(np.concatenate, zip(*reversed(by_length), strict=True)))
        # Of those with one start the first, which is the longest.
        starts, rows = np.unique(found.starts, return_index=True)
        rows = rows[leftmost(starts, found.lengths[rows])]
        return Matches(found.starts[rows], found.lengths[rows], found.numbers[rows])


def leftmost(starts: NDArray[np.intp], lengths: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Of intervals in the order of their starts, those that one who goes from left to right takes.

    The next one after each is where the first begins that does not overlap it. From intervals that
    overlap none before them, all others are reached by pointer doubling: as many rounds as the
    logarithm of the longest chain.
    """
    count = len(starts)
    ends = starts + lengths
    before = np.maximum.accumulate(ends)
    is_taken = np.ones(count + 1, np.bool_)
    is_taken[1:count] = starts[1:] >= before[:-1]
    jump = np.append(np.searchsorted(starts, ends), count)
    while True:
        reached = jump[is_taken.nonzero()[0]]
        if is_taken[reached].all():
            return is_taken[:count]
        is_taken[reached] = True
        jump = jump[jump]


def join_phrases(
    ids: NDArray[np.unsignedinteger], words: Sequence[str], table: PhraseTable
) -> NDArray[np.unsignedinteger]:
    """A piece's ids with each phrase as one: `len(words)` + 1 + n is phrase n of the table."""
    starts, lengths, numbers = table.chosen(ids, words)
    if not len(starts):
        return ids
    joined = ids.astype(np.uint32)
    joined[starts] = numbers + (len(words) + 1)
    is_kept = np.ones(len(ids), np.bool_)
    for offset in range(1, MAX_PHRASE_TOKENS):
        is_kept[starts[lengths > offset] + offset] = False
    return joined[is_kept]


def joined_counts(
    ids: NDArray[np.unsignedinteger], words: Sequence[str], table: PhraseTable
) -> Int64Array:
    """How often each phrase is joined in a piece: (P,)."""
    chosen = table.chosen(ids, words)
    return np.bincount(chosen.numbers, minlength=len(table.phrases))


def occurrences(
    ids: NDArray[np.unsignedinteger], words: Sequence[str], table: PhraseTable
) -> Int64Array:
    """How often each phrase occurs in a piece, within longer ones, too: (P,)."""
    counts = np.zeros(len(table.phrases), np.int64)
    for found in table.matches(ids, words):
        counts += np.bincount(found.numbers, minlength=len(counts))
    return counts


def phrases_in(words: Iterable[str]) -> list[str]:
    """Those of a vocabulary's words that are phrases."""
    return list(filter(is_phrase, words))

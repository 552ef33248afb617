"""What may be an answer of a search: words of content, and what is of a kind with the question.

A vocabulary has much that fits a pattern and answers nobody: *in portland , the*, *in dallas , st*.
Each of its words is of one kind, by its spelling and a list of function words (`word_kind`). An
answer is a word of content, or of the kind of a word in the question: *he* finds *she*, and *1990*
finds *1991*. Of a slot, a phrase that shares a word with the question is none: *germany* does not
find *east germany*.
"""

import re
from collections.abc import Iterable
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import IntArray
from pair2vec.text.function_words import FUNCTION_WORDS
from pair2vec.text.phrases import is_phrase, shares_words
from pair2vec.text.vocabulary import PADDING, SPECIAL_TOKENS, Vocabulary


class WordKind(IntEnum):
    """What a word is, by its spelling."""

    CONTENT = 0
    FUNCTION = 1
    """An article, pronoun, auxiliary, conjunction, preposition or the like, by a list of them; or
    a contraction with *n't*."""
    NUMBER = 2
    """Begins with a digit: *1990*, *2nd*, *3d*."""
    SHORT = 3
    """One or two letters of a script that has capitals, but for a few such as *ox* and *u.s.*; or
    what begins with an apostrophe or the like: *fl*, *st*, *'s*."""
    MARK = 4
    """Has neither letter nor digit."""


_EVERY_FUNCTION_WORD = FUNCTION_WORDS | frozenset(
    """
    neither nobody nothing none all more most many several few much less least however often usually
    later whatever whoever whichever wherever whenever etc inc ltd vol eds mrs approx viz von der
    del
    """.split()
)
"""With more of them, abbreviations, and the articles of names."""

_SHORT_WORDS = frozenset("ox tv pc dj cd id go uk eu un u.s. u.k. u.n. pi ax ad".split())
_LEAST_LETTERS = 3
_PLAIN_WORD = re.compile(r"[a-z][a-z-]{2,}")


def word_kind(word: str) -> WordKind:
    """The kind of a word, as the tokeniser spells it."""
    if word in _EVERY_FUNCTION_WORD or word.endswith("n't"):
        return WordKind.FUNCTION
    if _PLAIN_WORD.fullmatch(word):  # nearly all are, and the rest takes longer
        return WordKind.CONTENT
    letters = sum(map(str.isalnum, word))
    if not letters:
        return WordKind.MARK
    if word[0].isdigit():
        return WordKind.NUMBER
    has_capitals = word.upper() != word
    is_short = has_capitals and letters < _LEAST_LETTERS and word not in _SHORT_WORDS
    return WordKind.SHORT if is_short or not word[0].isalnum() else WordKind.CONTENT


class AnswerFilter:
    """Which words of a vocabulary may answer a question."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def excluded(self, query: Iterable[int]) -> IntArray:
        """The ids that do not answer a question, given the ids of its words."""
        known = [word for word in query if word < len(self.kinds)]
        allowed = {WordKind.CONTENT, *self.kinds[known].tolist()}
        return np.flatnonzero(~np.isin(self.kinds, list(allowed)))

    def overlapping(self, query: Iterable[int]) -> list[int]:
        """Phrases that share a word with the question, and the words of a phrase in it.

        To fill a slot beside *germany*, *east germany* is as little of an answer as an inflection.
        """
        asked = [self._vocabulary.words[word] for word in query if word < len(self.kinds)]
        found = {
            phrase
            for phrase, spelled in self._phrases
            if any(shares_words(word, spelled) for word in asked)
        }
        tokens = {token for word in filter(is_phrase, asked) for token in word.split(" ")}
        return sorted(found | {self._vocabulary.ids.get(token, PADDING) for token in tokens})

    @cached_property
    def _phrases(self) -> list[tuple[int, str]]:
        """The ids of phrases, and how they are spelled."""
        words = enumerate(self._vocabulary.words)
        return [(number, word) for number, word in words if is_phrase(word)]

    @cached_property
    def kinds(self) -> NDArray[np.int8]:
        """The `WordKind` of each word, (V,)."""
        words = self._vocabulary.words
        # `word_kind` of what is plainly spelled, nearly all, without a call for each word.
        is_plain = np.fromiter(map(bool, map(_PLAIN_WORD.fullmatch, words)), np.bool_, len(words))
        kinds = np.where(is_plain, WordKind.CONTENT, WordKind.MARK).astype(np.int8)
        known = self._vocabulary.ids
        kinds[[known[word] for word in _EVERY_FUNCTION_WORD if word in known]] = WordKind.FUNCTION
        for number in np.flatnonzero(~is_plain)[len(SPECIAL_TOKENS) :].tolist():
            kinds[number] = word_kind(words[number])
        return kinds

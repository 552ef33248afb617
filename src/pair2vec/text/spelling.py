"""Words as a user types them, found in a vocabulary or answered with words that look alike."""

from difflib import get_close_matches
from itertools import islice
from typing import NamedTuple

from pair2vec.errors import UsageError
from pair2vec.text.sentences import tokenize
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary

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

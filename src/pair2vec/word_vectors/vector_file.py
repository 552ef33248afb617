"""What every reader of word vectors needs: a stream of bytes, and the words that get a vector."""

from collections.abc import Iterator
from typing import Protocol

from pair2vec.errors import InputError
from pair2vec.text.phrases import phrases_in
from pair2vec.text.sentences import fold
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary

MAX_DIMENSION = 1 << 16
"""A file that claims more is of another format, or damaged."""

PHRASE_JOINT = "_"
"""Between the words of a phrase, where a format has no room for blanks."""

_MAX_FIELD = 1 << 24
"""Bytes; a file with a longer line or word is of another format."""


class ByteStream:
    """A file's decompressed bytes, read by length or up to a delimiter."""

    def __init__(self, path: str, blocks: Iterator[bytes]) -> None:
        self.path = path
        self._blocks = blocks
        self._buffer = b""
        self._position = 0

    def error(self, problem: str) -> InputError:
        return InputError(f"{self.path}: {problem}")

    def peek(self, size: int) -> bytes:
        """The next `size` bytes, or as many as are left, without consuming them."""
        while len(self._buffer) - self._position < size and self._read_block():
            pass
        return self._buffer[self._position : self._position + size]

    def read(self, size: int) -> bytes:
        """The next `size` bytes, or as many as are left."""
        data = self.peek(size)
        self._position += len(data)
        return data

    def read_exactly(self, size: int, part: str) -> bytes:
        """The next `size` bytes, which belong to `part`; an error if there are fewer."""
        data = self.read(size)
        if len(data) < size:
            raise self.error(f"ends within {part}; fetch it again")
        return data

    def read_until(self, delimiter: bytes) -> bytes:
        """Everything before the next `delimiter`, which is consumed, or before the end."""
        while (end := self._buffer.find(delimiter, self._position)) < 0:
            if len(self._buffer) - self._position > _MAX_FIELD:
                raise self.error("not a file of word vectors: it has neither lines nor words")
            if not self._read_block():
                return self.read(_MAX_FIELD)
        data = self._buffer[self._position : end]
        self._position = end + len(delimiter)
        return data

    def lines(self) -> Iterator[bytes]:
        """The remaining lines."""
        while self.peek(1):
            yield self.read_until(b"\n")

    def _read_block(self) -> bool:
        block = next(self._blocks, None)
        if block is not None:
            self._buffer = self._buffer[self._position :] + block
            self._position = 0
        return block is not None


class WordMatcher(Protocol):
    """Says which words of a file get a vector."""

    ids: int
    """How many rows there are."""

    def match(self, spelling: bytes) -> int | None:
        """The id that gets the vector of a word of the file, replacing any it has; else None."""


class FirstWords:
    """Matches the first words of a file, whatever they are."""

    def __init__(self, count: int) -> None:
        self.ids, self.matched = count, 0

    def match(self, spelling: bytes) -> int | None:
        del spelling
        if self.matched == self.ids:
            return None
        self.matched += 1
        return self.matched - 1


class AllWords:
    """Matches nothing, and collects all words of a file, up to case."""

    ids = 0

    def __init__(self) -> None:
        self.folded: dict[str, None] = {}
        """In the order of the file, without special tokens."""

    def match(self, spelling: bytes) -> int | None:
        word = fold(spelling.decode("utf-8", "replace"))
        if word not in SPECIAL_TOKENS:
            self.folded[word] = None
        return None


class VocabularyMatcher:
    """Matches the words of a file to a vocabulary: exact spelling before case-folded spelling."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.ids = len(vocabulary)
        self._word_ids = {
            word: word_id for word, word_id in vocabulary.ids.items() if word not in SPECIAL_TOKENS
        }
        for phrase in phrases_in(vocabulary.words):
            # A word of the text that is spelled so, goes first.
            self._word_ids.setdefault(phrase.replace(" ", PHRASE_JOINT), vocabulary.ids[phrase])
        self._exact: set[int] = set()
        self._folded: set[int] = set()

    def match(self, spelling: bytes) -> int | None:
        word = spelling.decode("utf-8", "replace")
        word_id = self._word_ids.get(word)
        matched = self._exact
        if word_id is None:
            word_id = self._word_ids.get(fold(word))
            if word_id in self._exact:
                return None
            matched = self._folded
        if word_id is None or word_id in matched:
            return None
        matched.add(word_id)
        return word_id

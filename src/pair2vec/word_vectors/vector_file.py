"""What every reader of word vectors needs: a file's bytes, and the words that want a vector."""

from collections.abc import Iterator

from pair2vec.errors import InputError
from pair2vec.text.sentences import fold
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary

LARGEST_DIMENSION = 1 << 16
"""A file that says more is of another kind, or damaged."""

_LONGEST_FIELD = 1 << 24
"""Bytes; a line or word longer than this is of some other kind of file."""


class VectorContent:
    """A file's decompressed bytes, taken from the front by length or up to a delimiter."""

    def __init__(self, path: str, blocks: Iterator[bytes]) -> None:
        self.path = path
        self._blocks = blocks
        self._buffer = b""
        self._position = 0

    def error(self, problem: str) -> InputError:
        """What is wrong with the file, named."""
        return InputError(f"{self.path}: {problem}")

    def _read_on(self) -> bool:
        block = next(self._blocks, None)
        if block is not None:
            self._buffer = self._buffer[self._position :] + block
            self._position = 0
        return block is not None

    def peek(self, size: int) -> bytes:
        """The next `size` bytes, or as many as there are."""
        while len(self._buffer) - self._position < size and self._read_on():
            pass
        return self._buffer[self._position : self._position + size]

    def take(self, size: int) -> bytes:
        """The next `size` bytes, or as many as there are, and past them."""
        taken = self.peek(size)
        self._position += len(taken)
        return taken

    def take_exactly(self, size: int, part: str) -> bytes:
        """The next `size` bytes, which belong to `part`; an error if there are fewer."""
        taken = self.take(size)
        if len(taken) < size:
            raise self.error(f"ends within {part}; fetch it again")
        return taken

    def take_until(self, delimiter: bytes) -> bytes:
        """All before the next `delimiter`, and past that; all there is, if there is none."""
        while (end := self._buffer.find(delimiter, self._position)) < 0:
            if len(self._buffer) - self._position > _LONGEST_FIELD:
                raise self.error("not a file of word vectors: it has neither lines nor words")
            if not self._read_on():
                return self.take(_LONGEST_FIELD)
        taken = self._buffer[self._position : end]
        self._position = end + len(delimiter)
        return taken

    def lines(self) -> Iterator[bytes]:
        """The lines left."""
        while self.peek(1):
            yield self.take_until(b"\n")


class WantedWords:
    """The vocabulary's words that still want a vector, or a better one."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.ids = len(vocabulary)
        self._by_word = {
            word: number for word, number in vocabulary.ids.items() if word not in SPECIAL_TOKENS
        }
        self._exact: set[int] = set()
        self._folded: set[int] = set()

    def claim(self, spelling: bytes) -> int | None:
        """The id that shall have the vector of a word of the file, in place of any it has."""
        word = spelling.decode("utf-8", "replace")
        number = self._by_word.get(word)
        seen = self._exact
        if number is None:
            number = self._by_word.get(fold(word))
            if number in self._exact:
                return None
            seen = self._folded
        if number is None or number in seen:
            return None
        seen.add(number)
        return number

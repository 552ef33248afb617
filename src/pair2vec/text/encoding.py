"""A piece's text as ids of its own words, before there is a vocabulary.

One pass over the text is the expensive one. Numbering each piece's words by themselves makes the
second pass, from these numbers to the vocabulary's, a table look-up.
"""

import io
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import InputError
from pair2vec.text.chunks import Chunks, number_chunks
from pair2vec.text.pieces import Piece
from pair2vec.text.places import Place, write_whole
from pair2vec.text.sentences import encode, normalise
from pair2vec.text.wikipedia import MalformedXmlError, articles
from pair2vec.text.wikitext import clean_wikitext

_BLANK_LINES = re.compile(rb"\n\s*\n")


@dataclass(frozen=True)
class PieceStatistics:
    """What a piece holds."""

    documents: int
    tokens: int
    invalid_bytes: int
    """Places that were not UTF-8, each replaced by white space."""


@dataclass(frozen=True)
class EncodedPiece:
    """A piece as ids of its own words: 0 ends a sentence, n is words[n - 1]."""

    ids: NDArray[np.unsignedinteger]
    words: list[str]
    counts: NDArray[np.int64]
    statistics: PieceStatistics

    def save(self, path: Place) -> None:
        """Write to `path`, whole or not at all."""
        write_whole(path, self.to_bytes())

    def to_bytes(self) -> bytes:
        """As the file has it."""
        words = np.frombuffer("\n".join(self.words).encode(), np.uint8)
        statistics = np.frombuffer(json.dumps(asdict(self.statistics)).encode(), np.uint8)
        file = io.BytesIO()
        np.savez(file, ids=self.ids, words=words, counts=self.counts, statistics=statistics)
        return file.getvalue()


def load_words(piece: Place | bytes) -> tuple[list[str], NDArray[np.int64], PieceStatistics]:
    """The words, counts and statistics of an encoded piece, in a file or as a file has it."""
    with _opened(piece) as file, np.load(file) as saved:
        words = saved["words"].tobytes().decode().split("\n")
        statistics = PieceStatistics(**json.loads(saved["statistics"].tobytes()))
        return words if words != [""] else [], saved["counts"], statistics


def load_ids(piece: Place | bytes) -> NDArray[np.unsignedinteger]:
    """The ids of an encoded piece, in a file or as a file has it."""
    with _opened(piece) as file, np.load(file) as saved:
        ids: NDArray[np.unsignedinteger] = saved["ids"]
        return ids


def _opened(piece: Place | bytes) -> BinaryIO:
    return io.BytesIO(piece) if isinstance(piece, bytes) else piece.open("rb")


def encode_piece(piece: Piece) -> EncodedPiece:
    """Clean, split and number the words of a piece."""
    chunks, documents, invalid_bytes = _chunks_of_piece(piece)
    ids, words = encode(chunks)
    counts = np.bincount(ids, minlength=len(words) + 1)[1:]
    first_line_is_blank = not piece.content.partition(b"\n")[0].strip()
    statistics = PieceStatistics(
        documents=documents - (piece.continues and not first_line_is_blank),
        tokens=int(counts.sum()),
        invalid_bytes=invalid_bytes,
    )
    return EncodedPiece(ids, words, counts, statistics)


def _chunks_of_piece(piece: Piece) -> tuple[Chunks, int, int]:
    """The chunks of all documents, and how many documents and invalid bytes there are."""
    text = bytearray()
    documents = invalid_bytes = 0
    for document, invalid in _articles(piece) if piece.is_dump else _documents(piece):
        text += normalise(document).encode() + b"\n"
        documents += 1
        invalid_bytes += invalid
    return number_chunks(text), documents, invalid_bytes


def _decode(content: bytes) -> tuple[str, int]:
    """Text with U+FFFD where `content` is not UTF-8, and the number of such places."""
    try:
        return content.decode(), 0
    except UnicodeDecodeError:
        text = content.decode(errors="replace")
        return text, text.count("\ufffd") - content.count("\ufffd".encode())


def _documents(piece: Piece) -> Iterator[tuple[str, int]]:
    """The documents of a text, each with its number of invalid bytes.

    Decoded one by one: a single rare character makes Python store a whole string in four bytes a
    character, and most documents have none.
    """
    content = piece.content.removeprefix(b"\xef\xbb\xbf")
    for document in _BLANK_LINES.split(content):
        if document and not document.isspace():
            yield _decode(document)


def _articles(piece: Piece) -> Iterator[tuple[str, int]]:
    """The articles of a dump as text, the first with the number of invalid bytes of all."""
    invalid_bytes = 0
    try:
        found = articles(piece.content)
    except MalformedXmlError as error:
        mended, invalid_bytes = _decode(piece.content)
        if not invalid_bytes:
            raise _malformed(piece, error) from error
        try:
            found = articles(mended.encode())
        except MalformedXmlError as again:
            raise _malformed(piece, again) from again
    for article in found:
        yield f"{article.title}\n{clean_wikitext(article.wikitext)}", invalid_bytes
        invalid_bytes = 0


def _malformed(piece: Piece, error: MalformedXmlError) -> InputError:
    return InputError(
        f"{piece.source}: malformed XML near byte {piece.offset + error.position:,} "
        f"({error}); fetch the dump again"
    )

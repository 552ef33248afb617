"""Pieces: a source's content cut where documents end, and what a worker does with one.

A piece, about 8 MB of text, is the unit of parallel work and of resuming. Where the cuts fall
depends on the content alone, never on the number of workers.

A piece is first encoded as ids of its own words, before there is a vocabulary: one pass over the
text is the expensive one, and the second, from these ids to the vocabulary's, is a table look-up.
Both are pure functions, so that an engine may run them twice.
"""

import hashlib
import io
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import chain, repeat
from typing import BinaryIO, NamedTuple
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import InputError
from pair2vec.runtime.storage import StoragePath, write_file
from pair2vec.text.corpus import Ids
from pair2vec.text.sentences import encode_sentences, normalise_text
from pair2vec.text.vocabulary import BOUNDARY, PADDING
from pair2vec.text.whitespace import WhitespaceTokens, encode_whitespace_tokens
from pair2vec.text.wikitext import clean_wikitext

PIECE_BYTES = 8 << 20
LARGEST_PAGE = 256 << 20
PAGE_END = b"</page>"
DUMP_END = b"</mediawiki>"

_HEAD_BYTES = 1 << 16
_DUMP_HEAD = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<mediawiki[\s>]", re.S
)
_REDIRECT = re.compile(r"\s*#redirect", re.IGNORECASE)
_BLANK_LINES = re.compile(rb"\n\s*\n")


class MalformedXmlError(ValueError):
    """Pages are not well-formed XML; `position` is the offending byte."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.position = position


@dataclass(frozen=True)
class Piece:
    """Some whole paragraphs of a text, or some whole pages of a dump."""

    source: str
    offset: int
    """Of its first byte in the source's decompressed content."""
    content: bytes
    is_dump: bool
    continues: bool = False
    """Whether it begins inside a document whose first part is in the piece before."""

    def checksum(self) -> str:
        """Of everything that determines the encoded piece."""
        flags = f"{self.is_dump}{self.continues}".encode()
        return hashlib.blake2b(self.content, digest_size=16, key=flags).hexdigest()


def cut_into_pieces(source: str, blocks: Iterator[bytes], size: int) -> Iterator[Piece]:
    """Cut the `blocks` of a text or a dump into pieces of about `size` bytes."""
    head = b""
    while len(head) < _HEAD_BYTES and (block := next(blocks, b"")):
        head += block
    cut = _cut_dump if is_dump(head[:_HEAD_BYTES]) else _cut_text
    return cut(source, chain([head], blocks), size)


def is_dump(head: bytes) -> bool:
    """Whether content that begins with `head` is a MediaWiki XML dump."""
    return _DUMP_HEAD.match(head) is not None


def _cut_text(source: str, blocks: Iterator[bytes], size: int) -> Iterator[Piece]:
    offset, buffer, continues = 0, bytearray(), False
    for block in blocks:
        buffer += block
        while len(buffer) > size:
            content = bytes(buffer[: _end_of_text_piece(buffer, size)])
            yield Piece(source, offset, content, is_dump=False, continues=continues)
            offset += len(content)
            del buffer[: len(content)]
            continues = not _ends_with_blank_line(content)
    if buffer:
        yield Piece(source, offset, bytes(buffer), is_dump=False, continues=continues)


def _ends_with_blank_line(content: bytes) -> bool:
    line_start = content.rfind(b"\n", 0, -1) + 1
    return content.endswith(b"\n") and not content[line_start:].strip()


def _end_of_text_piece(buffer: bytearray, size: int) -> int:
    """Where to cut the first `size` bytes: between documents if possible, or lines, or words."""
    for separator in (b"\n\n", b"\n\r\n", b"\n", b" "):
        start = buffer.rfind(separator, size // 2, size)
        if start >= 0:
            return start + len(separator)
    end = size
    while end > 1 and buffer[end] & 0xC0 == 0x80:  # inside a UTF-8 character
        end -= 1
    return end


def _cut_dump(source: str, blocks: Iterator[bytes], size: int) -> Iterator[Piece]:
    offset, buffer, in_head = 0, bytearray(), True
    for block in blocks:
        buffer += block
        if in_head and (start := buffer.find(b"<page>")) >= 0:
            offset, in_head = start, False
            del buffer[:start]
        while not in_head and len(buffer) > size and (end := _end_of_dump_piece(buffer, size)):
            yield Piece(source, offset, bytes(buffer[:end]), is_dump=True)
            offset += end
            del buffer[:end]
        if len(buffer) > LARGEST_PAGE:
            raise InputError(
                f"{source}: no {PAGE_END.decode()} within {LARGEST_PAGE >> 20} MB after byte "
                f"{offset:,} of the XML; use a dump of current revisions (pages-articles)"
            )
    pages, end_tag, _ = bytes(buffer).rpartition(DUMP_END)
    if not end_tag:
        raise InputError(
            f"{source}: the dump is cut short: no {DUMP_END.decode()} by byte "
            f"{offset + len(buffer):,} of the XML; fetch it again"
        )
    if not in_head and pages.strip():
        yield Piece(source, offset, pages, is_dump=True)


def _end_of_dump_piece(buffer: bytearray, size: int) -> int:
    """The end of the last page within `size` bytes, else of the first page; 0 if there is none."""
    start = buffer.rfind(PAGE_END, 0, size)
    if start < 0:
        start = buffer.find(PAGE_END, size - len(PAGE_END))
    return start + len(PAGE_END) if start >= 0 else 0


@dataclass(frozen=True)
class PieceStatistics:
    documents: int
    tokens: int
    invalid_bytes: int
    """Sequences that are not UTF-8, each replaced by white space."""


@dataclass(frozen=True)
class EncodedPiece:
    """A piece as ids of its own words: 0 ends a sentence, n is words[n - 1]."""

    ids: Ids
    words: list[str]
    counts: NDArray[np.int64]
    statistics: PieceStatistics

    def save(self, path: StoragePath) -> None:
        """Write atomically."""
        write_file(path, self.to_bytes())

    def to_bytes(self) -> bytes:
        """The content of the file: an ``.npz`` archive."""
        words = np.frombuffer("\n".join(self.words).encode(), np.uint8)
        statistics = np.frombuffer(json.dumps(asdict(self.statistics)).encode(), np.uint8)
        file = io.BytesIO()
        np.savez(file, ids=self.ids, words=words, counts=self.counts, statistics=statistics)
        return file.getvalue()


def load_words(piece: StoragePath | bytes) -> tuple[list[str], NDArray[np.int64], PieceStatistics]:
    """The words, counts and statistics of an encoded piece, from a file or its content."""
    with _open_piece(piece) as file, np.load(file) as saved:
        words = saved["words"].tobytes().decode().split("\n")
        statistics = PieceStatistics(**json.loads(saved["statistics"].tobytes()))
        return words if words != [""] else [], saved["counts"], statistics


def load_ids(piece: StoragePath | bytes) -> Ids:
    """The ids of an encoded piece, from a file or its content."""
    with _open_piece(piece) as file, np.load(file) as saved:
        ids: Ids = saved["ids"]
        return ids


def _open_piece(piece: StoragePath | bytes) -> BinaryIO:
    return io.BytesIO(piece) if isinstance(piece, bytes) else piece.open("rb")


def encode_piece(piece: Piece) -> EncodedPiece:
    """Clean a piece, split it into sentences and tokens, and encode these."""
    tokens, documents, invalid_bytes = _whitespace_tokens(piece)
    ids, words = encode_sentences(tokens)
    counts = np.bincount(ids, minlength=len(words) + 1)[1:]
    first_line_is_blank = not piece.content.partition(b"\n")[0].strip()
    statistics = PieceStatistics(
        documents=documents - (piece.continues and not first_line_is_blank),
        tokens=int(counts.sum()),
        invalid_bytes=invalid_bytes,
    )
    return EncodedPiece(ids, words, counts, statistics)


def _whitespace_tokens(piece: Piece) -> tuple[WhitespaceTokens, int, int]:
    """The tokens of all documents, and the number of documents and of invalid bytes."""
    text = bytearray()
    documents = invalid_bytes = 0
    for document, invalid in _articles(piece) if piece.is_dump else _documents(piece):
        text += normalise_text(document).encode() + b"\n"
        documents += 1
        invalid_bytes += invalid
    return encode_whitespace_tokens(text), documents, invalid_bytes


def _decode(content: bytes) -> tuple[str, int]:
    """Text with U+FFFD where `content` is not UTF-8, and the number of replacements."""
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
        articles = parse_articles(piece.content)
    except MalformedXmlError as error:
        repaired, invalid_bytes = _decode(piece.content)
        if not invalid_bytes:
            raise _malformed(piece, error) from error
        try:
            articles = parse_articles(repaired.encode())
        except MalformedXmlError as again:
            raise _malformed(piece, again) from again
    for article in articles:
        yield f"{article.title}\n{clean_wikitext(article.wikitext)}", invalid_bytes
        invalid_bytes = 0


def _malformed(piece: Piece, error: MalformedXmlError) -> InputError:
    return InputError(
        f"{piece.source}: malformed XML near byte {piece.offset + error.position:,} "
        f"({error}); fetch the dump again"
    )


class Article(NamedTuple):
    """A page of the main namespace."""

    title: str
    wikitext: str


def parse_articles(pages: bytes) -> Iterator[Article]:
    """The articles among whole ``<page>`` elements: namespace 0, redirects left out.

    Raises:
        MalformedXmlError: at once, before any article.
    """
    return _select_articles(_parse(pages))


def _select_articles(pages: ElementTree.Element) -> Iterator[Article]:
    for page in pages:
        text = page.findtext("./revision[last()]/text") or ""
        if (
            page.findtext("ns", "0") == "0"
            and page.find("redirect") is None
            and not _REDIRECT.match(text)
        ):
            yield Article(page.findtext("title", ""), text)


def _parse(pages: bytes) -> ElementTree.Element:
    start_tag = b"<mediawiki>"
    document = start_tag + pages + DUMP_END
    try:
        return ElementTree.fromstring(document)
    except ElementTree.ParseError as error:
        line, column = error.position
        before = document.split(b"\n", line - 1)[: line - 1]
        position = sum(len(row) + 1 for row in before) + column - len(start_tag)
        raise MalformedXmlError(error.msg.split(":")[0], position) from error


class PieceTask(NamedTuple):
    """A piece to encode into a file; None where the file exists already."""

    path: StoragePath
    piece: Piece | None
    read: int
    """Bytes of the inputs read so far, for progress."""
    total: int | None

    def without_content(self) -> "PieceTask":
        """The finished task: the content need not travel back."""
        if self.piece is None:
            return self
        return self._replace(piece=Piece(self.piece.source, self.piece.offset, b"", is_dump=False))


class EncodedPieceBytes(NamedTuple):
    """A finished task and the content of its file; None where the file exists already."""

    task: PieceTask
    encoded: bytes | None


def encode_to_file(task: PieceTask) -> PieceTask:
    """Encode a piece and write it to the task's path."""
    if task.piece is not None:
        encode_piece(task.piece).save(task.path)
    return task.without_content()


def encode_to_bytes(task: PieceTask) -> EncodedPieceBytes:
    """Encode a piece into memory, for another machine to write."""
    encoded = None if task.piece is None else encode_piece(task.piece).to_bytes()
    return EncodedPieceBytes(task.without_content(), encoded)


class IdsTask(NamedTuple):
    """An encoded piece to translate to the vocabulary's ids."""

    piece: StoragePath | bytes
    """The file or its content."""
    vocabulary: bytes
    """As TSV, which travels faster than a table; a worker makes the table once."""


def piece_ids(task: IdsTask) -> Ids:
    """A piece's sentences in the vocabulary's ids: `BOUNDARY` after each, unknown words removed."""
    words, _, _ = load_words(task.piece)
    ids = map(_word_ids(task.vocabulary).get, words, repeat(PADDING))
    table = np.fromiter(chain([BOUNDARY], ids), np.uint32, len(words) + 1)
    tokens: Ids = table[load_ids(task.piece)]
    tokens = tokens[tokens != PADDING]
    is_end = tokens == BOUNDARY
    # Of boundaries in a row only the first ends a sentence; one at the start ends none.
    repeats = is_end & np.concatenate([[True], is_end[:-1]])
    sentences: Ids = tokens[~repeats]
    return sentences


@lru_cache(maxsize=1)
def _word_ids(vocabulary: bytes) -> dict[str, int]:
    lines = vocabulary.decode().split("\n")[:-1]
    return {line.partition("\t")[0]: word_id for word_id, line in enumerate(lines)}

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
import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import chain, repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import InputError
from pair2vec.runtime.storage import StoragePath, write_file
from pair2vec.text.corpus import Ids
from pair2vec.text.dumps import (
    DUMP_END,
    PAGE_END,
    PAGE_START,
    MalformedXmlError,
    is_dump,
    namespaces,
    parse_articles,
)
from pair2vec.text.phrases import PhraseTable, join_phrases, phrases_in
from pair2vec.text.sentences import encode_sentences, normalise_text
from pair2vec.text.vocabulary import BOUNDARY, PADDING
from pair2vec.text.whitespace import WhitespaceTokens, encode_whitespace_tokens
from pair2vec.text.wikitext import clean_wikitext

_log = logging.getLogger(__name__)

PIECE_BYTES = 8 << 20
LARGEST_PAGE = 256 << 20
ENCODING_VERSION = 2
"""Of how a piece is cleaned, split and stored: pieces of another version are made again."""

_HEAD_BYTES = 1 << 16
_DIGEST_BYTES = 16
_LONE_CARRIAGE_RETURN = re.compile(rb"\r(?!\n)")
_BLANK_LINES = re.compile(rb"\n\s*\n")


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
    namespaces: frozenset[str] = frozenset()
    """Of a dump, those of pages that are no articles."""

    def checksum(self) -> str:
        """Of everything that determines the encoded piece."""
        flags = f"{ENCODING_VERSION}{self.is_dump}{self.continues}".encode()
        digest = hashlib.blake2b(self.content, digest_size=16, key=flags)
        digest.update("|".join(sorted(self.namespaces)).encode())
        return digest.hexdigest()


def cut_into_pieces(
    source: str, blocks: Iterator[bytes], size: int, *, truncated_ok: bool = False
) -> Iterator[Piece]:
    """Cut the `blocks` of a text or a dump into pieces of about `size` bytes.

    With `truncated_ok` a dump may lack its end: its whole pages are kept.
    """
    head = b""
    while len(head) < _HEAD_BYTES and (block := next(blocks, None)) is not None:
        head += block
    blocks = chain([head], blocks)
    if is_dump(head[:_HEAD_BYTES]):
        return _cut_dump(source, blocks, size, truncated_ok=truncated_ok)
    return _cut_text(source, _with_line_feeds(blocks), size)


def _with_line_feeds(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The same bytes, but for a carriage return that is a line's end by itself."""
    held = b""
    for block in blocks:
        if held or b"\r" in block:
            content = held + block
            # At the end of a block it may yet turn out to be the first half of a line's end.
            held = b"\r" if content.endswith(b"\r") else b""
            content = content.removesuffix(b"\r")
            if content.count(b"\r") > content.count(b"\r\n"):
                content = _LONE_CARRIAGE_RETURN.sub(b"\n", content)
            yield content
        else:
            yield block
    if held:
        yield b"\n"


def _cut_text(source: str, blocks: Iterator[bytes], size: int) -> Iterator[Piece]:
    offset, buffer, boundary = 0, bytearray(), _Boundary()
    for block in blocks:
        buffer += block
        while len(buffer) > size:
            content = bytes(buffer[: _end_of_text_piece(buffer, size)])
            yield Piece(source, offset, content, is_dump=False, continues=boundary.pass_by(content))
            offset += len(content)
            del buffer[: len(content)]
    if buffer:
        content = bytes(buffer)
        yield Piece(source, offset, content, is_dump=False, continues=boundary.pass_by(content))


class _Boundary:
    """The white space between two pieces: with two line ends in it, a document ends there."""

    def __init__(self) -> None:
        self._line_ends = 2
        """Since the last character that is no white space."""

    def pass_by(self, content: bytes) -> bool:
        """Go to the end of the next piece; whether it begins inside a document."""
        text = content.strip()
        if not text:
            self._line_ends += content.count(b"\n")
            return False
        start = content.index(text)
        continues = self._line_ends + content.count(b"\n", 0, start) < 2
        self._line_ends = content.count(b"\n", start + len(text))
        return continues


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


def _cut_dump(
    source: str, blocks: Iterator[bytes], size: int, *, truncated_ok: bool
) -> Iterator[Piece]:
    offset, buffer, in_head = 0, bytearray(), True
    others: frozenset[str] = frozenset()
    for block in blocks:
        buffer += block
        if in_head and (start := buffer.find(PAGE_START)) >= 0:
            offset, in_head = start, False
            others = namespaces(bytes(buffer[:start]))
            del buffer[:start]
        while not in_head and len(buffer) > size and (end := _end_of_dump_piece(buffer, size)):
            content = bytes(buffer[:end])
            yield Piece(source, offset, content, is_dump=True, namespaces=others)
            offset += end
            del buffer[:end]
        if len(buffer) > LARGEST_PAGE:
            raise InputError(
                f"{source}: no {PAGE_END.decode()} within {LARGEST_PAGE >> 20} MB after byte "
                f"{offset:,} of the XML; use a dump of current revisions (pages-articles)"
            )
    pages, end_tag, _ = bytes(buffer).rpartition(DUMP_END)
    if not end_tag:
        problem = (
            f"{source}: the dump is cut short: no {DUMP_END.decode()} by byte "
            f"{offset + len(buffer):,} of the XML"
        )
        if not truncated_ok:
            raise InputError(f"{problem}; fetch it again, or --truncated ok keeps its whole pages")
        _log.warning("%s; its whole pages are kept", problem)
        pages = bytes(buffer[: _end_of_dump_piece(buffer, len(buffer))])
    if not in_head and pages.strip():
        yield Piece(source, offset, pages, is_dump=True, namespaces=others)


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
        """The content of the file: an ``.npz`` archive, and before it its checksum."""
        words = np.frombuffer("\n".join(self.words).encode(), np.uint8)
        statistics = np.frombuffer(json.dumps(asdict(self.statistics)).encode(), np.uint8)
        file = io.BytesIO()
        np.savez(file, ids=self.ids, words=words, counts=self.counts, statistics=statistics)
        return _digest(file.getbuffer()) + file.getvalue()


def _digest(archive: bytes | memoryview) -> bytes:
    return hashlib.blake2b(archive, digest_size=_DIGEST_BYTES).digest()


def is_whole(content: bytes) -> bool:
    """Whether the content of an encoded piece's file is what was once written."""
    archive = memoryview(content)[_DIGEST_BYTES:]
    return content[:_DIGEST_BYTES] == _digest(archive)


def load_words(path: StoragePath) -> tuple[list[str], NDArray[np.int64], PieceStatistics]:
    """The words, counts and statistics of an encoded piece that is whole."""
    with path.open("rb") as file:
        file.seek(_DIGEST_BYTES)
        with np.load(file) as saved:
            statistics = PieceStatistics(**json.loads(saved["statistics"].tobytes()))
            return _words(saved), saved["counts"], statistics


def _words(saved: Mapping[str, NDArray[np.uint8]]) -> list[str]:
    words = saved["words"].tobytes().decode().split("\n")
    return words if words != [""] else []


def encode_piece(piece: Piece) -> EncodedPiece:
    """Clean a piece, split it into sentences and tokens, and encode these."""
    tokens, documents, invalid_bytes = _whitespace_tokens(piece)
    ids, words = encode_sentences(tokens)
    counts = np.bincount(ids, minlength=len(words) + 1)[1:]
    statistics = PieceStatistics(
        documents=documents - piece.continues,
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
        articles = parse_articles(piece.content, piece.namespaces)
    except MalformedXmlError as error:
        repaired, invalid_bytes = _decode(piece.content)
        if not invalid_bytes:
            raise _malformed(piece, error) from error
        try:
            articles = parse_articles(repaired.encode(), piece.namespaces)
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


@lru_cache(maxsize=1 << 16)
def _is_whole_file(path: Path, modified: int, size: int) -> bool:
    """`is_whole` of a file: once, as phrases take several passes over all pieces."""
    del modified, size  # by which a file that was written anew is another one
    return is_whole(path.read_bytes())


PieceFile = StoragePath | bytes
"""An encoded piece: its file, or the file's content."""


def load_ids(piece: PieceFile) -> tuple[Ids, list[str]]:
    """The ids and words of an encoded piece."""
    content = piece if isinstance(piece, bytes) else piece.read_bytes()
    if isinstance(piece, Path):
        whole = _is_whole_file(piece, piece.stat().st_mtime_ns, len(content))
    else:
        whole = is_whole(content)
    if not whole:
        where = "a piece" if isinstance(piece, bytes) else piece
        raise InputError(f"{where}: was damaged on the disk; run the same command to make it again")
    with np.load(io.BytesIO(content[_DIGEST_BYTES:])) as saved:
        return saved["ids"], _words(saved)


def piece_ids(piece: PieceFile, *, vocabulary: bytes) -> Ids:
    """A piece's sentences in the vocabulary's ids: `BOUNDARY` after each, unknown words removed.

    The vocabulary's phrases are joined. It is given as TSV, which travels faster than a table; a
    worker makes the table once.
    """
    own_ids, words = load_ids(piece)
    word_ids, phrases, phrase_ids = _tables(vocabulary)
    ids = map(word_ids.get, words, repeat(PADDING))
    table = np.fromiter(chain([BOUNDARY], ids), np.uint32, len(words) + 1)
    if phrases.phrases:
        own_ids = join_phrases(own_ids, words, phrases)
        table = np.concatenate([table, phrase_ids])
    tokens: Ids = table[own_ids]
    tokens = tokens[tokens != PADDING]
    is_end = tokens == BOUNDARY
    # Of boundaries in a row only the first ends a sentence; one at the start ends none.
    repeats = is_end & np.concatenate([[True], is_end[:-1]])
    sentences: Ids = tokens[~repeats]
    return sentences


@lru_cache(maxsize=1)
def _tables(vocabulary: bytes) -> tuple[dict[str, int], PhraseTable, Ids]:
    lines = vocabulary.decode().split("\n")[:-1]
    word_ids = {line.partition("\t")[0]: word_id for word_id, line in enumerate(lines)}
    phrases = phrases_in(word_ids)
    phrase_ids = np.fromiter(map(word_ids.__getitem__, phrases), np.uint32, len(phrases))
    return word_ids, PhraseTable(phrases), phrase_ids

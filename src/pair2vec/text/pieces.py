"""Pieces: a source's content cut where documents end.

A piece is the unit of parallel work and of resuming. Where the cuts fall depends on the content
alone, never on the number of workers.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from pair2vec.errors import InputError
from pair2vec.text.wikipedia import DUMP_END, PAGE_END, is_dump

PIECE_BYTES = 8 << 20
LARGEST_PAGE = 256 << 20
_HEAD_BYTES = 1 << 16


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
        """Of everything that decides what the piece is encoded to."""
        kind = f"{self.is_dump}{self.continues}".encode()
        return hashlib.blake2b(self.content, digest_size=16, key=kind).hexdigest()


def cut_into_pieces(source: str, blocks: Iterator[bytes], size: int) -> Iterator[Piece]:
    """`blocks` of a text or a dump as pieces of about `size` bytes."""
    head = b""
    while len(head) < _HEAD_BYTES and (block := next(blocks, b"")):
        head += block
    cut = _cut_dump if is_dump(head[:_HEAD_BYTES]) else _cut_text
    return cut(source, chain([head], blocks), size)


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
    for mark in (b"\n\n", b"\n\r\n", b"\n", b" "):
        found = buffer.rfind(mark, size // 2, size)
        if found >= 0:
            return found + len(mark)
    end = size
    while end > 1 and buffer[end] & 0xC0 == 0x80:  # inside a UTF-8 character
        end -= 1
    return end


def _cut_dump(source: str, blocks: Iterator[bytes], size: int) -> Iterator[Piece]:
    offset, buffer, in_head = 0, bytearray(), True
    for block in blocks:
        buffer += block
        if in_head:
            start = buffer.find(b"<page>")
            if start < 0:
                continue
            offset, in_head = start, False
            del buffer[:start]
        while len(buffer) > size and (end := _end_of_dump_piece(buffer, size)):
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
    """Behind the last page that ends within `size` bytes, else the first that ends; 0 if none."""
    found = buffer.rfind(PAGE_END, 0, size)
    if found < 0:
        found = buffer.find(PAGE_END, size - len(PAGE_END))
    return found + len(PAGE_END) if found >= 0 else 0

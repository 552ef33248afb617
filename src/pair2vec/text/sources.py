"""Sources of text: files, folders, URLs and standard input, read as blocks of plain bytes.

Compression is recognised by content, not by name. A bzip2 file of many streams, as Wikipedia
publishes its dumps, is split at the streams and decompressed in parallel; everything else is
decompressed as it is read, which for gzip and xz is far faster than tokenising.
"""

import bz2
import gzip
import hashlib
import io
import lzma
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO, Protocol

from pair2vec.errors import InputError, UsageError
from pair2vec.runtime.storage import RemotePath, StoragePath, entries, storage_path
from pair2vec.text.encodings import SAMPLE_BYTES, UTF8, byte_order_mark, to_utf8, why_not_utf8
from pair2vec.text.engines import OrderedMap

BLOCK_BYTES = 1 << 20
"""Bytes read at a time."""

STANDARD_INPUT = "-"

_GZIP, _BZIP2, _XZ = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00"
_SUFFIXES = {".gz": _GZIP, ".bz2": _BZIP2, ".xz": _XZ}
_UNREADABLE = {
    b"PK\x03\x04": "a zip archive: unpack it first",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive: unpack it first",
    b"\x28\xb5\x2f\xfd": "zstd data: decompress it first (zstd -d)",
    b"%PDF": "a PDF: extract its text first",
}
_LONGEST_MAGIC = 10
# A stream's header and the first word of its content: a block, or the end of an empty stream.
_BZIP2_STREAM = re.compile(rb"BZh[1-9](?:1AY&SY|\x17\x72\x45\x38\x50\x90)")
_LONGEST_STREAM = 16 * BLOCK_BYTES
"""A bzip2 stream longer than this is decompressed as it is read, not in a worker."""


def find_sources(inputs: Sequence[str], *, exclude: StoragePath) -> list[str]:
    """The input files, with folders walked in order; `exclude` and hidden files are left out."""
    names: list[str] = []
    for name in inputs:
        if name == STANDARD_INPUT:
            names.append(name)
        elif storage_path(name).is_dir():
            files = [str(path) for path in _walk(storage_path(name), exclude)]
            if not files:
                raise UsageError(f"{name}: the folder has no files to read")
            names += files
        elif storage_path(name).exists():
            names.append(name)
        else:
            raise UsageError(f"{name}: no such file or folder")
    if names.count(STANDARD_INPUT) > 1:
        raise UsageError("standard input (-) can be read only once")
    return names


def _walk(folder: StoragePath, exclude: StoragePath) -> Iterator[StoragePath]:
    for path in entries(folder):
        if path.name.startswith(".") or _is_same(path, exclude):
            continue
        if path.is_dir():
            yield from _walk(path, exclude)
        elif path.is_file():
            yield path


def _is_same(path: StoragePath, other: StoragePath) -> bool:
    if isinstance(path, RemotePath) or isinstance(other, RemotePath):
        return path == other
    return path.resolve() == other.resolve()


class _CountedFile(io.RawIOBase):
    """A file's stored bytes, counted and hashed as they are read."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self.position = 0
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            count: int = self._file.readinto(buffer)  # type: ignore[attr-defined]
        except Exception as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            # The errors of remote files have no common class.
            raise InputError(
                f"{self._name}: cannot be read beyond byte {self.position:,}: {error}"
            ) from error
        self.position += count
        self.digest.update(buffer[:count])
        return count


@dataclass(frozen=True)
class SourceRecord:
    """An input as the manifest lists it."""

    name: str
    bytes: int
    sha256: str


class Source:
    """One input, open: its decompressed blocks, and how much of it has been read."""

    def __init__(
        self, name: str, *, encoding: str | None = None, truncated_ok: bool = False
    ) -> None:
        """Open an input.

        Args:
            name: Of a file, a URL, or ``-`` for standard input.
            encoding: Of its text; None for UTF-8, and to refuse what is something else.
            truncated_ok: Whether compressed data may end too early.

        Raises:
            InputError: it is of a kind that cannot be read.
        """
        self._encoding = encoding
        self._truncated_ok = truncated_ok
        self.is_truncated = False
        """Whether its compressed data has turned out to end too early."""
        self.name = "standard input" if name == STANDARD_INPUT else name
        self._owns_file = name != STANDARD_INPUT
        self._file = storage_path(name).open("rb") if self._owns_file else sys.stdin.buffer
        self._counted = _CountedFile(self._file, self.name)
        self._stored = io.BufferedReader(self._counted, BLOCK_BYTES)
        self._magic = self._stored.peek(_LONGEST_MAGIC)[:_LONGEST_MAGIC]
        if problem := self._why_unreadable():
            self.close()
            raise InputError(f"{self.name}: {problem}")

    def _why_unreadable(self) -> str | None:
        for magic, what in _UNREADABLE.items():
            if self._magic.startswith(magic):
                return what
        for suffix, magic in _SUFFIXES.items():
            if self.name.endswith(suffix) and self._magic and not self._magic.startswith(magic):
                return f"its content is not what {suffix} says: rename it"
        return None if self._encoding else byte_order_mark(self._magic)

    def __enter__(self) -> "Source":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, unless it is standard input."""
        if self._owns_file:
            self._file.close()

    @property
    def position(self) -> int:
        """Stored bytes read so far."""
        return self._counted.position

    def record(self) -> SourceRecord:
        """Name, stored size and checksum; valid once everything has been read."""
        return SourceRecord(self.name, self.position, self._counted.digest.hexdigest())

    def text_blocks(self, ordered_map: OrderedMap | None) -> Iterator[bytes]:
        """The decompressed content in UTF-8, translated from the source's encoding if it has one.

        Raises:
            InputError: it has none, and the content is not UTF-8.
        """
        blocks = self.blocks(ordered_map)
        if self._encoding is not None:
            return blocks if self._encoding == UTF8 else to_utf8(blocks, self._encoding)
        head = b""
        while len(head) <= SAMPLE_BYTES and (block := next(blocks, None)) is not None:
            head += block
        if problem := why_not_utf8(head):
            raise InputError(f"{self.name}: {problem}")
        return chain([head], blocks)

    def blocks(self, ordered_map: OrderedMap | None) -> Iterator[bytes]:
        """The decompressed content, in blocks of no particular size.

        With None for the map everything is decompressed as it is read: the first block comes
        sooner.
        """
        stored = iter(lambda: self._stored.read(BLOCK_BYTES), b"")
        if self._magic.startswith(_GZIP):
            # Not read, which loses up to a block of data that is cut short.
            content = gzip.GzipFile(fileobj=self._stored)
            read = iter(lambda: content.read1(BLOCK_BYTES), b"")
            yield from self._translate_errors("gzip", read)
        elif self._magic.startswith(_XZ):
            yield from self._translate_errors("xz", _inflate(lzma.LZMADecompressor, stored))
        elif _BZIP2_STREAM.match(self._magic):
            if ordered_map is not None:
                parts = _Bzip2Parts(self.name, stored)
                yield from ordered_map(decompress_part, parts)
                stored = chain([parts.rest], stored)
            yield from self._translate_errors("bzip2", _inflate(bz2.BZ2Decompressor, stored))
        else:
            yield from stored

    def _translate_errors(self, compression: str, blocks: Iterator[bytes]) -> Iterator[bytes]:
        held = b""
        try:
            for block in blocks:
                yield held
                held = block
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            problem = _broken(self.name, compression, error, self.position)
            if not (self._truncated_ok and isinstance(error, EOFError)):
                raise problem from error
            self.is_truncated = True
            # The last word may have been cut, too.
            held = held[: max(map(held.rfind, (b" ", b"\n", b">"))) + 1] or held
        yield held


class _Decompressor(Protocol):
    """The common interface of bz2's and lzma's decompressors."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


def _inflate(
    new_decompressor: Callable[[], _Decompressor], blocks: Iterable[bytes]
) -> Iterator[bytes]:
    """Decompress concatenated streams, at most a block at a time.

    Unlike the standard library's file objects, this does not mistake damage between two streams
    for the end of the data.
    """
    decompressor: _Decompressor | None = None
    for stored in blocks:
        block = stored
        while block:
            if decompressor is None:
                block = block.lstrip(b"\0")  # padding
                if not block:
                    break
                decompressor = new_decompressor()
            yield decompressor.decompress(block, BLOCK_BYTES)
            while not decompressor.eof and not decompressor.needs_input:
                yield decompressor.decompress(b"", BLOCK_BYTES)
            block = decompressor.unused_data if decompressor.eof else b""
            decompressor = None if decompressor.eof else decompressor
    if decompressor is not None:
        raise EOFError


def _broken(name: str, compression: str, error: Exception, position: int) -> InputError:
    how, rest = "corrupt", ""
    if isinstance(error, EOFError):
        how, rest = "cut short", " (prepare --truncated ok keeps what is there)"
    return InputError(
        f"{name}: the {compression} data is {how} near byte {position:,}; "
        f"fetch or compress it again{rest}"
    )


@dataclass(frozen=True)
class Bzip2Part:
    """One or more whole bzip2 streams, and where in the source they begin."""

    source: str
    offset: int
    data: bytes


class _Bzip2Parts:
    """The parts of a bzip2 file, up to a stream too long for one; `rest` is its beginning."""

    def __init__(self, source: str, blocks: Iterator[bytes]) -> None:
        self._source = source
        self._blocks = blocks
        self.rest = b""

    def __iter__(self) -> Iterator[Bzip2Part]:
        offset, buffer = 0, b""
        for block in self._blocks:
            unsearched = max(1, len(buffer) - _LONGEST_MAGIC)
            buffer += block
            starts = [match.start() for match in _BZIP2_STREAM.finditer(buffer, unsearched)]
            if starts:
                yield Bzip2Part(self._source, offset, buffer[: starts[-1]])
                offset, buffer = offset + starts[-1], buffer[starts[-1] :]
            elif len(buffer) > _LONGEST_STREAM:
                break
        self.rest = buffer


def decompress_part(part: Bzip2Part) -> bytes:
    """The content of a part; runs on a worker."""
    try:
        return b"".join(_inflate(bz2.BZ2Decompressor, [part.data]))
    except (EOFError, OSError) as error:
        raise _broken(part.source, "bzip2", error, part.offset) from error

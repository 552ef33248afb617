"""Reading sources: compression, damage, and which files a folder contributes."""

import bz2
import gzip
import hashlib
import lzma
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from pair2vec.errors import InputError, UsageError
from pair2vec.text import sources
from pair2vec.text.engines import process_map
from pair2vec.text.sources import Source, find_sources

TEXT = "".join(f"Sentence {random.Random(n).random()} of many.\n" for n in range(20_000)).encode()
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}


def read(path: Path) -> bytes:
    with Source(str(path)) as source:
        return b"".join(source.blocks(map))


@pytest.mark.parametrize("kind", COMPRESS)
def test_compression_is_recognised_by_content_not_by_name(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "text"
    path.write_bytes(COMPRESS[kind](TEXT))
    assert read(path) == TEXT


@pytest.mark.parametrize("kind", COMPRESS)
def test_concatenated_streams_are_one_text(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"text.{kind}"
    path.write_bytes(COMPRESS[kind](TEXT) + COMPRESS[kind](b"") + COMPRESS[kind](TEXT))
    assert read(path) == TEXT + TEXT


@pytest.mark.parametrize("kind", COMPRESS)
def test_data_cut_short_is_named_with_its_position(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"text.{kind}"
    path.write_bytes(COMPRESS[kind](TEXT)[:-1000])
    with pytest.raises(InputError, match=rf"text\.{kind}: the \w+ data is cut short near byte"):
        read(path)


@pytest.mark.parametrize("kind", COMPRESS)
@pytest.mark.parametrize("missing", [1, 1000, 100_000])
def test_data_cut_short_is_read_as_far_as_it_goes_where_that_is_accepted(
    tmp_path: Path, kind: str, missing: int
) -> None:
    path = tmp_path / f"text.{kind}"
    stored = COMPRESS[kind](TEXT) + COMPRESS[kind](TEXT)
    path.write_bytes(stored[:-missing])
    with Source(str(path), truncated_ok=True) as source:
        content = b"".join(source.blocks(map))
    assert (TEXT + TEXT).startswith(content)
    assert len(content) >= len(TEXT)
    if kind == "gz":  # which has no blocks that are whole or lost
        share = (len(stored) - missing) / len(stored)
        assert len(content) > 0.97 * share * 2 * len(TEXT)
    assert content[-1:].isspace()
    assert source.is_truncated


@pytest.mark.parametrize("kind", COMPRESS)
def test_corrupt_data_is_named_with_its_position(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"text.{kind}"
    stored = bytearray(COMPRESS[kind](TEXT))
    middle = len(stored) // 2
    stored[middle : middle + 200] = bytes(200)
    path.write_bytes(stored)
    with pytest.raises(
        InputError, match=rf"text\.{kind}: the \w+ data is (corrupt|cut short) near"
    ):
        read(path)


@pytest.mark.parametrize("kind", ["bz2", "xz"])
def test_damage_between_two_streams_is_not_taken_for_the_end(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"text.{kind}"
    path.write_bytes(COMPRESS[kind](TEXT) + b"damage" + COMPRESS[kind](TEXT))
    with pytest.raises(InputError, match="corrupt"):
        read(path)


def test_a_bzip2_file_of_many_streams_reads_the_same_in_parallel(tmp_path: Path) -> None:
    path = tmp_path / "many.bz2"
    cuts = sorted(random.Random(0).sample(range(len(TEXT)), 200))
    parts = [TEXT[a:b] for a, b in zip([0, *cuts], [*cuts, len(TEXT)], strict=True)]
    path.write_bytes(b"".join(map(bz2.compress, parts)) * 8)
    with process_map(2) as ordered_map, Source(str(path)) as source:
        assert b"".join(source.blocks(ordered_map)) == TEXT * 8
        assert source.record().sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_long_bzip2_stream_among_short_ones_is_read_in_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(sources, "_LONGEST_STREAM", 16_000)
    path = tmp_path / "mixed.bz2"
    short, long = bz2.compress(TEXT[:2000]), bz2.compress(TEXT)
    assert len(short) < 16_000 < len(long)
    path.write_bytes(short * 3 + long + short * 3)
    assert read(path) == TEXT[:2000] * 3 + TEXT + TEXT[:2000] * 3


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"PK\x03\x04...", "zip archive"),
        ("a.txt", b"\xff\xfeh\x00i\x00", "UTF-16"),
        ("a.gz", b"plain text", r"not what \.gz says"),
    ],
)
def test_what_cannot_be_text_is_refused(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        Source(str(tmp_path / name))


def test_text_that_begins_like_bzip2_is_text(tmp_path: Path) -> None:
    path = tmp_path / "bzh"
    path.write_bytes(b"BZh is how a bzip2 file begins.")
    assert read(path) == path.read_bytes()


def test_folders_are_walked_in_order_without_hidden_files_and_the_output(tmp_path: Path) -> None:
    for name in ("b/2.txt", "b/1.txt", "a.txt", ".hidden", "out/tokens.bin"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    names = find_sources([str(tmp_path)], exclude=tmp_path / "out")
    assert [Path(name).name for name in names] == ["a.txt", "1.txt", "2.txt"]


def test_a_name_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        find_sources([str(tmp_path / "nothing")], exclude=tmp_path / "out")
    with pytest.raises(UsageError, match="no files to read"):
        find_sources([str(tmp_path)], exclude=tmp_path / "out")

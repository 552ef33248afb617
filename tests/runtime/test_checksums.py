"""Checksums: what is damaged is refused, and what was checked is remembered until it changes."""

import json
import os
from pathlib import Path

import pytest

from pair2vec.errors import InputError
from pair2vec.runtime import checksums
from pair2vec.runtime.checksums import check_once, read_checksums, strict_json, with_checksums


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff",
        b"[" * 200_000,
        b"[" * 40 + b"]" * 40,
        b'{"a": 1, "a": 1}',
        b"[NaN]",
        b"[-Infinity]",
        b"[1e999]",
        b'["\\ud800"]',
        b"9" * 5_000,
    ],
)
def test_what_we_do_not_write_is_no_json(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        strict_json(content)


def test_json_is_read_back() -> None:
    value = {"a": [1, 2.5, None, True, "é"], "b": {"c": {}}}
    assert strict_json(json.dumps(value).encode()) == value


def test_an_object_is_read_back_with_its_checksums_and_not_with_another_value() -> None:
    sealed = with_checksums("job.json", {"a": [1, 2.5, "é"]}, {"b.bin": "00"})
    path = Path("somewhere/job.json")
    assert read_checksums(path, json.loads(json.dumps(sealed)), "") == {"b.bin": "00"}
    assert with_checksums("job.json", sealed, {"b.bin": "00"}) == sealed
    damaged: list[dict[str, object]] = [
        {**sealed, "a": [1, 2.5, "e"]},
        {**sealed, "c": 1},
        {**sealed, "checksums": {**sealed["checksums"], "b.bin": "01"}},
        {**sealed, "checksums": {"b.bin": "00"}},
        {**sealed, "checksums": {}},
        {**sealed, "checksums": None},
        {**sealed, "checksums": {"job.json": 7}},
    ]
    for facts in damaged:
        with pytest.raises(InputError, match=r"job\.json: is damaged, or was edited by hand; copy"):
            read_checksums(path, facts, "copy it again")


def test_an_object_of_an_older_version_has_no_checksums() -> None:
    assert read_checksums(Path("job.json"), {"a": 1}, "") == {}


class CountedCheck:
    """A check of files, and how often it was made."""

    def __init__(self, paths: list[Path]) -> None:
        self._paths = paths
        self.made = 0

    def __call__(self) -> None:
        self.made += 1

    def run(self, expected: str = "") -> int:
        check_once(self._paths, expected, self)
        return self.made


@pytest.fixture
def large_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that is old and large enough for its check to be remembered."""
    monkeypatch.setattr(checksums, "_REMEMBERED_BYTES", 100)
    monkeypatch.setattr(checksums, "_SETTLED_SECONDS", -1)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "model.safetensors"
    path.write_bytes(bytes(100))
    return path


def test_a_large_file_is_checked_once_until_it_changes(large_file: Path) -> None:
    check = CountedCheck([large_file])
    assert [check.run(), check.run()] == [1, 1]
    assert [check.run("other"), check.run("other")] == [2, 2]
    content = large_file.read_bytes()
    times = large_file.stat()
    # A copy of the same size that brings its time along is another file.
    large_file.with_name("copy").write_bytes(content[:-1] + b"1")
    large_file.with_name("copy").replace(large_file)
    os.utime(large_file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert [check.run("other"), check.run("other")] == [3, 3]
    large_file.write_bytes(bytes(99))
    assert [check.run("other"), check.run("other")] == [4, 5]


def test_a_failed_check_is_not_remembered(large_file: Path) -> None:
    def fail() -> None:
        raise InputError("damaged")

    for _ in range(2):
        with pytest.raises(InputError, match="damaged"):
            check_once([large_file], "", fail)


def test_a_file_that_may_still_change_is_not_remembered(
    large_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checksums, "_SETTLED_SECONDS", 1000)
    check = CountedCheck([large_file])
    assert [check.run(), check.run()] == [1, 2]


@pytest.mark.parametrize("cache", ["a file", "/dev/null", "relative/path", "damaged"])
def test_a_cache_that_cannot_be_written_means_another_check(
    large_file: Path, cache: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = large_file.parent / "cache"
    monkeypatch.setenv("HOME", "/dev/null")
    check = CountedCheck([large_file])
    if cache == "a file":
        folder.write_text("")
    elif cache == "damaged":
        check.run()
        for marker in (folder / "pair2vec" / "checked").iterdir():
            marker.write_text("")
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", cache)
    before = check.made
    assert check.run() == before + 1


def test_the_memory_of_checks_is_one_small_file_a_checked_file(large_file: Path) -> None:
    check = CountedCheck([large_file])
    for size in (200, 300, 400):
        large_file.write_bytes(bytes(size))
        check.run()
    [marker] = (large_file.parent / "cache" / "pair2vec" / "checked").iterdir()
    assert marker.stat().st_size == 64

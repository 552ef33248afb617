"""Storage: atomic writes, checksums, and paths that are local or on a remote file system.

A file is written under a temporary name, fsynced, then renamed: it is whole or absent. Plain paths
and ``file://`` are `Path` objects; ``s3://bucket/text``, ``gs://…``, ``hdfs://…`` and whatever else
fsspec knows are `RemotePath` objects, and fsspec is imported only for them.

The file that is written last in a folder has a field `CHECKSUMS`: SHA-256 by file name, of the
other files and, under its own name, of itself.
"""

import hashlib
import json
import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from pair2vec.errors import InputError, UsageError

PARTIAL = ".partial"
"""Suffix of a file that is being written; one found later is what a killed process left."""
CHECKSUMS = "checksums"
_LOCAL = "file://"

_REMEMBERED_BYTES = 4 << 20
"""Smaller files are checked each time they are opened: that takes a few milliseconds."""
_SETTLED_SECONDS = 2
"""A file as new as this may change again without another time of change."""


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """A file to write to that appears at `path` when the block ends well, and not otherwise."""
    partial = path.with_name(f"{path.name}.{os.getpid()}{PARTIAL}")
    try:
        with partial.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@dataclass(frozen=True)
class RemotePath:
    """A file or folder on a file system of fsspec's, with those methods of `Path` that we need."""

    url: str

    def __str__(self) -> str:
        return self.url

    def __truediv__(self, name: str) -> "RemotePath":
        return RemotePath(f"{self.url.rstrip('/')}/{name}")

    def __getstate__(self) -> dict[str, Any]:
        # A connection is not pickled; another process opens its own.
        return {"url": self.url}

    @property
    def name(self) -> str:
        """The last part of the URL."""
        return self.url.rstrip("/").rpartition("/")[2]

    @cached_property
    def _fs_and_path(self) -> tuple[Any, str]:
        """The file system, and the path on it."""
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise UsageError(f"{self.url}: to reach it: pip install 'pair2vec[ray]'") from error
        try:
            fs, path = url_to_fs(self.url)
        except (ImportError, ValueError) as error:
            raise UsageError(f"{self.url}: cannot be reached: {error}") from error
        return fs, path

    def _call(self, method: str, *arguments: object, **options: object) -> Any:  # noqa: ANN401
        """Call a method of the file system on the path.

        Its errors have no common class; all become one that names the URL.
        """
        fs, path = self._fs_and_path
        # Other processes write too: what was listed a moment ago is not to be relied on.
        fs.invalidate_cache()
        try:
            return getattr(fs, method)(path, *arguments, **options)
        except Exception as error:
            raise InputError(f"{self.url}: {type(error).__name__}: {error}") from error

    def exists(self) -> bool:
        """Whether there is a file, or a folder with something in it."""
        return bool(self._call("exists"))

    def is_file(self) -> bool:
        """Whether it is a file."""
        return bool(self._call("isfile"))

    def is_dir(self) -> bool:
        """Whether it is a folder; not by `isdir` alone, as a web server cannot tell."""
        return not self.is_file() and bool(self._call("isdir"))

    def size(self) -> int | None:
        """In bytes, if the file system can tell."""
        size: int | None = self._call("info").get("size")
        return size

    def iterdir(self) -> Iterator["RemotePath"]:
        """What the folder holds; nothing where there is none."""
        listed = self._call("ls", detail=False) if self.exists() else []
        names = (path.rstrip("/").rpartition("/")[2] for path in listed)
        # Some file systems list the folder itself, too.
        return (self / name for name in names if name != self.name)

    def match(self, pattern: str) -> bool:
        """Whether the name matches a shell `pattern`."""
        return fnmatchcase(self.name, pattern)

    def open(self, mode: str) -> BinaryIO:
        """The file, open for reading ("rb") or for writing ("wb")."""
        opened: BinaryIO = self._call("open", mode)
        return opened

    def read_bytes(self) -> bytes:
        """All of the file."""
        return bytes(self._call("cat_file"))

    def write_file(self, data: bytes) -> None:
        """Put `data` there, all of it or none of it.

        An object store would do so anyway; others, such as HDFS, only rename in one step.
        """
        partial = RemotePath(f"{self.url}.{uuid.uuid4().hex}{PARTIAL}")
        partial._call("pipe_file", data)
        partial._call("mv", self._fs_and_path[1])

    def mkdir(self, *, parents: bool = True, exist_ok: bool = True) -> None:
        """Make the folder and those above it, on file systems where folders have to be made."""
        assert parents and exist_ok, "others are not needed"
        self._call("makedirs", exist_ok=True)

    def unlink(self, *, missing_ok: bool = False) -> None:
        """Delete the file."""
        if not missing_ok or self.exists():
            self._call("rm_file")

    def remove_tree(self) -> None:
        """Delete the folder and all that is in it."""
        if self.exists():
            self._call("rm", recursive=True)


StoragePath = Path | RemotePath


def storage_path(name: str | os.PathLike[str] | RemotePath) -> StoragePath:
    """What a user's name stands for: with ``scheme://`` a remote path, otherwise a local one."""
    if isinstance(name, RemotePath):
        return name
    name = os.fspath(name)
    if name.startswith(_LOCAL):
        return Path(name.removeprefix(_LOCAL))
    return RemotePath(name) if "://" in name else Path(name)


def write_file(path: StoragePath, data: bytes) -> None:
    """Put `data` at `path`, all of it or none of it."""
    if isinstance(path, RemotePath):
        path.write_file(data)
    else:
        with writing(path) as file:
            file.write(data)


def entries(folder: StoragePath) -> list[StoragePath]:
    """What a folder holds, by name."""
    return sorted(folder.iterdir(), key=lambda path: path.name)


def size_of(path: StoragePath) -> int | None:
    """A file's bytes, if they are known without reading it."""
    return path.size() if isinstance(path, RemotePath) else path.stat().st_size


def remove_tree(path: StoragePath) -> None:
    """Delete a folder and all that is in it."""
    if isinstance(path, RemotePath):
        path.remove_tree()
    else:
        shutil.rmtree(path)


def file_checksum(path: Path) -> str:
    """SHA-256, as ``sha256sum`` prints it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def with_checksums(
    name: str, facts: Mapping[str, Any], checksums: Mapping[str, str]
) -> dict[str, Any]:
    """The JSON object to write as file `name`: `facts`, `checksums` and a checksum of them all."""
    unsealed = {**_without_checksums(facts), CHECKSUMS: {**checksums}}
    unsealed[CHECKSUMS].pop(name, None)
    return {**unsealed, CHECKSUMS: {**unsealed[CHECKSUMS], name: _json_checksum(unsealed)}}


def read_checksums(path: StoragePath, facts: Mapping[str, Any], hint: str) -> dict[str, str]:
    """The checksums in a JSON object read from `path`; {} for one that an older version wrote.

    Args:
        path: Of the file, named in errors.
        facts: What it holds.
        hint: What to do about damage.

    Raises:
        InputError: the object is not what was written.
    """
    if CHECKSUMS not in facts:
        return {}
    checksums = facts[CHECKSUMS]
    if isinstance(checksums, dict) and all(isinstance(value, str) for value in checksums.values()):
        others = {name: value for name, value in checksums.items() if name != path.name}
        own = _json_checksum({**_without_checksums(facts), CHECKSUMS: others})
        if checksums.get(path.name) == own:
            return others
    raise InputError(f"{path}: is damaged, or was edited by hand; {hint}")


def check_file(path: Path, expected: str, hint: str) -> None:
    """Refuse a file that has another checksum than the `expected` one."""
    if not path.is_file():
        raise InputError(f"{path}: no such file; {hint}")
    if file_checksum(path) != expected:
        raise InputError(f"{path}: is damaged: its checksum is not the recorded one; {hint}")


def check_once(paths: Sequence[Path], expected: str, check: Callable[[], None]) -> None:
    """Call `check`, unless it passed before for these files, unchanged by size and time.

    That it did is remembered in the user's cache folder; where that cannot be written to, `check`
    is called every time.

    Args:
        paths: The files that `check` reads; they exist.
        expected: What it compares them with.
        check: Raises an error if a file is damaged.
    """
    resolved = [path.resolve() for path in paths]
    before = [path.stat() for path in resolved]
    if sum(status.st_size for status in before) < _REMEMBERED_BYTES:
        check()
        return
    marker = _cache_folder() / hashlib.sha256(repr(resolved).encode()).hexdigest()
    # The time of change too: unlike that of modification, a copy cannot bring it along.
    states = [(s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for s in before]
    state = hashlib.sha256(repr((states, expected)).encode()).hexdigest().encode()
    with suppress(OSError):
        if marker.read_bytes() == state:
            return
    check()
    newest = max(max(status.st_mtime, status.st_ctime) for status in before)
    if time.time() - newest > _SETTLED_SECONDS:
        with suppress(OSError):
            marker.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_file(marker, state)


def _cache_folder() -> Path:
    """Of this user; one that cannot be made where there is no home."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():
        try:
            base = Path.home() / ".cache"
        except RuntimeError:
            base = Path(os.devnull)
    return base / "pair2vec" / "checked"


def _without_checksums(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name != CHECKSUMS}


def _json_checksum(value: object) -> str:
    """Of the values, not of how they are laid out."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()

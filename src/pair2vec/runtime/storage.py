"""Storage: atomic writes, and paths that are local or on a remote file system.

A file is written under a temporary name, fsynced, then renamed: it is whole or absent. Plain paths
and ``file://`` are `Path` objects; ``s3://bucket/text``, ``gs://…``, ``hdfs://…`` and whatever else
fsspec knows are `RemotePath` objects, and fsspec is imported only for them.
"""

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from pair2vec.errors import InputError, UsageError

PARTIAL = ".partial"
"""Suffix of a file that is being written; one found later is what a killed process left."""
_LOCAL = "file://"


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

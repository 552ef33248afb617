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


_LOCAL = "file://"


@dataclass(frozen=True)
class RemotePath:
    """A file or folder on a file system of fsspec's, with those methods of `Path` that we need."""

    url: str

    def __str__(self) -> str:
        return self.url

    def __truediv__(self, name: str) -> "RemotePath":
        return RemotePath(f"{self.url.rstrip('/')}/{name}")

    def __getstate__(self) -> dict[str, Any]:
        # A connection does not travel to another process; that makes its own.
        return {"url": self.url}

    @property
    def name(self) -> str:
        """The last part of the URL."""
        return self.url.rstrip("/").rpartition("/")[2]

    @cached_property
    def _place(self) -> tuple[Any, str]:
        """The file system, and the path on it."""
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise UsageError(f"{self.url}: to reach it: pip install 'pair2vec[ray]'") from error
        try:
            files, path = url_to_fs(self.url)
        except (ImportError, ValueError) as error:
            raise UsageError(f"{self.url}: cannot be reached: {error}") from error
        return files, path

    def _do(self, method: str, *arguments: object, **options: object) -> Any:  # noqa: ANN401
        """Call a method of the file system on the path.

        What goes wrong there is of no common class; it becomes a line that names the URL.
        """
        files, path = self._place
        # Other processes write too: what was listed a moment ago is not to be relied on.
        files.invalidate_cache()
        try:
            return getattr(files, method)(path, *arguments, **options)
        except Exception as error:
            raise InputError(f"{self.url}: {type(error).__name__}: {error}") from error

    def exists(self) -> bool:
        """Whether there is a file, or a folder with something in it."""
        return bool(self._do("exists"))

    def is_file(self) -> bool:
        """Whether it is a file."""
        return bool(self._do("isfile"))

    def is_dir(self) -> bool:
        """Whether it is a folder; of a file it is not asked, as a web server cannot tell."""
        return not self.is_file() and bool(self._do("isdir"))

    def size(self) -> int | None:
        """In bytes, if the file system can tell."""
        size: int | None = self._do("info").get("size")
        return size

    def iterdir(self) -> Iterator["RemotePath"]:
        """What the folder holds; nothing where there is none."""
        listed = self._do("ls", detail=False) if self.exists() else []
        names = (path.rstrip("/").rpartition("/")[2] for path in listed)
        # Some file systems list the folder itself, too.
        return (self / name for name in names if name != self.name)

    def match(self, pattern: str) -> bool:
        """Whether the name is as `pattern` says."""
        return fnmatchcase(self.name, pattern)

    def open(self, mode: str) -> BinaryIO:
        """The file, open for reading ("rb") or for writing ("wb")."""
        opened: BinaryIO = self._do("open", mode)
        return opened

    def read_bytes(self) -> bytes:
        """All of the file."""
        return bytes(self._do("cat_file"))

    def write_file(self, data: bytes) -> None:
        """Put `data` there, all of it or none of it.

        An object store would do so anyway; others, such as HDFS, only rename in one step.
        """
        partial = RemotePath(f"{self.url}.{uuid.uuid4().hex}{PARTIAL}")
        partial._do("pipe_file", data)
        partial._do("mv", self._place[1])

    def mkdir(self, *, parents: bool = True, exist_ok: bool = True) -> None:
        """Make the folder and those above it, on file systems where folders have to be made."""
        assert parents and exist_ok, "others are not needed"
        self._do("makedirs", exist_ok=True)

    def unlink(self, *, missing_ok: bool = False) -> None:
        """Delete the file."""
        if not missing_ok or self.exists():
            self._do("rm_file")

    def remove_tree(self) -> None:
        """Delete the folder and all that is in it."""
        if self.exists():
            self._do("rm", recursive=True)


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

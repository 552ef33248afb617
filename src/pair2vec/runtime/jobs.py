"""Job folders: a long command claims a folder, keeps its progress there, and can resume.

``job.json`` in the folder holds the *identity* of a job: its settings, and its inputs by a hash of
their content. A path would not do: another model, corpus or vector file may have taken its place.
"""

import errno
import fcntl
import hashlib
import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pair2vec.errors import InputError, Pair2vecError, UsageError
from pair2vec.runtime.checksums import (
    CHECKSUMS,
    file_checksum,
    read_checksums,
    strict_json,
    with_checksums,
)
from pair2vec.runtime.storage import PARTIAL, RemotePath, StoragePath, entries, write_file

JOB_FILE = "job.json"
RUN_AGAIN = "run the same command again to resume"
LOCK_FILE = ".lock"
"""Only where a folder itself cannot be locked, and while a process writes to it."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class JobFolder:
    """Where one job writes, and what it was begun with."""

    out: StoragePath
    """What the job makes, as the user named it."""
    state: StoragePath
    """The folder for `JOB_FILE` and whatever is done so far."""
    complete: StoragePath
    """The file that is written last: its presence means that `out` is complete."""
    product: str
    """For messages: "a model", "a corpus"."""
    identity: Mapping[str, Any]
    """As JSON: everything that has to be the same to resume."""
    clear: Callable[[], None]
    """Deletes an earlier job, or what one made, so that this one can begin."""
    comparable: Callable[[dict[str, Any]], dict[str, Any]] = lambda identity: identity
    """The part of an identity that is compared: adds settings that an older version did not have,
    and leaves out those that only say how the work is done."""
    resumed_by: str = "give the same command with --resume"
    """For messages: how a job that stopped goes on."""

    @contextmanager
    def claim(self, *, resume: bool, overwrite: bool) -> Iterator[None]:
        """Hold the folder for this process, with only what this job may resume from in it.

        Args:
            resume: Resume a job that was begun, if it is this very one.
            overwrite: Replace a job that was begun, or what one made.

        Raises:
            UsageError: another process holds it, or it has something that is not to be replaced.
            Pair2vecError: the disk is full, then or while the folder is held.
        """
        # Before anything is made, and again once no other process can change the answer.
        self._check(resume=resume, overwrite=overwrite)
        with explained_full_disk(self.out, self.resumed_by), ExitStack() as held:
            self.state.mkdir(parents=True, exist_ok=True)
            held.enter_context(exclusive_lock(self.state))
            self._check(resume=resume, overwrite=overwrite)
            if not (resume and self._is_begun()):
                self.clear()
            sweep_partial_files(self.state)
            if self.out.is_dir():
                sweep_partial_files(self.out)
            elif isinstance(self.out, Path):
                sweep_partial_files(self.out.parent, self.out.name)
            job = with_checksums(JOB_FILE, json.loads(json.dumps(self.identity)), {})
            write_file(self.state / JOB_FILE, json.dumps(job, indent=2).encode())
            yield

    def _check(self, *, resume: bool, overwrite: bool) -> None:
        """Refuse to resume another job, or to replace anything unasked."""
        is_begun, is_complete = self._is_begun(), self.complete.exists()
        if is_begun and resume:
            if changed := self.changed_inputs():
                raise UsageError(
                    f"{self.out}: was begun with another {' and another '.join(changed)}; resume "
                    "with the same, or --overwrite"
                )
        elif (is_begun or is_complete) and not overwrite:
            content = (
                f"{self.product}{' and nothing to resume' if resume else ''}"
                if is_complete
                else "a job that was begun: --resume continues it"
            )
            raise UsageError(
                f"{self.out}: already holds {content}; give another --out, or --overwrite to "
                "replace it"
            )

    def _is_begun(self) -> bool:
        return (self.state / JOB_FILE).exists()

    def is_same(self) -> bool:
        """Whether this very job was begun here."""
        try:
            return self._is_begun() and not self.changed_inputs()
        except InputError:
            return False

    def changed_inputs(self) -> list[str]:
        """The parts of the identity in which the job that was begun here differs from this one."""
        begun, wanted = (
            self.comparable(json.loads(json.dumps(identity)))
            for identity in (begun_identity(self.state) or {}, self.identity)
        )
        return sorted(name for name in {*begun, *wanted} if begun.get(name) != wanted.get(name))


def begun_identity(state: StoragePath) -> dict[str, Any] | None:
    """The identity of the job that was begun in a folder; None where there is none.

    Raises:
        InputError: it is damaged.
    """
    path, hint = state / JOB_FILE, "begin again with --overwrite"
    if not path.exists():
        return None
    try:
        identity = strict_json(path.read_bytes())
    except ValueError as error:
        raise InputError(f"{path}: is damaged: not JSON; {hint}") from error
    if not isinstance(identity, dict):
        raise InputError(f"{path}: is damaged: not an object; {hint}")
    read_checksums(path, identity, hint)
    return {name: value for name, value in identity.items() if name != CHECKSUMS}


@contextmanager
def explained_full_disk(out: StoragePath, resumed_by: str) -> Iterator[None]:
    """Say of a write that fails for want of room how the job goes on."""
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            raise
        raise Pair2vecError(f"{out}: {error.strerror}; make room and {resumed_by}") from error


@contextmanager
def exclusive_lock(path: StoragePath, *, wait: bool = False) -> Iterator[None]:
    """Keep other processes from writing to a folder, or to a file that need not exist yet.

    The lock ends with the process, however it ends. A remote path cannot be locked: that no two
    jobs write to it is up to the user.

    Raises:
        UsageError: another process holds it.
    """
    if isinstance(path, RemotePath):
        yield
        return
    # A folder is locked itself; network file systems lock only files that are open for writing.
    lock_file = path / LOCK_FILE if path.is_dir() else path.with_name(f"{path.name}{LOCK_FILE}")
    places = [(path, os.O_RDONLY)] if path.is_dir() else []
    for place, flags in [*places, (lock_file, os.O_RDWR | os.O_CREAT)]:
        try:
            descriptor = _open_locked(place, flags, wait=wait)
        except BlockingIOError as error:
            raise UsageError(f"{path}: another pair2vec process is writing to it") from error
        except FileNotFoundError as error:
            if place == lock_file:
                raise
            raise UsageError(
                f"{path}: another process has just removed it; run the same command again"
            ) from error
        except OSError as error:
            refusal = error
            continue
        try:
            yield
        finally:
            if place == lock_file:
                lock_file.unlink(missing_ok=True)
            os.close(descriptor)
        return
    _log.warning("%s: cannot be locked (%s); let no other process write to it", path, refusal)
    yield


def _open_locked(path: Path, flags: int, *, wait: bool) -> int:
    """A descriptor of a file or folder that holds its lock."""
    while True:
        descriptor = os.open(path, flags, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            # One that its last holder has removed meanwhile is no lock of what is there now.
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except FileNotFoundError:
            if not flags & os.O_CREAT:
                os.close(descriptor)
                raise
        except OSError:
            os.close(descriptor)
            raise
        os.close(descriptor)


def sweep_partial_files(folder: StoragePath, name: str | None = None) -> None:
    """Delete what killed processes left half-written, of one file or of all in a folder.

    The caller must hold the lock of the job that writes them.
    """
    for path in entries(folder):
        # Of "words", not of "words2", which another job may be writing.
        is_ours = name is None or path.name.startswith(f"{name}.")
        if is_ours and path.name.endswith(PARTIAL) and not path.is_dir():
            path.unlink(missing_ok=True)


def empty_folder(folder: Path) -> None:
    """Delete what a folder holds but not the folder itself, nor the lock on it."""
    for path in folder.iterdir():
        if path.name == LOCK_FILE:
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def content_hash(path: Path) -> str:
    """SHA-256 of a file; or of the names and contents of a folder's files, hidden ones left out.

    Raises:
        UsageError: there is no such file or folder.
    """
    if not path.exists():
        raise UsageError(f"{path}: no such file or folder")
    if path.is_file():
        return file_checksum(path)
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        relative = file.relative_to(path)
        if file.is_file() and not any(part.startswith(".") for part in relative.parts):
            digest.update(f"{relative.as_posix()}\0{content_hash(file)}\n".encode())
    return digest.hexdigest()

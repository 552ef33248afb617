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

from pair2vec.errors import Pair2vecError, UsageError
from pair2vec.runtime.storage import PARTIAL, RemotePath, StoragePath, entries, write_file

JOB_FILE = "job.json"
RUN_AGAIN = "run the same command again to resume"

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
            write_file(self.state / JOB_FILE, json.dumps(self.identity, indent=2).encode())
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
        return self._is_begun() and not self.changed_inputs()

    def changed_inputs(self) -> list[str]:
        """The parts of the identity in which the job that was begun here differs from this one."""
        begun, wanted = (
            self.comparable(json.loads(json.dumps(identity)))
            for identity in (begun_identity(self.state) or {}, self.identity)
        )
        return sorted(name for name in {*begun, *wanted} if begun.get(name) != wanted.get(name))


def begun_identity(state: StoragePath) -> dict[str, Any] | None:
    """The identity of the job that was begun in a folder; None where there is none, or no JSON."""
    path = state / JOB_FILE
    try:
        identity = json.loads(path.read_bytes()) if path.exists() else None
    except ValueError:
        return None
    return identity if isinstance(identity, dict) else None


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
def exclusive_lock(folder: StoragePath, *, wait: bool = False) -> Iterator[None]:
    """Keep other processes out of a folder; the lock ends with the process, however it ends.

    A remote folder cannot be locked: that no two jobs write to it is up to the user.
    """
    if isinstance(folder, RemotePath):
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError as error:
        os.close(descriptor)
        raise UsageError(f"{folder}: another pair2vec process is writing to it") from error
    except OSError as error:  # a file system without locks, as some network ones are
        _log.warning("%s: cannot be locked (%s); let no other process write to it", folder, error)
    try:
        yield
    finally:
        os.close(descriptor)


def sweep_partial_files(folder: StoragePath, name: str = "") -> None:
    """Delete what killed processes left half-written, of one file or of all in a folder.

    The caller must hold the lock of the job that writes them.
    """
    for path in entries(folder):
        if path.match(f"{name}*{PARTIAL}") and not path.is_dir():
            path.unlink(missing_ok=True)


def empty_folder(folder: Path) -> None:
    """Delete what a folder holds but not the folder itself, which may be locked."""
    for path in folder.iterdir():
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
        with path.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        relative = file.relative_to(path)
        if file.is_file() and not any(part.startswith(".") for part in relative.parts):
            digest.update(f"{relative.as_posix()}\0{content_hash(file)}\n".encode())
    return digest.hexdigest()

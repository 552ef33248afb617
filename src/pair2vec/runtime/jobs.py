"""The output folder while a corpus is being made: who may write to it, and what may be resumed.

Beside the corpus' own files it holds ``job.json``, which says what is being made, and ``pieces/``,
what has been made so far. Both go when the corpus is complete.

A local folder is locked. A remote one cannot be: that no two jobs write to it at the same time is
up to the user.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path

from pair2vec.errors import UsageError
from pair2vec.runtime.storage import PARTIAL, StoragePath, entries, remove_tree, write_file
from pair2vec.text.corpus import MANIFEST, VOCABULARY_TSV

_JOB = "job.json"
_PIECES = "pieces"
_OURS = (
    *(MANIFEST, VOCABULARY_TSV, _JOB, _PIECES, "tokens*.bin", "sentences*.bin", f"*{PARTIAL}"),
    "neighbours-*.npy",  # kept beside a corpus by training
)
_WAYS_OUT = "give another --out, or --overwrite to replace it"


@contextmanager
def claimed_folder(
    out: StoragePath, identity: Mapping[str, object], *, overwrite: bool
) -> Iterator[StoragePath | None]:
    """`out` for the job of this `identity` alone; yields the folder of its pieces.

    Yields None if an earlier run of the job wrote the whole corpus and was stopped only then.
    """
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out}: is a file, not a folder; give another --out")
    out.mkdir(parents=True, exist_ok=True)
    with _locked(out) if isinstance(out, Path) else nullcontext():
        _refuse_or_clear(out, identity, overwrite=overwrite)
        pieces = out / _PIECES
        pieces.mkdir(exist_ok=True)
        write_file(out / _JOB, json.dumps(identity, indent=2).encode())
        yield None if (out / MANIFEST).exists() else pieces
        remove_tree(pieces)
        (out / _JOB).unlink()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """No second process works in `folder`; the lock ends with the process, however it ends."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise UsageError(f"{folder}: another 'pair2vec prepare' is writing to it") from error
    try:
        yield
    finally:
        os.close(descriptor)


def _refuse_or_clear(out: StoragePath, identity: Mapping[str, object], *, overwrite: bool) -> None:
    """Leave in `out` only what this job may go on from."""
    begun, complete = (out / _JOB).exists(), (out / MANIFEST).exists()
    others = [path.name for path in entries(out) if not any(map(path.match, _OURS))]
    if others and not begun and not complete:
        raise UsageError(f"{out}: is not a corpus and not empty ({others[0]}); give another --out")
    if begun and _read_job(out) == identity and not overwrite:
        return
    if (begun or complete) and not overwrite:
        found = "an unfinished job of other inputs or settings" if begun else "a corpus"
        raise UsageError(f"{out}: already holds {found}; {_WAYS_OUT}")
    _remove_ours(out)


def _read_job(out: StoragePath) -> object:
    try:
        return json.loads((out / _JOB).read_bytes())
    except ValueError:
        return None


def _remove_ours(out: StoragePath) -> None:
    # The manifest first: without it nothing else is taken for a corpus.
    (out / MANIFEST).unlink(missing_ok=True)
    for path in entries(out):
        if not any(map(path.match, _OURS)):
            continue
        if path.is_dir():
            remove_tree(path)
        else:
            path.unlink()

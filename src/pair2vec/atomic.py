"""Files that are whole or absent: written under another name, forced to disk, then renamed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

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


def write_whole(path: Path, data: bytes) -> None:
    """Put `data` at `path`, all of it or none of it."""
    with writing(path) as file:
        file.write(data)

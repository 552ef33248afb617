"""Checksums: files that are damaged are refused instead of giving other results in silence.

The JSON file that is written last in a folder has a field `CHECKSUMS`: SHA-256 by file name, of the
other files and, under its own name, of itself. Files are compared with it when they are opened,
large ones once: that they were is remembered by their size and time.
"""

import hashlib
import json
import math
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pair2vec.errors import InputError
from pair2vec.runtime.storage import StoragePath, write_file, writing

CHECKSUMS = "checksums"
UNSEALED = {CHECKSUMS: "0" * 64}
"""In the metadata of a safetensors file while its checksum is computed."""
_BLOCK = 1 << 20
_DEEPEST = 32
"""Objects and lists within each other in JSON; ours have five."""
_REMEMBERED_BYTES = 4 << 20
"""Smaller files are checked each time they are opened: that takes a few milliseconds."""
_SETTLED_SECONDS = 2
"""A file as new as this may change again without another time of change."""


def file_checksum(path: Path) -> str:
    """SHA-256, as ``sha256sum`` prints it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def strict_json(content: bytes) -> Any:  # noqa: ANN401 - any JSON
    """JSON as we write it: no name twice, no NaN or infinity, no lone surrogate, no deep nesting.

    Raises:
        ValueError: it is something else.
    """
    try:
        value = json.loads(
            content,
            parse_float=_finite_number,
            parse_constant=_finite_number,
            object_pairs_hook=_object,
        )
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for item in level
            if isinstance(item, dict | list)
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
    if level:
        raise ValueError("nested too deep")
    # Text with a lone surrogate can be neither written nor printed.
    json.dumps(value, ensure_ascii=False).encode()
    return value


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is there twice")
    return found


def _finite_number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a finite number")
    return number


def is_size(value: object) -> bool:
    """Whether a value read from JSON is a count or a size: a whole number that fits 64 bits."""
    return type(value) is int and 0 <= value < 1 << 62


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


def write_tensors(path: Path, content: bytes) -> None:
    """Write a safetensors file whose metadata have `UNSEALED`, with a checksum in its place.

    The checksum is of the content as it is given.
    """
    view = memoryview(content)
    start = 8 + int.from_bytes(view[:8], "little")
    header = bytes(view[:start])
    assert header.count(_entry(UNSEALED[CHECKSUMS])) == 1
    with writing(path) as file:
        file.write(_with_checksum(header, UNSEALED[CHECKSUMS], hashlib.sha256(view).hexdigest()))
        file.write(view[start:])


def read_tensor_metadata(path: Path, older: Collection[str] = ()) -> dict[str, str]:
    """The metadata of a file that `write_tensors` wrote.

    Args:
        path: Of the file.
        older: Names in the metadata of an older version, whose files have no checksum.

    Raises:
        InputError: the file is damaged.
    """
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        file.seek(0)
        # Not the length that it says: that may be damaged, too.
        header = file.read(8 + min(length, path.stat().st_size))
        try:
            metadata = strict_json(header[8:]).get("__metadata__") or {}
            if CHECKSUMS not in metadata and set(metadata) == set(older):
                return {**metadata}
            expected = metadata[CHECKSUMS]
            digest = hashlib.sha256(_with_checksum(header, expected, UNSEALED[CHECKSUMS]))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}: is damaged: its header cannot be read") from error
        while block := file.read(_BLOCK):
            digest.update(block)
    if digest.hexdigest() != expected:
        raise InputError(f"{path}: is damaged: its checksum is not the recorded one")
    return {**metadata}


def _with_checksum(header: bytes, before: str, after: str) -> bytes:
    return header.replace(_entry(before), _entry(after))


def _entry(checksum: str) -> bytes:
    """A checksum as it is in the header."""
    return f'"{CHECKSUMS}":"{checksum}"'.encode()


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

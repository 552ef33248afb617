"""The tensors file: named arrays in the safetensors format, memory-mapped and perhaps quantised.

The format: eight bytes, the little-endian length of a header; the header, a JSON object with the
type, shape and offsets of each array; the bytes of the arrays. The precisions:

- ``float32``: as trained;
- ``float16``: tables (2-D arrays) in half the bytes;
- ``int8``: tables in a quarter of the bytes, each row q · scale with q in -127 … 127 and
  scale = max|row| / 127, so that no value changes by more than half a scale.

What is not a table is small and stays float32: biases, and under int8 also a single row.

Shapes: N rows, D dimension.
"""

import json
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import EllipsisType
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from pair2vec.errors import InputError, UsageError

Arrays = Mapping[str, NDArray[Any]]

Precision = Literal["float32", "float16", "int8"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)

REPAIR_HINT = "copy or save the model again"
"""What to do about damaged files, for error messages."""

_METADATA = "__metadata__"
_OLD_MARK = {"library": "pair2vec"}
_MARK = {"library": "pair2vec, with checksums in config.json"}
"""One entry: the library writes several in any order, and so not the same bytes each time."""
_DTYPES = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "I8": "|i1", "I32": "<i4", "I64": "<i8"}

_LARGEST_INT8 = 127
_SMALLEST_SCALE = np.finfo(np.float32).tiny
_LARGEST_FLOAT16 = float(np.finfo(np.float16).max)
_INFINITE_BITS = 0x7C00
"""Of float16."""


def tensor_bytes(arrays: Arrays) -> bytes:
    """The file's content, with pair2vec's mark in its metadata."""
    # The library saves an array's memory as it is: a transposed one would be saved wrong.
    contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    return save(contiguous, metadata=_MARK)


def map_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Each array of the file by name, memory-mapped: read from disk only where it is accessed.

    Raises:
        InputError: the file is not there, is of another format, or is cut short.
    """
    header, start = _read_header(path)
    size = path.stat().st_size
    try:
        slots = {name: _Slot.parse(entry) for name, entry in header.items() if name != _METADATA}
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: its header names no arrays we read; {REPAIR_HINT}") from error
    expected = start + max((slot.end for slot in slots.values()), default=0)
    if size != expected:
        raise InputError(
            f"{path}: has {size:,} bytes where its header says {expected:,}; {REPAIR_HINT}"
        )
    content = np.memmap(path, np.uint8, mode="r")
    try:
        return {name: slot.array_in(content[start:]) for name, slot in slots.items()}
    except ValueError as error:  # empty, with dimensions beyond what numpy counts to
        raise InputError(f"{path}: its header names no arrays we read; {REPAIR_HINT}") from error


def check_finite(path: Path, stored: Arrays) -> None:
    """Refuse arrays of a file with values that are no numbers.

    Raises:
        InputError: one has infinite values or NaN; the message says which.
    """
    for name, array in stored.items():
        if not _is_finite(array):
            raise InputError(
                f"{path}: tensor {name!r} has values that are not finite; {REPAIR_HINT}"
            )


def _is_finite(array: NDArray[Any]) -> bool:
    if not array.size or not np.issubdtype(array.dtype, np.floating):
        return True
    if array.dtype == np.float16:
        # By the bits, 20 times faster: the largest of each sign are infinity and NaN.
        positive, negative = array.view(np.int16).max(), array.view(np.uint16).max()
        return bool(positive < _INFINITE_BITS and negative < _INFINITE_BITS + (1 << 15))
    # The least and the largest of values with a NaN among them are NaN.
    return bool(np.isfinite(array.min()) and np.isfinite(array.max()))


def is_marked(path: Path, marks: Sequence[Mapping[str, str]] = (_MARK, _OLD_MARK)) -> bool:
    """Whether the file is one that `tensor_bytes` made."""
    try:
        return _read_header(path)[0].get(_METADATA) in marks
    except InputError:
        return False


def needs_checksum(path: Path) -> bool:
    """Whether a checksum of the file was written with it, as older versions did not."""
    return is_marked(path, [_MARK])


def _read_header(path: Path) -> tuple[dict[str, Any], int]:
    """The header, and where the arrays' bytes begin."""
    if not path.is_file():
        raise InputError(f"{path}: no such file; {REPAIR_HINT}")
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if 8 + length > path.stat().st_size:
            raise InputError(f"{path}: cut short, or not a safetensors file; {REPAIR_HINT}")
        content = file.read(length)
    try:
        header = json.loads(content)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise InputError(f"{path}: its header is not a JSON object; {REPAIR_HINT}")
    return header, 8 + length


class _Slot(NamedTuple):
    """The type, shape and offsets of an array in the file."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    begin: int
    end: int

    @classmethod
    def parse(cls, entry: Mapping[str, Any]) -> "_Slot":
        """From the header; raises KeyError, TypeError or ValueError if it contradicts itself."""
        dtype = np.dtype(_DTYPES[entry["dtype"]])
        shape = tuple(map(operator.index, entry["shape"]))
        begin, end = map(operator.index, entry["data_offsets"])
        if min(shape, default=0) < 0 or begin < 0:
            raise ValueError("negative length or offset")
        if end - begin != math.prod(shape) * dtype.itemsize:
            raise ValueError("offsets do not fit the shape")
        return cls(dtype, shape, begin, end)

    def array_in(self, content: NDArray[np.uint8]) -> NDArray[Any]:
        """The array, as a view of the mapped bytes."""
        # A plain array over the map: np.memmap's own methods are slower and return odd scalars.
        return np.asarray(content[self.begin : self.end]).view(self.dtype).reshape(self.shape)


class QuantisedRows(NamedTuple):
    """A table of eight bits per value."""

    values: NDArray[np.int8]
    """(N, D)"""
    scale: NDArray[np.float32]
    """(N,)"""


def quantise_rows(table: NDArray[np.float32]) -> QuantisedRows:
    """The nearest eight-bit table, with the finest scale each row allows."""
    largest = np.abs(table).max(axis=1, initial=0)
    # The floor keeps a row of zeros, or nearly so, from being divided by zero.
    scale = np.maximum(largest / np.float32(_LARGEST_INT8), _SMALLEST_SCALE)
    return QuantisedRows(np.rint(table / scale[:, np.newaxis]).astype(np.int8), scale)


def scale_name(name: str) -> str:
    """The name under which the scales of an int8 table are stored."""
    return f"{name}.scale"


def stored_arrays(
    tensors: Mapping[str, NDArray[np.float32]], precision: Precision
) -> dict[str, NDArray[Any]]:
    """The arrays to store `tensors` as: with int8, scales beside each table.

    Raises:
        UsageError: an array cannot be stored in this precision; the message says which and why.
    """
    if precision not in PRECISIONS:
        raise UsageError(f"precision is {precision!r}; it must be one of {', '.join(PRECISIONS)}")
    stored: dict[str, NDArray[Any]] = {}
    for name, array in tensors.items():
        _check_values(name, array)
        for part, values in _converted(name, array, precision):
            if part != name and part in tensors:
                raise UsageError(f"tensor {part!r}: int8 needs this name for the scales of {name}")
            stored[part] = values
    return stored


def _check_values(name: str, array: NDArray[Any]) -> None:
    if array.dtype != np.float32:
        raise UsageError(f"tensor {name!r}: is {array.dtype}; a model is saved from float32")
    if not np.isfinite(array).all():
        raise UsageError(f"tensor {name!r}: has values that are not finite; did training diverge?")


def _converted(
    name: str, array: NDArray[np.float32], precision: Precision
) -> Iterator[tuple[str, NDArray[Any]]]:
    if precision == "int8" and array.ndim == 2 and len(array) >= 2:
        values, scale = quantise_rows(array)
        yield name, values
        yield scale_name(name), scale
    elif precision == "float16" and array.ndim == 2:
        yield name, _to_float16(name, array)
    else:
        yield name, array


def _to_float16(name: str, array: NDArray[np.float32]) -> NDArray[np.float16]:
    with np.errstate(over="ignore"):
        half = array.astype(np.float16)
    if not np.isfinite(half).all():
        raise UsageError(
            f"tensor {name!r}: its largest value {np.abs(array).max():g} is above "
            f"{_LARGEST_FLOAT16:g}, the most float16 holds; save it as float32 or int8"
        )
    return half


class Rows:
    """A table in any precision, whose rows are converted to float32 when they are accessed."""

    def __init__(self, values: NDArray[Any], scale: NDArray[np.float32] | None = None) -> None:
        self._values = values
        self._scale = scale

    @property
    def shape(self) -> tuple[int, ...]:
        return self._values.shape

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(
        self, ids: int | slice | EllipsisType | Sequence[int] | NDArray[Any]
    ) -> NDArray[np.float32]:
        """The rows of `ids`, in the shape of `ids` and then D; `...` for all.

        Of a float32 table, a slice and all are views of the file, not to be written to.
        """
        index = ids if isinstance(ids, slice | EllipsisType) else _as_index(ids)
        if self._scale is None:
            return np.asarray(self._values[index], np.float32)
        scale = self._scale[index][..., np.newaxis]
        rows: NDArray[np.float32] = np.multiply(self._values[index], scale, dtype=np.float32)
        return rows


def _as_index(ids: int | Sequence[int] | NDArray[Any]) -> NDArray[Any]:
    index = np.asarray(ids)
    # An empty list is an empty batch, and not the array of floats numpy takes it for.
    return index if index.size else index.astype(np.intp)

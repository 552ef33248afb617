"""In how many bits a model is stored. Shapes: N rows, D dimension.

- ``float32``: as trained;
- ``float16``: tables (2-D arrays) in half the bytes;
- ``int8``: tables in a quarter of the bytes, each row q · scale with q in -127 … 127 and
  scale = max|row| / 127, so that no value moves by more than half a scale.

What is not a table is small and stays float32: biases, and under int8 also a single row.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import EllipsisType
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import UsageError

Precision = Literal["float32", "float16", "int8"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)

_LARGEST_INT8 = 127
_SMALLEST_SCALE = np.finfo(np.float32).tiny
_LARGEST_FLOAT16 = float(np.finfo(np.float16).max)


class QuantisedRows(NamedTuple):
    """A table in eight bits a value."""

    values: NDArray[np.int8]
    """(N, D)"""
    scale: NDArray[np.float32]
    """(N,)"""


def quantise_rows(table: NDArray[np.float32]) -> QuantisedRows:
    """The nearest eight-bit table, with the finest scale each row allows."""
    largest = np.abs(table).max(axis=1, initial=0)
    # The floor keeps a row of zeros, or of next to nothing, from being divided by zero.
    scale = np.maximum(largest / np.float32(_LARGEST_INT8), _SMALLEST_SCALE)
    return QuantisedRows(np.rint(table / scale[:, np.newaxis]).astype(np.int8), scale)


def scale_name(name: str) -> str:
    """Under what name the scales of an int8 table are stored."""
    return f"{name}.scale"


def stored_arrays(
    tensors: Mapping[str, NDArray[np.float32]], precision: Precision
) -> dict[str, NDArray[Any]]:
    """What the file holds of `tensors`: with int8, scales beside each table.

    Raises:
        UsageError: an array cannot be stored like this; the message says which and why.
    """
    if precision not in PRECISIONS:
        raise UsageError(f"precision is {precision!r}; it must be one of {', '.join(PRECISIONS)}")
    stored: dict[str, NDArray[Any]] = {}
    for name, array in tensors.items():
        _check_values(name, array)
        for part, values in _parts(name, array, precision):
            if part != name and part in tensors:
                raise UsageError(f"tensor {part!r}: int8 needs this name for the scales of {name}")
            stored[part] = values
    return stored


def _check_values(name: str, array: NDArray[Any]) -> None:
    if array.dtype != np.float32:
        raise UsageError(f"tensor {name!r}: is {array.dtype}; a model is saved from float32")
    if not np.isfinite(array).all():
        raise UsageError(f"tensor {name!r}: has values that are not finite; did training diverge?")


def _parts(
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
    """A table in any precision whose rows come out as float32, each turned when asked for."""

    def __init__(self, values: NDArray[Any], scale: NDArray[np.float32] | None = None) -> None:
        self._values = values
        self._scale = scale

    @property
    def shape(self) -> tuple[int, ...]:
        """(N, D)."""
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
    # An empty list is a batch of none, and not the array of floats numpy takes it for.
    return index if index.size else index.astype(np.intp)

"""The file of named arrays, in the safetensors format; mapped into memory rather than read.

The format: eight bytes, the little-endian length of a header; the header, a JSON object that says
of each array its type, shape and place; the bytes of the arrays.
"""

import json
import math
import operator
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from pair2vec.errors import InputError

Arrays = Mapping[str, NDArray[Any]]

_METADATA = "__metadata__"
_MARK = {"library": "pair2vec"}
_DTYPES = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "I8": "|i1", "I32": "<i4", "I64": "<i8"}
_WAY_OUT = "copy or save the model again"


def tensor_bytes(arrays: Arrays) -> bytes:
    """The file's content, marked as written here."""
    # The library takes an array's memory as it lies: a transposed one would be saved wrong.
    in_order = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    return save(in_order, metadata=_MARK)


def map_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Each array of the file by name, read from the disk only where it is touched.

    Raises:
        InputError: the file is not there, is of another format, or is cut short.
    """
    header, start = _read_header(path)
    size = path.stat().st_size
    try:
        places = {name: _Place.of(entry) for name, entry in header.items() if name != _METADATA}
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: its header names no arrays we read; {_WAY_OUT}") from error
    expected = start + max((place.end for place in places.values()), default=0)
    if size != expected:
        raise InputError(
            f"{path}: has {size:,} bytes where its header says {expected:,}; {_WAY_OUT}"
        )
    content = np.memmap(path, np.uint8, mode="r")
    return {name: place.array_in(content[start:]) for name, place in places.items()}


def is_marked(path: Path) -> bool:
    """Whether the file is one that `tensor_bytes` made."""
    try:
        return _read_header(path)[0].get(_METADATA) == _MARK
    except InputError:
        return False


def _read_header(path: Path) -> tuple[dict[str, Any], int]:
    """The header, and where the arrays' bytes begin."""
    if not path.is_file():
        raise InputError(f"{path}: no such file; {_WAY_OUT}")
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if 8 + length > path.stat().st_size:
            raise InputError(f"{path}: cut short, or not a safetensors file; {_WAY_OUT}")
        content = file.read(length)
    try:
        header = json.loads(content)
    except ValueError as error:
        raise InputError(f"{path}: its header is not JSON; {_WAY_OUT}") from error
    if not isinstance(header, dict):
        raise InputError(f"{path}: its header names no arrays; {_WAY_OUT}")
    return header, 8 + length


class _Place(NamedTuple):
    """Where an array lies among the bytes, and as what."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    begin: int
    end: int

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> "_Place":
        """From the header; raises KeyError, TypeError or ValueError if it contradicts itself."""
        dtype = np.dtype(_DTYPES[entry["dtype"]])
        shape = tuple(map(operator.index, entry["shape"]))
        begin, end = map(operator.index, entry["data_offsets"])
        if min(shape, default=0) < 0 or begin < 0:
            raise ValueError("negative length or offset")
        if end - begin != math.prod(shape) * dtype.itemsize:
            raise ValueError("as many bytes as the shape needs are not there")
        return cls(dtype, shape, begin, end)

    def array_in(self, content: NDArray[np.uint8]) -> NDArray[Any]:
        """The array, as a view of the mapped bytes."""
        # A plain array over the map: np.memmap's own methods are slower and return odd scalars.
        return np.asarray(content[self.begin : self.end]).view(self.dtype).reshape(self.shape)

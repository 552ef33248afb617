"""The two files of an ELMo model as AllenNLP publishes them: options in JSON, weights in HDF5."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from pair2vec.errors import InputError, UsageError

CHARACTERS = 261
"""Rows of ``char_embed``: 256 bytes and five marks. AllenNLP adds one for padding."""

_ACTIVATIONS = ("relu", "tanh")


class Filters(NamedTuple):
    """The convolution filters of one width, in characters."""

    width: int
    number: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ElmoOptions:
    """The architecture that the weights are of."""

    character_dimension: int
    longest_word: int
    """In characters, marks for its begin and end included; a longer word is truncated."""
    filters: tuple[Filters, ...]
    activation: str
    highways: int
    projection: int
    """Dimension of a word between the layers, in one direction."""
    cell: int
    layers: int
    skip_connections: bool
    cell_clip: float
    projection_clip: float

    @property
    def filter_count(self) -> int:
        return sum(filters.number for filters in self.filters)

    @property
    def widest(self) -> int:
        return max(filters.width for filters in self.filters)


def find_elmo_files(folder: Path) -> tuple[list[Path], list[Path]]:
    """All files of options and all files of weights in a folder; a model has one of each."""
    return sorted(folder.glob("*options.json")), sorted(folder.glob("*.hdf5"))


def read_options(path: Path) -> ElmoOptions:
    """Read and check the options.

    Raises:
        InputError: not JSON, or a key is missing or has an invalid value.
    """
    options = _OptionFile(path)
    # A word has marks at both ends, and the shortest one, a sentence's begin, one character.
    longest_word = options.integer("char_cnn", "max_characters_per_token", least=3)
    return ElmoOptions(
        character_dimension=options.integer("char_cnn", "embedding", "dim"),
        longest_word=longest_word,
        filters=options.filters(longest_word, "char_cnn", "filters"),
        activation=options.activation("char_cnn", "activation"),
        highways=options.integer("char_cnn", "n_highway", least=0),
        projection=options.integer("lstm", "projection_dim"),
        cell=options.integer("lstm", "dim"),
        layers=options.integer("lstm", "n_layers"),
        skip_connections=options.boolean("lstm", "use_skip_connections"),
        cell_clip=options.positive("lstm", "cell_clip"),
        projection_clip=options.positive("lstm", "proj_clip"),
    )


class _OptionFile:
    """A JSON file of options, whose values are checked when they are read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: cannot be read as JSON: {error}") from error

    def integer(self, *keys: str, least: int = 1) -> int:
        value = self._value(keys)
        if type(value) is not int or value < least:
            raise self._error(keys, f"a whole number of {least} or more")
        return value

    def positive(self, *keys: str) -> float:
        value = self._value(keys)
        if type(value) not in (int, float) or not value > 0:
            raise self._error(keys, "a number above 0")
        return float(value)

    def boolean(self, *keys: str) -> bool:
        value = self._value(keys)
        if type(value) is not bool:
            raise self._error(keys, "true or false")
        return value

    def activation(self, *keys: str) -> str:
        value = self._value(keys)
        if value not in _ACTIVATIONS:
            raise self._error(keys, " or ".join(_ACTIVATIONS))
        return str(value)

    def filters(self, widest: int, *keys: str) -> tuple[Filters, ...]:
        value = self._value(keys)
        try:
            filters = tuple(Filters(int(width), int(number)) for width, number in value)
        except (TypeError, ValueError):
            filters = ()
        if not filters or not all(1 <= width <= widest and number > 0 for width, number in filters):
            wanted = f"a list of [width, number], no width above {widest}"
            raise self._error(keys, wanted)
        return filters

    def _value(self, keys: tuple[str, ...]) -> Any:  # noqa: ANN401
        value = self._content
        for key in keys:
            if not isinstance(value, dict) or key not in value:
                raise InputError(f"{self._path}: has no {'.'.join(keys)}; not options of ELMo?")
            value = value[key]
        return value

    def _error(self, keys: tuple[str, ...], wanted: str) -> InputError:
        value = json.dumps(self._value(keys))
        return InputError(f"{self._path}: {'.'.join(keys)} is {value}; it must be {wanted}")


class WeightFile:
    """An open file of weights."""

    def __init__(self, path: Path, content: Any) -> None:  # noqa: ANN401
        self._path, self._content = path, content

    def tensor(self, name: str, *shape: int) -> Tensor:
        """The float32 values of a dataset, which must have this shape."""
        data = self._content.get(name)
        stored = getattr(data, "shape", None)
        if stored is None:
            raise InputError(f"{self._path}: has no dataset {name}; not weights of ELMo?")
        if tuple(stored) != shape:
            raise InputError(
                f"{self._path}: {name} has shape {list(stored)}, but the options beside it need "
                f"{list(shape)}"
            )
        try:
            return torch.from_numpy(np.asarray(data[...], np.float32))
        except (OSError, ValueError) as error:
            raise InputError(f"{self._path}: {name} cannot be read: {error}") from error


@contextmanager
def open_weights(path: Path) -> Iterator[WeightFile]:
    """Open a file of weights, for as long as they are copied out.

    Raises:
        UsageError: the library that reads such files is not installed.
        InputError: it is not such a file.
    """
    try:
        import h5py
    except ImportError as error:
        raise UsageError(f"{path}: to read it: pip install 'pair2vec[elmo]'") from error
    try:
        content = h5py.File(path, "r")
    except OSError as error:
        raise InputError(f"{path}: cannot be read as HDF5: {error}") from error
    with content:
        yield WeightFile(path, content)

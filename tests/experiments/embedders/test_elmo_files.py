"""ELMo's files: damage is named in one line."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.experiments.embedders.small_elmo import Weights, small_options, small_weights, write_elmo

from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.embedders.elmo import Elmo


def message_of(folder: Path, kind: type[Exception] = InputError) -> str:
    with pytest.raises(kind) as caught:
        Elmo.open(folder)
    message = str(caught.value)
    assert "\n" not in message
    return message


def every_key(options: dict[str, Any], before: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    keys = []
    for key, value in options.items():
        inner = every_key(value, (*before, key)) if isinstance(value, dict) else [(*before, key)]
        keys += inner
    return keys


def with_option(keys: tuple[str, ...], change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    options = json.loads(json.dumps(small_options()))
    inner = options
    for key in keys[:-1]:
        inner = inner[key]
    change(inner)
    return dict(options)


@pytest.mark.parametrize(
    "keys",
    [keys for keys in every_key(small_options()) if keys[-1] != "n_characters"],
    ids=".".join,
)
def test_a_missing_option_is_named(keys: tuple[str, ...], tmp_path: Path) -> None:
    options = with_option(keys, lambda inner: inner.pop(keys[-1]))
    message = message_of(write_elmo(tmp_path, options, small_weights()))
    assert "options.json: has no " + ".".join(keys) in message


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("lstm.dim", 0, "a whole number of 1 or more"),
        ("lstm.dim", 7.5, "a whole number of 1 or more"),
        ("lstm.n_layers", True, "a whole number of 1 or more"),
        ("lstm.cell_clip", -3, "a number above 0"),
        ("lstm.proj_clip", None, "a number above 0"),
        ("lstm.use_skip_connections", "yes", "true or false"),
        ("char_cnn.activation", "gelu", "relu or tanh"),
        ("char_cnn.max_characters_per_token", 2, "a whole number of 3 or more"),
        ("char_cnn.filters", [[13, 2]], "a list of [width, number], no width above 12"),
        ("char_cnn.filters", [[1, 2, 3]], "a list of [width, number], no width above 12"),
        ("char_cnn.filters", [], "a list of [width, number], no width above 12"),
        ("char_cnn.filters", 3, "a list of [width, number], no width above 12"),
    ],
)
def test_an_invalid_option_is_named(name: str, value: object, wanted: str, tmp_path: Path) -> None:
    keys = tuple(name.split("."))
    options = with_option(keys, lambda inner: inner.update({keys[-1]: value}))
    message = message_of(write_elmo(tmp_path, options, small_weights()))
    assert f"options.json: {name} is {json.dumps(value)}; it must be {wanted}" in message


@pytest.mark.parametrize("name", small_weights())
def test_a_missing_dataset_is_named(name: str, tmp_path: Path) -> None:
    weights = small_weights()
    del weights[name]
    message = message_of(write_elmo(tmp_path, small_options(), weights))
    assert f"weights.hdf5: has no dataset {name}" in message


@pytest.mark.parametrize("name", small_weights())
def test_a_dataset_of_another_shape_is_named(name: str, tmp_path: Path) -> None:
    weights: Weights = small_weights()
    shape = weights[name].shape
    weights[name] = np.zeros((shape[0] + 1, *shape[1:]), np.float32)
    message = message_of(write_elmo(tmp_path, small_options(), weights))
    assert f"weights.hdf5: {name} has shape {[shape[0] + 1, *shape[1:]]}" in message
    assert message.endswith(f" {list(shape)}")


def test_files_of_another_format_are_named(tmp_path: Path) -> None:
    folder = write_elmo(tmp_path, small_options(), small_weights())
    (folder / "weights.hdf5").write_bytes(b"no such thing")
    assert "weights.hdf5: cannot be read as HDF5" in message_of(folder)
    write_elmo(tmp_path, small_options(), small_weights())
    (folder / "options.json").write_bytes(b"\xff{")
    assert "options.json: cannot be read as JSON" in message_of(folder)
    (folder / "options.json").write_text("[1, 2]")
    assert "options.json: has no char_cnn." in message_of(folder)


def test_values_that_are_no_numbers_are_named(tmp_path: Path) -> None:
    weights: dict[str, Any] = small_weights()
    weights["CNN_proj/b_proj"] = np.array([b"a"] * len(weights["CNN_proj/b_proj"]))
    message = message_of(write_elmo(tmp_path, small_options(), weights))
    assert "weights.hdf5: CNN_proj/b_proj cannot be read: " in message


def test_one_file_of_each_kind_is_required(tmp_path: Path) -> None:
    folder = write_elmo(tmp_path, small_options(), small_weights())
    (folder / "others.hdf5").touch()
    assert "has 1 files *options.json and 2 *.hdf5; an ELMo model is one" in message_of(folder)


def test_a_missing_library_is_named_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_elmo(tmp_path, small_options(), small_weights())
    monkeypatch.setitem(sys.modules, "h5py", None)
    assert message_of(folder, UsageError).endswith("pip install 'pair2vec[elmo]'")

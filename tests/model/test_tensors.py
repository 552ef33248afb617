"""The tensors file: against the safetensors library, broken headers, precisions, rows."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray
from safetensors.numpy import load, load_file, save_file

from pair2vec.errors import InputError, UsageError
from pair2vec.model.tensors import (
    Arrays,
    Precision,
    Rows,
    is_marked,
    map_tensors,
    quantise_rows,
    stored_arrays,
    tensor_bytes,
)

DTYPES = st.sampled_from([np.float32, np.float16, np.int8, np.int64])
ARRAYS = DTYPES.flatmap(
    lambda dtype: arrays(
        dtype,
        array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
        elements={"allow_nan": False} if np.issubdtype(dtype, np.floating) else None,
    )
)


def assert_same(actual: Arrays, expected: Arrays) -> None:
    assert actual.keys() == expected.keys()
    for name, array in expected.items():
        assert actual[name].dtype == array.dtype
        np.testing.assert_array_equal(actual[name], array, strict=True)


@given(tensors=st.dictionaries(st.text("abé.", min_size=1), ARRAYS, max_size=4))
def test_we_and_the_safetensors_library_read_the_same(
    tmp_path_factory: pytest.TempPathFactory, tensors: Arrays
) -> None:
    path = tmp_path_factory.mktemp("tensors") / "t.safetensors"
    path.write_bytes(tensor_bytes(tensors))
    assert_same(load_file(path), tensors)
    assert_same(map_tensors(path), tensors)


def test_a_file_of_the_library_is_read_and_not_taken_for_ours(tmp_path: Path) -> None:
    path = tmp_path / "t.safetensors"
    tensors: Arrays = {"a": np.arange(3, dtype=np.int8), "b": np.ones((2, 3), np.float32)}
    save_file(dict(tensors), path)
    assert_same(map_tensors(path), tensors)
    assert not is_marked(path)
    path.write_bytes(tensor_bytes(tensors))
    assert is_marked(path)


def test_a_transposed_array_is_saved_as_it_reads() -> None:
    table = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(load(tensor_bytes({"t": table.T}))["t"], table.T)


def test_a_file_cut_anywhere_or_grown_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.safetensors"
    content = tensor_bytes({"a": np.ones((2, 2), np.float32), "b": np.ones(1, np.int8)})
    for end in range(len(content)):
        path.write_bytes(content[:end])
        with pytest.raises(InputError, match=r"t\.safetensors: "):
            map_tensors(path)
    path.write_bytes(content + b"\0")
    with pytest.raises(InputError, match="bytes where its header says"):
        map_tensors(path)


@pytest.mark.parametrize(
    "header",
    [
        b"not json",
        b"[]",
        b'{"a": 3}',
        *(
            json.dumps({"a": entry}).encode()
            for entry in (
                {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]},
                {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]},
                {"dtype": "F32", "shape": [-1], "data_offsets": [4, 0]},
                {"dtype": "F32", "shape": [1], "data_offsets": [-4, 0]},
                {"dtype": "F32", "shape": [1], "data_offsets": [0.0, 4.0]},
                {"dtype": "F32", "shape": [1]},
            )
        ),
    ],
)
def test_a_header_that_contradicts_itself_is_refused(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "t.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"\0" * 4)
    with pytest.raises(InputError, match=r"t\.safetensors: its header"):
        map_tensors(path)
    assert not is_marked(path)


def test_a_pointer_left_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.safetensors"
    path.write_text("version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(InputError, match="not a safetensors file"):
        map_tensors(path)


def tables(largest: float) -> st.SearchStrategy[NDArray[np.float32]]:
    bound = float(np.float32(largest))
    shape = array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=6)
    return arrays(np.float32, shape, elements=st.floats(-bound, bound, width=32))


@given(tables(1e30))
def test_int8_moves_no_value_by_more_than_half_its_rows_scale(table: NDArray[np.float32]) -> None:
    values, scale = quantise_rows(table)
    assert values.dtype == np.int8
    assert scale.dtype == np.float32
    moved = np.abs(table.astype(np.float64) - Rows(values, scale)[...])
    # The division and the product are rounded as well, to 2⁻²⁴ of at most 127 scales.
    assert (moved <= scale[:, np.newaxis] * (0.5 + 127 * 2**-22)).all()


@given(tables(1e30))
def test_int8_uses_its_whole_range_in_each_row(table: NDArray[np.float32]) -> None:
    values, _ = quantise_rows(table)
    largest = np.abs(table).max(axis=1)
    in_range = largest > 1e-30
    assert (np.abs(values.astype(int)).max(axis=1)[in_range] == 127).all()
    assert values.min() >= -127


def test_int8_keeps_zero_rows_zero_beside_rows_of_any_size() -> None:
    table = np.array([[0, 0], [1e-45, -1e-45], [1e30, 1]], np.float32)
    actual = Rows(*quantise_rows(table))[...]
    assert actual[0].tolist() == [0, 0]
    assert np.isfinite(actual).all()
    assert math.isclose(actual[2, 0], 1e30, rel_tol=1e-6)


@given(tables(65504))
def test_float16_keeps_eleven_bits(table: NDArray[np.float32]) -> None:
    stored = stored_arrays({"t": table}, "float16")["t"]
    assert stored.dtype == np.float16
    moved = np.abs(table.astype(np.float64) - Rows(stored)[...])
    assert (moved <= np.maximum(np.abs(table) * 2.0**-11, 2.0**-25)).all()


def test_a_value_above_float16_is_refused_by_name() -> None:
    table = np.array([[1, 70_000], [0, 0]], np.float32)
    with pytest.raises(UsageError, match=r"'pair\.words'.* 70000 is above 65504.*float32 or int8"):
        stored_arrays({"pair.words": table}, "float16")


@pytest.mark.parametrize(
    ("precision", "dtypes"),
    [
        ("float32", {"table": "float32", "one_row": "float32", "bias": "float32"}),
        ("float16", {"table": "float16", "one_row": "float16", "bias": "float32"}),
        (
            "int8",
            {"table": "int8", "table.scale": "float32", "one_row": "float32", "bias": "float32"},
        ),
    ],
)
def test_only_tables_lose_precision(precision: Precision, dtypes: dict[str, str]) -> None:
    tensors = {
        "table": np.ones((3, 2), np.float32),
        "one_row": np.ones((1, 2), np.float32),
        "bias": np.full(2, 1e6, np.float32),
    }
    stored = stored_arrays(tensors, precision)
    assert {name: array.dtype.name for name, array in stored.items()} == dtypes


@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_model_that_diverged_is_refused(precision: Precision, bad: float) -> None:
    with pytest.raises(UsageError, match="'t': has values that are not finite"):
        stored_arrays({"t": np.array([[1, bad], [0, 0]], np.float32)}, precision)


def test_float64_and_unknown_precisions_are_refused() -> None:
    with pytest.raises(UsageError, match="'t': is float64"):
        stored_arrays({"t": np.ones((2, 2))}, "float32")  # type: ignore[dict-item]
    with pytest.raises(UsageError, match="'int4'; it must be one of float32, float16, int8"):
        stored_arrays({}, "int4")  # type: ignore[arg-type]


def test_a_name_that_int8_needs_for_scales_is_refused_only_there() -> None:
    tensors = {"norm": np.ones((2, 2), np.float32), "norm.scale": np.ones(2, np.float32)}
    assert set(stored_arrays(tensors, "float16")) == set(tensors)
    with pytest.raises(UsageError, match=r"'norm\.scale': int8 needs this name"):
        stored_arrays(tensors, "int8")


@given(
    arrays(np.intp, array_shapes(min_dims=0, max_dims=3, min_side=0), elements=st.integers(-5, 4))
)
def test_rows_of_ids_of_any_shape_equal_those_of_the_whole_table(ids: NDArray[np.intp]) -> None:
    table = np.linspace(-1, 1, 15, dtype=np.float32).reshape(5, 3)
    for rows in (Rows(table), Rows(table.astype(np.float16)), Rows(*quantise_rows(table))):
        actual = rows[ids]
        assert actual.dtype == np.float32
        assert actual.shape == (*ids.shape, 3)
        np.testing.assert_array_equal(actual, rows[...][ids])


def test_rows_take_ints_slices_masks_and_lists_even_empty() -> None:
    table = np.linspace(-1, 1, 15, dtype=np.float32).reshape(5, 3)
    rows = Rows(*quantise_rows(table))
    whole = rows[...]
    assert rows.shape == (5, 3)
    assert len(rows) == 5
    np.testing.assert_array_equal(rows[2], whole[2])
    np.testing.assert_array_equal(rows[1:4], whole[1:4])
    np.testing.assert_array_equal(rows[(1, 3)], whole[[1, 3]])
    np.testing.assert_array_equal(rows[whole[:, 0] > 0], whole[whole[:, 0] > 0])
    assert rows[[]].shape == (0, 3)

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from safetensors.numpy import load, load_file, save_file

from pair2vec.errors import InputError
from pair2vec.model.tensors import Arrays, is_marked, map_tensors, tensor_bytes

DTYPES = st.sampled_from([np.float32, np.float16, np.int8, np.int64])
ARRAYS = DTYPES.flatmap(
    lambda dtype: arrays(
        dtype,
        array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
        elements={"allow_nan": False} if np.issubdtype(dtype, np.floating) else None,
    )
)


def assert_same(found: Arrays, expected: Arrays) -> None:
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array, strict=True)


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

"""Checkpoints: at every moment there is a whole one."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from pair2vec.errors import InputError
from pair2vec.training.checkpoint import (
    Checkpoint,
    checkpoint_path,
    last_checkpoint,
    last_step,
    write_checkpoint,
)


def make(step: int) -> Checkpoint:
    tensors = {
        "network.weight": torch.full((2, 3), float(step)).T,
        "optimiser.mean": torch.arange(4, dtype=torch.float64),
        "generator": torch.Generator().manual_seed(step).get_state(),
    }
    return Checkpoint(step, tensors, {"place": [0, 1, 2], "best": float("inf"), "none": None})


def assert_same(actual: Checkpoint | None, expected: Checkpoint) -> None:
    assert actual is not None
    assert (actual.step, actual.state) == (expected.step, expected.state)
    assert set(actual.tensors) == set(expected.tensors)
    for name, tensor in expected.tensors.items():
        assert actual.tensors[name].dtype == tensor.dtype
        assert torch.equal(actual.tensors[name], tensor)


def test_a_checkpoint_survives_its_file(tmp_path: Path) -> None:
    path = write_checkpoint(tmp_path / "new", make(7))
    assert path == checkpoint_path(tmp_path / "new", 7)
    assert_same(last_checkpoint(tmp_path / "new"), make(7))


def test_a_parameter_is_saved_as_its_values(tmp_path: Path) -> None:
    weight = torch.nn.Parameter(torch.ones(2))
    write_checkpoint(tmp_path, Checkpoint(1, {"weight": weight}, {}))
    checkpoint = last_checkpoint(tmp_path)
    assert checkpoint is not None
    assert not checkpoint.tensors["weight"].requires_grad


def test_without_a_checkpoint_there_is_none(tmp_path: Path) -> None:
    assert last_checkpoint(tmp_path) is None
    assert last_checkpoint(tmp_path / "missing") is None


def test_only_the_last_two_are_kept(tmp_path: Path) -> None:
    for step in (5, 10, 100, 20_000):
        write_checkpoint(tmp_path, make(step))
    kept = [checkpoint_path(tmp_path, 100), checkpoint_path(tmp_path, 20_000)]
    assert sorted(tmp_path.iterdir()) == kept
    assert_same(last_checkpoint(tmp_path), make(20_000))


def test_a_step_may_be_written_again(tmp_path: Path) -> None:
    for step in (5, 10, 10):
        write_checkpoint(tmp_path, make(step))
    assert len(list(tmp_path.iterdir())) == 2
    assert_same(last_checkpoint(tmp_path), make(10))


@pytest.mark.parametrize("left", [0, 1, 4, 8, 100, -1])
def test_a_truncated_newest_file_falls_back_to_the_one_before(tmp_path: Path, left: int) -> None:
    write_checkpoint(tmp_path, make(5))
    newest = write_checkpoint(tmp_path, make(10))
    newest.write_bytes(newest.read_bytes()[:left])
    assert_same(last_checkpoint(tmp_path), make(5))


def test_any_flipped_bit_is_found_and_the_one_before_is_taken_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_checkpoint(tmp_path, make(5))
    newest = write_checkpoint(tmp_path, make(10))
    content = newest.read_bytes()
    for position in range(0, len(content), 23):
        damaged = bytearray(content)
        damaged[position] ^= 1 << position % 8
        newest.write_bytes(damaged)
        caplog.clear()
        assert_same(last_checkpoint(tmp_path), make(5))
        assert caplog.messages == [f"{newest}: is damaged; the checkpoint of step 5 is taken"]
    newest.write_bytes(content)
    assert_same(last_checkpoint(tmp_path), make(10))


def test_zeroed_blocks_are_found(tmp_path: Path) -> None:
    big = Checkpoint(5, {"weight": torch.ones(5_000)}, {})
    path = write_checkpoint(tmp_path, big)
    content = path.read_bytes()
    for start in range(0, len(content), 4096):
        path.write_bytes(content[:start] + bytes(4096) + content[start + 4096 :])
        with pytest.raises(InputError, match=r"all checkpoints are damaged \(step-000000005"):
            last_checkpoint(tmp_path)


def test_a_run_that_fell_back_replaces_what_is_damaged(tmp_path: Path) -> None:
    for step in (5, 10):
        write_checkpoint(tmp_path, make(step))
    checkpoint_path(tmp_path, 10).write_bytes(b"damaged")
    write_checkpoint(tmp_path, make(8))
    assert last_step(tmp_path) == 8
    assert sorted(tmp_path.iterdir()) == [checkpoint_path(tmp_path, step) for step in (5, 8)]


def test_a_checkpoint_of_a_version_without_checksums_is_read(tmp_path: Path) -> None:
    checkpoint = make(7)
    tensors = {name: tensor.contiguous() for name, tensor in checkpoint.tensors.items()}
    metadata = {"state": json.dumps(checkpoint.state), "step": "7"}
    save_file(tensors, checkpoint_path(tmp_path, 7), metadata=metadata)
    assert_same(last_checkpoint(tmp_path), checkpoint)


def test_a_newest_file_without_its_metadata_falls_back_to_the_one_before(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, make(5))
    save_file({"weight": torch.ones(2)}, checkpoint_path(tmp_path, 10))
    assert_same(last_checkpoint(tmp_path), make(5))


def test_what_a_killed_process_was_writing_is_not_taken_for_a_checkpoint(tmp_path: Path) -> None:
    path = write_checkpoint(tmp_path, make(5))
    (tmp_path / f"{checkpoint_path(tmp_path, 10).name}.123.partial").write_bytes(path.read_bytes())
    assert_same(last_checkpoint(tmp_path), make(5))

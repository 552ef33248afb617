"""Checkpoints: everything needed to resume a run, as tensors and JSON in one safetensors file.

One is written under a temporary name, forced to disk, then renamed; the one before it stays until
then, so that at every moment there is a complete one.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from pair2vec.runtime.storage import PARTIAL, write_file

_KEPT = 2


@dataclass(frozen=True)
class Checkpoint:
    """The state of a run after some step."""

    step: int
    tensors: dict[str, Tensor]
    state: dict[str, Any]
    """What is not a tensor: JSON."""


def checkpoint_path(folder: Path, step: int) -> Path:
    return folder / f"step-{step:09d}.safetensors"


def write_checkpoint(folder: Path, checkpoint: Checkpoint) -> Path:
    """Write a checkpoint, and remove all but the last two."""
    folder.mkdir(parents=True, exist_ok=True)
    path = checkpoint_path(folder, checkpoint.step)
    tensors = {
        name: tensor.detach().cpu().contiguous() for name, tensor in checkpoint.tensors.items()
    }
    state = {"state": json.dumps(checkpoint.state), "step": str(checkpoint.step)}
    write_file(path, save(tensors, metadata=state))
    for old in [*sorted(folder.glob("step-*.safetensors"))[:-_KEPT], *folder.glob(f"*{PARTIAL}")]:
        old.unlink()
    return path


def last_checkpoint(folder: Path) -> Checkpoint | None:
    """The newest checkpoint that can be read, or None."""
    for path in sorted(folder.glob("step-*.safetensors"), reverse=True):
        try:
            return _read(path)
        except (SafetensorError, KeyError, TypeError, ValueError):
            continue
    return None


def _read(path: Path) -> Checkpoint:
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    return Checkpoint(int(metadata["step"]), tensors, json.loads(metadata["state"]))

"""Checkpoints: everything needed to resume a run, as tensors and JSON in one safetensors file.

One is written under a temporary name, forced to disk, then renamed; the one before it stays until
then, so that at every moment there is a complete one. The metadata have a checksum of the file.
"""

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor

from pair2vec.errors import InputError
from pair2vec.runtime.checksums import UNSEALED, read_tensor_metadata, write_tensors
from pair2vec.runtime.jobs import JOB_FILE
from pair2vec.runtime.storage import PARTIAL

_KEPT = 2
_NAMES = "step-*.safetensors"

_log = logging.getLogger(__name__)


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
    """Write a checkpoint, and remove all but the last two up to it.

    A later one that is there could not be read when the run was resumed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = checkpoint_path(folder, checkpoint.step)
    tensors = {
        name: tensor.detach().cpu().contiguous() for name, tensor in checkpoint.tensors.items()
    }
    metadata = {
        "state": json.dumps(checkpoint.state),
        "step": str(checkpoint.step),
        **UNSEALED,
    }
    write_tensors(path, save(tensors, metadata=metadata))
    kept = [other for other in sorted(folder.glob(_NAMES)) if other.name <= path.name][-_KEPT:]
    for other in {*folder.glob(_NAMES), *folder.glob(f"*{PARTIAL}")} - {*kept}:
        other.unlink()
    return path


def last_step(folder: Path) -> int | None:
    """The step of the newest checkpoint, by its name alone; None where there is none."""
    steps = (path.stem.removeprefix("step-") for path in folder.glob(_NAMES))
    return max((int(step) for step in steps if step.isdecimal()), default=None)


def check_begun(folder: Path) -> None:
    """Refuse checkpoints of a job that is not known: to begin another would delete them.

    Raises:
        InputError: there are some, and no job file.
    """
    if last_step(folder) is not None and not (folder / JOB_FILE).exists():
        raise InputError(
            f"{folder}: has checkpoints, but no {JOB_FILE} that says what they are of; copy it "
            "again, or start over with --overwrite"
        )


def last_checkpoint(folder: Path) -> Checkpoint | None:
    """The newest checkpoint that is not damaged, with a warning of each that is; None without any.

    Raises:
        InputError: all of them are damaged.
    """
    damaged = []
    for path in sorted(folder.glob(_NAMES), reverse=True):
        try:
            checkpoint = _read(path)
        except (SafetensorError, OSError, KeyError, TypeError, ValueError, RecursionError) as error:
            damaged.append(path)
            _log.debug("%s: %s", path, error)
            continue
        for other in damaged:
            step = checkpoint.step
            _log.warning("%s: is damaged; the checkpoint of step %d is taken", other, step)
        return checkpoint
    if damaged:
        names = " and ".join(path.name for path in damaged)
        raise InputError(
            f"{folder}: all checkpoints are damaged ({names}): there is nothing to resume from; "
            "start over with --overwrite"
        )
    return None


def _read(path: Path) -> Checkpoint:
    metadata = read_tensor_metadata(path, older={"state", "step"})
    return Checkpoint(int(metadata["step"]), load_file(path), json.loads(metadata["state"]))

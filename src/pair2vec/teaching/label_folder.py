"""The folder that a label job writes and students learn from.

- ``pairs.safetensors``: candidates with their sources, and the labelled pairs of each part;
- ``teacher.safetensors``: the fine-tuned language model;
- ``labels-000.safetensors`` and so on: the teachers' probabilities for pieces of the candidates;
- ``labels.json``: written last; its presence means that the labels are complete.

Files have checksums.
"""

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file

from pair2vec.errors import InputError
from pair2vec.runtime.checksums import read_checksums, read_tensor_metadata
from pair2vec.teaching.candidates import Candidates
from pair2vec.teaching.labels import LabelledPairs, Part, RelationNames
from pair2vec.teaching.relation_task import TaughtPairs

_log = logging.getLogger(__name__)

MIXED: Literal["mixed"] = "mixed"
"""The name of pairs of a word of *dev* and one of *train*."""
PAIRS_FILE, TEACHER_FILE, LABELS_FILE = "pairs.safetensors", "teacher.safetensors", "labels.json"
_REPAIR_HINT = f"delete {LABELS_FILE} and give the same command with --resume to make it again"


@dataclass(frozen=True)
class Labels:
    """A folder of labels."""

    folder: Path
    relations: RelationNames
    facts: dict[str, Any]
    """What ``labels.json`` says."""
    _pairs: dict[str, NDArray[Any]]

    @classmethod
    def open(cls, folder: Path) -> "Labels":
        path = folder / LABELS_FILE
        try:
            facts = json.loads(path.read_bytes())
            read_checksums(path, facts, _REPAIR_HINT)
            relations = RelationNames(tuple(facts["names"]), tuple(facts["inverse"]))
        except InputError:
            raise
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(f"{path}: is damaged; {_REPAIR_HINT}") from error
        return cls(folder, relations, facts, read_arrays(folder / PAIRS_FILE))

    def labelled(self, part: Part | Literal["mixed"]) -> LabelledPairs:
        """The pairs of WordNet of a part, or those of mixed parts."""
        return read_labelled(self._pairs, part)

    def candidates(self) -> Candidates:
        """What the teachers labelled."""
        names = ("x", "y", "source")
        return Candidates(*(self._pairs[f"candidates.{name}"] for name in names))

    def taught(self) -> TaughtPairs:
        """The candidates with the teachers' probabilities."""
        candidates = self.candidates()
        pieces = sorted(self.folder.glob("labels-*.safetensors"))
        probabilities = [read_arrays(path)["probabilities"] for path in pieces]
        if sum(map(len, probabilities)) != len(candidates.x):
            raise InputError(f"{self.folder}: a piece of the labels is missing; {_REPAIR_HINT}")
        return TaughtPairs(candidates.x, candidates.y, np.concatenate(probabilities))


def remove_labels(folder: Path) -> None:
    """Delete what a job writes, and nothing else of a folder that a user named."""
    # First the file without which nothing else is taken for labels.
    names = (LABELS_FILE, PAIRS_FILE, TEACHER_FILE)
    for path in [*map(folder.joinpath, names), *folder.glob("labels-*.safetensors")]:
        path.unlink(missing_ok=True)


def is_sealed(path: Path) -> bool:
    """Whether a file of a job is there and not damaged; one that is damaged is to be made again."""
    if not path.exists():
        return False
    try:
        read_tensor_metadata(path)
    except InputError as error:
        _log.warning("%s; it is made again", error)
        return False
    return True


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file of labels.

    Raises:
        InputError: it is not there, or damaged.
    """
    if not path.exists():
        raise InputError(f"{path}: no such file; {_REPAIR_HINT}")
    try:
        read_tensor_metadata(path)
        return load_file(path)
    except (InputError, SafetensorError) as error:
        raise InputError(f"{path}: is damaged; {_REPAIR_HINT}") from error


def read_labelled(arrays: dict[str, NDArray[Any]], part: str) -> LabelledPairs:
    """The labelled pairs of a part, of the arrays of ``pairs.safetensors``."""
    return LabelledPairs(*(arrays[f"{part}.{name}"] for name in LabelledPairs._fields))

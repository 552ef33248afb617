"""Job: a training in a folder, begun once, and gone on with as it was begun."""

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

from pair2vec.atomic import write_whole
from pair2vec.errors import UsageError
from pair2vec.supervised.network_kind import NetworkKind
from pair2vec.supervised.saved_network import CONFIG, TRAINING, check_place

_JOB = "job.json"


class Job(NamedTuple):
    """What is trained, and where."""

    kind: NetworkKind[Any, Any]
    out: Path
    content: dict[str, Any]
    """Its inputs, settings and data: all that must be the same to go on."""

    @property
    def folder(self) -> Path:
        """For checkpoints."""
        return self.out / TRAINING

    @property
    def has_network(self) -> bool:
        """Whether a complete one is there."""
        return (self.out / CONFIG).exists()

    @property
    def is_begun(self) -> bool:
        """Whether a training was, this one or another."""
        return (self.folder / _JOB).exists()

    def is_complete(self) -> bool:
        """Whether there is nothing left to do."""
        return self.has_network and self.is_begun and self._is_same()

    def _is_same(self) -> bool:
        begun = json.loads((self.folder / _JOB).read_bytes())
        return bool(begun == json.loads(json.dumps(self.content)))

    def claim(self, *, resume: bool, overwrite: bool) -> None:
        """Leave in the folder only what this job may go on from.

        Raises:
            UsageError: there is something that was not asked for to be replaced.
        """
        check_place(self.kind, self.out)
        if resume and not self.is_begun and self.has_network and not overwrite:
            raise UsageError(
                f"{self.out}: holds {self.kind.one}, but no training to resume; --overwrite "
                "replaces it"
            )
        if self.is_begun and resume and not self._is_same():
            raise UsageError(
                f"{self.out}: was begun with other examples, inputs or settings; resume with the "
                "same ones, or --overwrite"
            )
        if not resume and (self.is_begun or self.has_network):
            if not overwrite:
                begun = "a begun training: --resume goes on with it"
                found = self.kind.one if self.has_network else begun
                raise UsageError(f"{self.out}: already holds {found}; --overwrite replaces it")
            (self.out / CONFIG).unlink(missing_ok=True)
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self.folder / _JOB, json.dumps(self.content, indent=2).encode())

    def remove_checkpoints(self) -> None:
        """They are many times the network's size, and it is complete."""
        for path in self.folder.glob("step-*.safetensors"):
            path.unlink()

"""Plateau: what the dev scores of a run say of its learning rate and of its end."""

import math
from dataclasses import asdict, dataclass
from typing import Self


@dataclass
class Plateau:
    """The rate falls when the score does not rise, and the run ends when it has not for long."""

    rate: float
    best: float = -math.inf
    epochs_since_best: int = 0
    epochs_since_fall: int = 0
    """Epochs without a higher score since the rate fell, or since the best one."""

    def observe(self, score: float, *, factor: float, patience: int) -> bool:
        """Take in the score of an epoch; True if it is the best so far."""
        if score > self.best:
            self.best, self.epochs_since_best, self.epochs_since_fall = score, 0, 0
            return True
        self.epochs_since_best += 1
        self.epochs_since_fall += 1
        if self.epochs_since_fall > patience:
            self.rate *= factor
            self.epochs_since_fall = 0
        return False

    def to_json(self) -> dict[str, float | None]:
        """For a checkpoint; JSON has no infinity."""
        return {**asdict(self), "best": self.best if math.isfinite(self.best) else None}

    @classmethod
    def from_json(cls, saved: dict[str, float | None]) -> Self:
        """What `to_json` made."""
        best = saved["best"]
        return cls(**{**saved, "best": -math.inf if best is None else best})  # type: ignore[arg-type]

"""How a network learns from labelled examples; the defaults are those of AllenNLP's ESIM."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pair2vec.errors import UsageError
from pair2vec.training.settings import Settings, assign, with_settings

OPTIMISERS = ("adam", "adamw")


@dataclass(frozen=True, kw_only=True, slots=True)
class SupervisedConfig:
    """The batches, the optimiser, and when to stop."""

    batch: int = 32
    epochs: int = 75
    """The most; `patience` ends most runs long before."""
    optimiser: str = "adam"
    """"adam", or "adamw" with weights that decay by `decay`."""
    rate: float = 4e-4
    decay: float = 0.0
    clip: float = 10.0
    """The largest norm of the gradient; 0 clips nothing."""
    rate_factor: float = 0.5
    """What the rate is multiplied by when the dev score does not rise."""
    rate_patience: int = 0
    """Epochs without a higher score before that happens."""
    patience: int = 5
    """Stop after so many epochs without a higher score; 0 never does."""
    pool: int = 1000
    """Batches are cut from examples sorted by length among so many batches of shuffled ones."""
    seed: int = 0
    threads: int = 0
    """Of torch on a CPU; 0 leaves it to torch."""
    report_steps: int = 100
    checkpoint_epochs: int = 1
    """A checkpoint is written after so many epochs (0: after none)..."""
    checkpoint_minutes: float = 10.0
    """... and so long after the last one."""

    def __post_init__(self) -> None:
        if self.optimiser not in OPTIMISERS:
            raise UsageError(
                f"training.optimiser is {self.optimiser!r}; it must be one of "
                f"{', '.join(OPTIMISERS)}"
            )
        for name in ("batch", "epochs", "pool", "report_steps"):
            if getattr(self, name) < 1:
                raise UsageError(f"training.{name} is {getattr(self, name)}; it must be 1 or more")
        for name in ("decay", "clip", "rate_patience", "patience", "threads", "checkpoint_epochs"):
            if getattr(self, name) < 0:
                raise UsageError(f"training.{name} is {getattr(self, name)}; it must be 0 or more")
        for name in ("rate", "checkpoint_minutes"):
            if not getattr(self, name) > 0:
                raise UsageError(f"training.{name} is {getattr(self, name)}; it must be above 0")
        if not 0 < self.rate_factor <= 1:
            raise UsageError(
                f"training.rate_factor is {self.rate_factor}; it must be above 0 and at most 1"
            )


def assigned(defaults: Settings, assignments: Iterable[str], seed: int) -> Settings:
    """The settings of a task, changed by ``key=value``s as in ``training.batch=256``."""
    changes: dict[str, Any] = {"training": {"seed": seed}}
    assign(changes, assignments)
    return with_settings(defaults, changes)

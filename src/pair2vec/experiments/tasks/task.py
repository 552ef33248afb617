"""Task: what the loop must be told of what is to be learnt."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, field
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypedDict, TypeVar

import torch
from torch import Tensor, nn

from pair2vec.arrays import Int64Array
from pair2vec.errors import UsageError
from pair2vec.experiments.tasks.inputs import Inputs, PairsConfig
from pair2vec.runtime.cuda_graphs import BatchT
from pair2vec.training.recipes import ConfigT, assign, with_settings

DevScores = dict[str, float]
"""By name, of the dev examples."""


class Learning(Protocol[BatchT]):
    """A network, and the examples it learns from."""

    @property
    def network(self) -> nn.Module:
        """Of which the parameters that want a gradient are learnt, and saved."""

    @property
    def sizes(self) -> Int64Array:
        """How long each example is, (E, k)."""

    def batch(self, numbers: Int64Array) -> BatchT:
        """The examples of these numbers, on the CPU; may be called by another thread."""

    def precompute(self, batch: BatchT) -> BatchT:
        """A batch with all work done on it that is frozen."""

    def measure(self, batch: BatchT) -> dict[str, Tensor]:
        """Means over a batch: ``loss``, which is made small, and others to be shown.

        On a GPU it is recorded: it may not wait for the device, nor depend on more than shapes.
        """


class Task(Learning[BatchT], Protocol[BatchT]):
    """And how well it does on others."""

    def score_dev(self) -> DevScores:
        """``score``, the higher the better, and others to be shown; the network is in eval mode."""


# == How a network learns from labelled examples; the defaults are those of AllenNLP's ESIM.


TASK_OPTIMISERS = ("adam", "adamw")


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
        if self.optimiser not in TASK_OPTIMISERS:
            raise UsageError(
                f"training.optimiser is {self.optimiser!r}; it must be one of "
                f"{', '.join(TASK_OPTIMISERS)}"
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


def assigned(defaults: ConfigT, assignments: Iterable[str], seed: int) -> ConfigT:
    """The settings of a task, changed by ``key=value``s as in ``training.batch=256``."""
    changes: dict[str, Any] = {"training": {"seed": seed}}
    assign(changes, assignments)
    return with_settings(defaults, changes)


# == Kinds of networks: what is said once for each task of what all tasks do alike.


class TaskSettings(Protocol):
    """All settings of a task: a frozen dataclass of groups, of which every task has these two."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def pairs(self) -> PairsConfig:
        """How pairs of words go into the network."""

    @property
    def training(self) -> SupervisedConfig:
        """How it learns."""


SettingsT = TypeVar("SettingsT", bound=TaskSettings)
NetworkT = TypeVar("NetworkT", bound=nn.Module)


@dataclass(frozen=True, kw_only=True)
class NetworkSpec(Generic[SettingsT, NetworkT]):
    """The networks of one task, and what their folders and messages call them."""

    name: str
    """In a config, which is told from others by it."""
    noun: str
    """As in "classifier"."""
    title: str
    """As in "an NLI classifier"."""
    model: str
    """The architecture, as in "esim"."""
    command: str
    """That trains one."""
    defaults: SettingsT
    make: Callable[[Inputs, SettingsT], NetworkT]
    """Draws the first weights from torch's generator."""
    format: int = 1
    """Of the folder."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """That stand in every config."""

    @property
    def one(self) -> str:
        """As in "a classifier"."""
        return f"{'an' if self.noun[0] in 'aeiou' else 'a'} {self.noun}"


class Trained(NamedTuple, Generic[NetworkT]):
    """A network that was trained, and what is known of it."""

    network: NetworkT
    config: Mapping[str, Any]
    device: torch.device


class LoadOptions(TypedDict, total=False):
    """How a saved network is opened, whatever its task; see `load_network`."""

    places: Mapping[str, str | None] | None
    device: str

"""A supervised task: what the loop trains, its settings, and the networks that are saved.

Shapes: E examples, k measures of how long one is.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, field
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, Protocol, TypedDict, TypeVar

import torch
from torch import Tensor, nn

from pair2vec.experiments.tasks.batches import BatchedExamples
from pair2vec.experiments.tasks.inputs import Inputs, PairsConfig
from pair2vec.ranges import (
    BatchSize,
    Count,
    Decay,
    Factor,
    GradientNorm,
    Minutes,
    OneOf,
    OptionalCount,
    Range,
    Seed,
    Threads,
    check_ranges,
)
from pair2vec.runtime.cuda_graphs import STEP_MODES, BatchT
from pair2vec.training.recipes import ConfigT, assign, with_settings

DevScores = dict[str, float]
"""By name, of the dev examples."""


class Trainable(BatchedExamples[BatchT], Protocol[BatchT]):
    """A network, and the examples it is trained on."""

    @property
    def network(self) -> nn.Module:
        """Its parameters with ``requires_grad`` are trained and saved."""

    def precompute(self, batch: BatchT) -> BatchT:
        """The batch with the outputs of all frozen layers computed."""

    def measure(self, batch: BatchT) -> dict[str, Tensor]:
        """Means over a batch: ``loss``, which is minimised, and other metrics.

        On a GPU it is captured in a CUDA graph: it must not wait for the device, and its control
        flow must depend on shapes alone.
        """


class Task(Trainable[BatchT], Protocol[BatchT]):
    """A trainable network with a score on dev examples, which selects the best weights."""

    def score_dev(self) -> DevScores:
        """``score``, the higher the better, and other metrics; the network is in eval mode."""


TASK_OPTIMISERS = ("adam", "adamw")


@dataclass(frozen=True, kw_only=True, slots=True)
class SupervisedConfig:
    """Batches, optimiser and early stopping; the defaults are those of AllenNLP's ESIM."""

    batch: BatchSize = 32
    epochs: Count = 75
    """At most; `patience` ends most runs long before."""
    optimiser: Annotated[str, OneOf(TASK_OPTIMISERS)] = "adam"
    """"adam", or "adamw" with decoupled weight decay by `decay`."""
    rate: Annotated[float, Range(above=0, most=10)] = 4e-4
    decay: Decay = 0.0
    clip: GradientNorm = 10.0
    """The largest norm of the gradient; 0 does not clip."""
    rate_factor: Factor = 0.5
    """What the rate is multiplied by when the dev score does not rise."""
    rate_patience: OptionalCount = 0
    """Epochs without a higher score before that happens."""
    patience: OptionalCount = 5
    """Stop after so many epochs without a higher score; 0 never does."""
    pool: Count = 1000
    """Batches are cut from examples sorted by length among so many batches of shuffled ones."""
    step_mode: Annotated[str, OneOf(STEP_MODES)] = "auto"
    """Which step runs: "plain" (eager), "cuda_graph" (a GPU only: captured once for each shape of
    batch, then replayed), or "auto", which is "cuda_graph" on a GPU and "plain" on a CPU."""
    seed: Seed = 0
    threads: Threads = 0
    """Of torch on a CPU; 0 leaves it to torch."""
    report_steps: Count = 100
    checkpoint_epochs: OptionalCount = 1
    """A checkpoint is written after so many epochs (0: after none)..."""
    checkpoint_minutes: Minutes = 10.0
    """... and so long after the last one."""

    def __post_init__(self) -> None:
        check_ranges(self)


def assigned(defaults: ConfigT, assignments: Iterable[str], seed: int) -> ConfigT:
    """The settings of a task, changed by assignments as in ``training.batch=256``."""
    changes: dict[str, Any] = {"training": {"seed": seed}}
    assign(changes, assignments)
    return with_settings(defaults, changes)


class TaskSettings(Protocol):
    """All settings of a task: a frozen dataclass of groups, of which every task has these two."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def pairs(self) -> PairsConfig:
        """How pair vectors enter the network."""

    @property
    def training(self) -> SupervisedConfig: ...


SettingsT = TypeVar("SettingsT", bound=TaskSettings)
NetworkT = TypeVar("NetworkT", bound=nn.Module)


@dataclass(frozen=True, kw_only=True)
class NetworkSpec(Generic[SettingsT, NetworkT]):
    """The networks of one task, and what their folders and messages call them."""

    name: str
    """The ``kind`` in a config."""
    noun: str
    """As in "classifier"."""
    title: str
    """As in "an NLI classifier"."""
    model: str
    """The architecture, as in "esim"."""
    command: str
    """The command that trains one."""
    defaults: SettingsT
    make: Callable[[Inputs, SettingsT], NetworkT]
    """Draws the initial weights from torch's global generator."""
    format: int = 1
    """Version of the folder's format."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Entries of every config."""

    @property
    def noun_phrase(self) -> str:
        """As in "a classifier"."""
        return f"{'an' if self.noun[0] in 'aeiou' else 'a'} {self.noun}"


class Trained(NamedTuple, Generic[NetworkT]):
    """A trained network and its config."""

    network: NetworkT
    config: Mapping[str, Any]
    device: torch.device


class LoadOptions(TypedDict, total=False):
    """How a saved network is opened, whatever its task; see `load_network`."""

    moved: Mapping[str, str | None] | None
    device: str

"""Kinds of networks: what is said once for each task of what all tasks do alike."""

from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import torch
from torch import nn

from pair2vec.supervised.inputs import Inputs, PairsConfig
from pair2vec.supervised.settings import SupervisedConfig


class TaskSettings(Protocol):
    """All settings of a task: a frozen dataclass of groups, of which every task has these two."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def pairs(self) -> PairsConfig:
        """How pairs of words go into the network."""

    @property
    def training(self) -> SupervisedConfig:
        """How it learns."""


Settings = TypeVar("Settings", bound=TaskSettings)
Network = TypeVar("Network", bound=nn.Module)


@dataclass(frozen=True, kw_only=True)
class NetworkKind(Generic[Settings, Network]):
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
    defaults: Settings
    make: Callable[[Inputs, Settings], Network]
    """Draws the first weights from torch's generator."""
    format: int = 1
    """Of the folder."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """That stand in every config."""

    @property
    def one(self) -> str:
        """As in "a classifier"."""
        return f"{'an' if self.noun[0] in 'aeiou' else 'a'} {self.noun}"


class Trained(NamedTuple, Generic[Network]):
    """A network that was trained, and what is known of it."""

    network: Network
    config: Mapping[str, Any]
    device: torch.device

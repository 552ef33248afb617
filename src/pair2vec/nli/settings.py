"""All settings of a classifier and of its training, beside the data and its inputs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pair2vec.nli.esim import EsimConfig
from pair2vec.supervised.inputs import PairsConfig
from pair2vec.supervised.settings import SupervisedConfig, assigned
from pair2vec.training.settings import with_settings


@dataclass(frozen=True, kw_only=True, slots=True)
class NliSettings:
    """The paper's: "AllenNLP's implementations with default hyperparameters"."""

    esim: EsimConfig = field(default_factory=EsimConfig)
    pairs: PairsConfig = field(default_factory=PairsConfig)
    training: SupervisedConfig = field(default_factory=SupervisedConfig)


def settings_of(assignments: Iterable[str], seed: int = 0) -> NliSettings:
    """The defaults, changed by ``key=value``s as in ``training.batch=256``."""
    return assigned(NliSettings(), assignments, seed)


def settings_from_json(saved: Mapping[str, Any]) -> NliSettings:
    """The settings that ``asdict`` made this of."""
    return with_settings(NliSettings(), saved)

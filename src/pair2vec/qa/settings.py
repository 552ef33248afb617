"""All settings of an answerer and of its training, beside the data and its inputs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pair2vec.errors import UsageError
from pair2vec.qa.bidaf import BidafConfig
from pair2vec.supervised.inputs import PairsConfig
from pair2vec.supervised.settings import SupervisedConfig, assigned
from pair2vec.training.settings import with_settings


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadingConfig:
    """What is read of passages, and taken for an answer."""

    max_words: int = 400
    """Of a passage at a time: learning ends there, answering goes on in parts."""
    longest_answer: int = 17
    """In words."""
    dev_questions: int = 2000
    """The best weights are chosen by about so many of the dev questions, evenly spread (0: all)."""

    def __post_init__(self) -> None:
        for name in ("max_words", "longest_answer"):
            if getattr(self, name) < 1:
                raise UsageError(f"qa.{name} is {getattr(self, name)}; it must be 1 or more")
        if self.dev_questions < 0:
            raise UsageError(f"qa.dev_questions is {self.dev_questions}; it must be 0 or more")
        # A part shares a quarter with the next: an answer must not be cut by all of them.
        if self.longest_answer > max(1, self.max_words // 4):
            raise UsageError(
                f"qa.longest_answer is {self.longest_answer}; it must be at most a quarter of "
                f"qa.max_words, {self.max_words}"
            )


def _learning() -> SupervisedConfig:
    return SupervisedConfig(batch=64, epochs=20, rate=1e-3, clip=5.0, rate_patience=0, patience=3)


@dataclass(frozen=True, kw_only=True, slots=True)
class QaSettings:
    """The network is that of Clark & Gardner (2018); it learns by Adam, in batches for a GPU."""

    bidaf: BidafConfig = field(default_factory=BidafConfig)
    pairs: PairsConfig = field(default_factory=PairsConfig)
    qa: ReadingConfig = field(default_factory=ReadingConfig)
    training: SupervisedConfig = field(default_factory=_learning)


def settings_of(assignments: Iterable[str], seed: int = 0) -> QaSettings:
    """The defaults, changed by ``key=value``s as in ``training.batch=128``."""
    return assigned(QaSettings(), assignments, seed)


def settings_from_json(saved: Mapping[str, Any]) -> QaSettings:
    """The settings that ``asdict`` made this of."""
    return with_settings(QaSettings(), saved)

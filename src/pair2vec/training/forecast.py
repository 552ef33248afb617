"""How long a run will take and how much memory: by its size first, then by the pace of its steps.

Shapes: V vocabulary, B triples of a batch, K negative words per side, D dimension, H hidden size.
"""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from pair2vec.training.optim import OPTIMISERS
from pair2vec.training.recipes import Recipe

_PACE_SECONDS = 60.0
"""The pace is that of the steps in so much time: other programs come and go."""
_LEAST_SECONDS, _LEAST_STEPS = 2.0, 3
"""Before there is a pace, after a first step, which takes longer than others."""
_SECONDS_BETWEEN_UPDATES = 1.0

_FORWARD = 1 / 3
"""The share of a training step that its forward pass takes, which is all of a validation."""
_PATTERNS_PER_SECOND = 1e6
"""Triples whose contexts are counted for the patterns of a model."""
_BYTES_PER_SECOND = 1e8
"""At which a model is quantised, hashed and written."""

_LONG_MINUTES, _SHORT_MINUTES = 60, 30
"""A run that is forecast to take longer than the one is told how it would take the other."""

_PROGRAM_BYTES = 650e6
"""Python, torch, the corpus and what is read of it: measured with small tables."""
_LONGEST_CONTEXT = 8
_FLOAT = 4


class RunSize(NamedTuple):
    """What a run has to do, before any of it is done."""

    triples_per_epoch: int
    steps: int
    batch: int
    memory: int
    """In bytes, roughly."""

    @property
    def triples(self) -> int:
        """In all epochs."""
        return self.steps * self.batch

    def __str__(self) -> str:
        return (
            f"{self.triples_per_epoch:,} triples an epoch, {self.triples:,} in all: "
            f"{self.steps:,} steps of {self.batch:,}; about {max(0.1, self.memory / 1e9):.1f} GB "
            "of memory"
        )


def memory_needed(recipe: Recipe, words: int) -> int:
    """Bytes of the tables, what the optimiser and typed negatives keep, and a batch's activations.

    A checkpoint is made in memory, so that what it holds is there twice.
    """
    size, hidden, batch = recipe.pair.dimension, recipe.context.hidden, recipe.training.batch
    slots = len(OPTIMISERS[recipe.training.optimiser].slots)
    checkpoint = 2 * words * size * _FLOAT * (1 + slots)
    neighbours = 4 * words * recipe.negatives.neighbours * bool(recipe.negatives.typed)
    pairs = (1 + 2 * recipe.negatives.words) * (recipe.pair.layers + 2) * size
    contexts = _LONGEST_CONTEXT * 2 * 8 * hidden
    return int(_PROGRAM_BYTES + 2 * checkpoint + neighbours + batch * (pairs + contexts) * _FLOAT)


class Forecast:
    """The seconds left of a run, from the pace of its steps and what it does beside them."""

    def __init__(self, size: RunSize, recipe: Recipe, words: int, step: int) -> None:
        """Begin at a step.

        Args:
            size: Of the whole run.
            recipe: All settings.
            words: In the vocabulary.
            step: Of the checkpoint that is resumed from, or 0.
        """
        self._steps, self._config = size.steps, recipe.training
        self._first = step
        self._start = time.monotonic()
        self._aside = 0.0
        self._marks: deque[tuple[float, int]] = deque()
        self._validation: float | None = None
        self._updated = self._start
        patterns = min(4_000_000, size.triples_per_epoch) / _PATTERNS_PER_SECOND
        self._publishing = patterns + 8 * words * recipe.pair.dimension / _BYTES_PER_SECOND

    def is_due(self, step: int) -> bool:
        """Whether to show progress: after the first step, and about once a second."""
        now = time.monotonic()
        if step > self._first + 1 and now < self._updated + _SECONDS_BETWEEN_UPDATES:
            return False
        self._updated = now
        busy = now - self._start - self._aside
        self._marks.append((busy, step))
        while len(self._marks) > 2 and self._marks[1][0] < busy - _PACE_SECONDS:
            self._marks.popleft()
        return True

    @contextmanager
    def aside(self, *, validation: bool = False) -> Iterator[None]:
        """Around what is no training step."""
        start = time.monotonic()
        yield
        seconds = time.monotonic() - start
        self._aside += seconds
        if validation:
            self._validation = seconds

    @property
    def step_seconds(self) -> float | None:
        """Of one step; None before there are enough of them."""
        if not self._marks:
            return None
        (first_busy, first), (last_busy, last) = self._marks[0], self._marks[-1]
        if last - first < _LEAST_STEPS or last_busy - first_busy < _LEAST_SECONDS:
            return None
        return (last_busy - first_busy) / (last - first)

    def seconds_left(self, step: int) -> float | None:
        """Of steps, validations and publishing; None as long as nothing can be said."""
        pace = self.step_seconds
        if pace is None:
            return None
        config = self._config
        validation = self._validation
        if validation is None:
            validation = _FORWARD * pace / config.batch * config.validation_triples
        # And one when the model is published.
        validations = 1 + self._steps // config.validation_steps - step // config.validation_steps
        return (self._steps - step) * pace + validations * validation + self._publishing

    def message(self, step: int, seconds: float) -> str:
        """The forecast, and what a shorter run would be."""
        minutes = max(1, round(seconds / 60))
        text = (
            f"forecast: {minutes:,} min, by the pace of the first {step - self._first:,} of "
            f"{self._steps - self._first:,} steps"
        )
        if minutes <= _LONG_MINUTES or self.step_seconds is None:
            return text
        fewer = round(60 * _SHORT_MINUTES / self.step_seconds)
        return f"{text}; about {_SHORT_MINUTES} min with --set training.steps={fewer} --overwrite"

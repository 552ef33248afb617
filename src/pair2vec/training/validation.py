"""Validation: the loss of triples that are held out, and whether it still falls."""

import math
from collections.abc import Callable

import torch

from pair2vec.training.batches import Supply, TripleTensors
from pair2vec.training.network import Batch, Outcome

VALIDATION_BATCH = 4_096
"""One for all runs: a batch's contexts are each other's negatives, so its size is in the loss."""


class Validation:
    """The held-out triples of a run, and how its validations went."""

    def __init__(self, supply: Supply) -> None:
        self._triples, self._negatives, self._config, self._ranks, self._device = supply
        self._best = math.inf
        self._since_best = 0

    @torch.no_grad()
    def loss(self, outcome: Callable[[Batch], Outcome]) -> float | None:
        """The mean loss of held-out triples, against the same negatives every time.

        Ranks share the batches; the number is that of one rank, to the bit. None if no triples are
        held out.
        """
        generator = torch.Generator(self._device).manual_seed(self._config.seed + 2)
        sums: list[float] = []
        count = 0
        for triples in self._triples.held_out(VALIDATION_BATCH):
            batch = self._negatives.complete(TripleTensors.of(triples), generator)
            is_own = len(sums) % self._ranks.count == self._ranks.rank
            sums.append(float(outcome(batch).losses.total().double().sum()) if is_own else 0.0)
            count += len(triples.x)
            if count >= self._config.validation_triples:
                break
        of_all = torch.tensor(sums, dtype=torch.float64)
        self._ranks.add_up(of_all)
        total = 0.0
        for value in of_all.tolist():
            total += value
        return total / count if count else None

    def note(self, loss: float) -> None:
        """Remember how a validation of the run went."""
        if loss < self._best:
            self._best, self._since_best = loss, 0
        else:
            self._since_best += 1

    @property
    def has_settled(self) -> bool:
        """Whether the loss has not fallen for longer than the patience."""
        return 0 < self._config.patience <= self._since_best

    @property
    def state(self) -> dict[str, float]:
        """What a checkpoint keeps of it."""
        return {"best_validation": self._best, "validations_since_best": self._since_best}

    def restore(self, best_validation: float, validations_since_best: int) -> None:
        """Go on from a `state`."""
        self._best, self._since_best = best_validation, validations_since_best

"""Optimisers for whole parameters and for single rows of a table alike.

Each keeps its state in plain tensors, named, so that a checkpoint is only tensors. A row that a
batch does not touch is neither read nor written.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Protocol, Self

import torch
from torch import Tensor


class Optimiser(ABC):
    """Applies gradients to parameters."""

    slots: tuple[str, ...] = ()
    """The tensors of a parameter's shape that are kept for each."""

    def __init__(self) -> None:
        self.state: dict[str, Tensor] = {}
        self.steps = 0

    def slot(self, name: str, kind: str, like: Tensor) -> Tensor:
        """A tensor of the state, zero at first."""
        key = f"{name}.{kind}"
        if key not in self.state:
            self.state[key] = torch.zeros_like(like)
        return self.state[key]

    @torch.no_grad()
    def update(
        self,
        name: str,
        parameter: Tensor,
        gradient: Tensor,
        rate: float,
        rows: Tensor | None = None,
    ) -> None:
        """Change `parameter`, or only its `rows`, for which `gradient` then is."""
        slots = [self.slot(name, kind, parameter) for kind in self.slots]
        if rows is None:
            parameter -= self.change(gradient, rate, slots, self.steps + 1)
            return
        of_rows = [slot[rows] for slot in slots]
        # Rows are distinct, so nothing is added up and the result is one on every device.
        parameter[rows] = parameter[rows] - self.change(gradient, rate, of_rows, self.steps + 1)
        for slot, values in zip(slots, of_rows, strict=True):
            slot[rows] = values

    @torch.no_grad()
    def update_where(
        self,
        changed: Tensor,
        name: str,
        parameter: Tensor,
        gradient: Tensor,
        rate: Tensor,
        step: Tensor,
    ) -> None:
        """Change `parameter` where `changed`; the number of the step counts from 1."""
        slots = [self.slot(name, kind, parameter) for kind in self.slots]
        fresh = [slot.clone() for slot in slots]
        change = self.change(gradient, rate, fresh, step)
        parameter.copy_(torch.where(changed, parameter - change, parameter))
        for slot, values in zip(slots, fresh, strict=True):
            slot.copy_(torch.where(changed, values, slot))

    @abstractmethod
    def change(
        self, gradient: Tensor, rate: Tensor | float, slots: list[Tensor], step: Tensor | int
    ) -> Tensor:
        """What to subtract in the step with this number, from 1 on; updates `slots` in place."""


class Sgd(Optimiser):
    """Plain stochastic gradient descent."""

    def change(
        self, gradient: Tensor, rate: Tensor | float, slots: list[Tensor], step: Tensor | int
    ) -> Tensor:
        """The gradient, scaled."""
        return gradient * rate


class Adagrad(Optimiser):
    """Steps shrink with the sum of squared gradients."""

    slots = ("squares",)

    def change(
        self, gradient: Tensor, rate: Tensor | float, slots: list[Tensor], step: Tensor | int
    ) -> Tensor:
        """The gradient over the root of its history."""
        (squares,) = slots
        squares += gradient * gradient
        return rate * gradient / (squares.sqrt() + 1e-10)


class Adam(Optimiser):
    """Adam; rows are updated when touched, with the bias correction of the global step."""

    slots = ("mean", "variance")
    first, second, epsilon = 0.9, 0.999, 1e-8

    def change(
        self, gradient: Tensor, rate: Tensor | float, slots: list[Tensor], step: Tensor | int
    ) -> Tensor:
        """The running mean over the root of the running variance."""
        mean, variance = slots
        mean.lerp_(gradient, 1 - self.first)
        variance.lerp_(gradient * gradient, 1 - self.second)
        corrected = variance / (1 - self.second**step)
        return rate / (1 - self.first**step) * mean / (corrected.sqrt() + self.epsilon)


OPTIMISERS: dict[str, type[Optimiser]] = {"sgd": Sgd, "adagrad": Adagrad, "adam": Adam}


# == Schedules: the learning rate from step to step.


class Schedule(Protocol):
    """Says the rate of the next step; `state` is all it remembers."""

    state: dict[str, float]

    def rate(self, step: int) -> float:
        """Of the step with this number."""

    def observe(self, step: int, loss: float) -> None:
        """Take note of a training loss."""


class Constant:
    """Always the same."""

    def __init__(self, rate: float, **_: float) -> None:
        self._rate = rate
        self.state: dict[str, float] = {}

    def rate(self, step: int) -> float:
        """The one given."""
        return self._rate

    def observe(self, step: int, loss: float) -> None:
        """Nothing to learn."""


class Linear(Constant):
    """Up from 0 over the warm-up, then down to 0 at the last step."""

    def __init__(self, rate: float, *, warmup_steps: float, total_steps: float, **_: float) -> None:
        super().__init__(rate)
        self._warmup = warmup_steps
        self._total = max(total_steps, warmup_steps + 1)

    def rate(self, step: int) -> float:
        """On the way up or down."""
        if step < self._warmup:
            return self._rate * (step + 1) / self._warmup
        return self._rate * max(0.0, (self._total - step) / (self._total - self._warmup))


class Plateau(Constant):
    """The paper's rule: times `factor` whenever the loss has not fallen for so many steps."""

    def __init__(
        self, rate: float, *, plateau_steps: float, plateau_factor: float, **_: float
    ) -> None:
        super().__init__(rate)
        self._patience = plateau_steps
        self._factor = plateau_factor
        self.state = {"scale": 1.0, "best": float("inf"), "best_step": 0.0}

    def rate(self, step: int) -> float:
        """Scaled down once a plateau."""
        return self._rate * self.state["scale"]

    def observe(self, step: int, loss: float) -> None:
        """Compare with the lowest loss so far."""
        if loss < self.state["best"]:
            self.state.update(best=loss, best_step=float(step))
        elif step - self.state["best_step"] >= self._patience:
            self.state.update(best_step=float(step), scale=self.state["scale"] * self._factor)


SCHEDULES: dict[str, type[Constant]] = {
    "plateau": Plateau,
    "linear": Linear,
    "constant": Constant,
}


# == Plateau: what the dev scores of a run say of its learning rate and of its end.


@dataclass
class DevPlateau:
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

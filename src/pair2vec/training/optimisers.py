"""Optimisers for whole parameters and for single rows of a table alike.

Each keeps its state in plain tensors, named, so that a checkpoint is only tensors. A row that a
batch does not touch is neither read nor written.
"""

from abc import ABC, abstractmethod

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

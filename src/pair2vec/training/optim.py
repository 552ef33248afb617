"""Optimisers and learning-rate schedules, and the settings of optimisation.

An optimiser updates whole parameters and single rows of a table alike. Its state is plain tensors
by name, so that a checkpoint is only tensors; a row that a batch does not touch is neither read nor
written. The rate and the number of the step may be tensors on the device, which is what a captured
CUDA graph needs: it reads their values anew at each replay.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import torch
from torch import Tensor

from pair2vec.ranges import (
    BatchSize,
    Count,
    Factor,
    GradientNorm,
    LearningRate,
    Minutes,
    OneOf,
    OptionalCount,
    Seed,
    Threads,
    check_ranges,
)
from pair2vec.runtime.cuda_graphs import STEP_MODES

Slots = list[Tensor]


class StepRate(NamedTuple):
    """The learning rate of a step, and its number, from 1 on."""

    rate: Tensor | float
    step: Tensor | int


class Optimiser(ABC):
    """Applies gradients to parameters."""

    slots: tuple[str, ...] = ()
    """The tensors of a parameter's shape that are kept for each."""

    def __init__(self) -> None:
        self.state: dict[str, Tensor] = {}
        self.steps = 0
        """Steps taken, counted by the training step and kept in checkpoints."""

    def slot(self, name: str, slot: str, like: Tensor) -> Tensor:
        """The tensor `slot` of parameter `name`, zero at first."""
        key = f"{name}.{slot}"
        if key not in self.state:
            self.state[key] = torch.zeros_like(like)
        return self.state[key]

    @torch.no_grad()
    def update(
        self,
        name: str,
        parameter: Tensor,
        gradient: Tensor,
        at: StepRate,
        rows: Tensor | None = None,
    ) -> None:
        """Update `parameter`, or only distinct `rows` of it, whose gradient is then given."""
        slots = [self.slot(name, slot, parameter) for slot in self.slots]
        if rows is None:
            parameter.copy_(self.updated(parameter, gradient, slots, at))
            return
        row_slots = [slot[rows] for slot in slots]
        # Distinct rows are written once each, so the result is the same on every device.
        parameter[rows] = self.updated(parameter[rows], gradient, row_slots, at)
        for slot, values in zip(slots, row_slots, strict=True):
            slot[rows] = values

    @torch.no_grad()
    def update_where(
        self, mask: Tensor, name: str, parameter: Tensor, gradient: Tensor, at: StepRate
    ) -> None:
        """Update `parameter` and its state only where `mask`, which broadcasts, is True."""
        slots = [self.slot(name, slot, parameter) for slot in self.slots]
        new_slots = [slot.clone() for slot in slots]
        updated = self.updated(parameter, gradient, new_slots, at)
        parameter.copy_(torch.where(mask, updated, parameter))
        for slot, values in zip(slots, new_slots, strict=True):
            slot.copy_(torch.where(mask, values, slot))

    @abstractmethod
    def updated(self, parameter: Tensor, gradient: Tensor, slots: Slots, at: StepRate) -> Tensor:
        """The new value of `parameter`; updates `slots` in place."""


class Sgd(Optimiser):
    """Plain stochastic gradient descent."""

    def updated(self, parameter: Tensor, gradient: Tensor, slots: Slots, at: StepRate) -> Tensor:
        return parameter - gradient * at.rate


class Adagrad(Optimiser):
    """Steps shrink with the sum of squared gradients (Duchi et al., 2011)."""

    slots = ("squares",)

    def updated(self, parameter: Tensor, gradient: Tensor, slots: Slots, at: StepRate) -> Tensor:
        (squares,) = slots
        squares += gradient * gradient
        return parameter - at.rate * gradient / (squares.sqrt() + 1e-10)


class Adam(Optimiser):
    """Adam (Kingma & Ba, 2015), or AdamW with `decoupled` decay (Loshchilov & Hutter, 2019).

    On whole parameters it computes what torch's does, operation by operation. Rows of a table are
    updated when touched, with the bias correction of the global step.
    """

    slots = ("mean", "variance")
    beta1, beta2, epsilon = 0.9, 0.999, 1e-8

    def __init__(
        self, *, decay: float = 0.0, decoupled: bool = False, slots: tuple[str, str] = slots
    ) -> None:
        """Set up a state of zeros.

        Args:
            decay: Of weights: added to the gradient, or, decoupled, taken off the weights.
            decoupled: AdamW instead of Adam.
            slots: What the running mean and variance are called in the state.
        """
        super().__init__()
        self.slots = slots
        self._decay, self._decoupled = decay, decoupled

    def updated(self, parameter: Tensor, gradient: Tensor, slots: Slots, at: StepRate) -> Tensor:
        if self._decay and self._decoupled:
            parameter = parameter * (1 - at.rate * self._decay)
        elif self._decay:
            gradient = gradient.add(parameter, alpha=self._decay)
        mean, variance = slots
        mean.lerp_(gradient, 1 - self.beta1)
        variance.mul_(self.beta2).addcmul_(gradient, gradient, value=1 - self.beta2)
        bias = (1 - self.beta2**at.step) ** 0.5
        denominator = variance.sqrt() / bias + self.epsilon
        return parameter - at.rate / (1 - self.beta1**at.step) * mean / denominator


OPTIMISERS: dict[str, type[Optimiser]] = {"sgd": Sgd, "adagrad": Adagrad, "adam": Adam}


class Constant:
    """A constant rate; the base of all schedules, whose `state` goes into checkpoints."""

    def __init__(self, rate: float, **_: float) -> None:
        self._rate = rate
        self.state: dict[str, float] = {}

    def rate(self, step: int) -> float:
        """Of step number `step`, from 0 on."""
        del step
        return self._rate

    def observe(self, step: int, loss: float) -> bool:
        """Take in the training loss of a step; True if the schedule knows no lower one."""
        del step, loss
        return False


class Linear(Constant):
    """Warm-up from 0, then linear decay to 0 at the last step."""

    def __init__(self, rate: float, *, warmup_steps: float, total_steps: float, **_: float) -> None:
        super().__init__(rate)
        self._warmup = warmup_steps
        self._total = max(total_steps, warmup_steps + 1)

    def rate(self, step: int) -> float:
        if step < self._warmup:
            return self._rate * (step + 1) / self._warmup
        return self._rate * max(0.0, (self._total - step) / (self._total - self._warmup))


class Plateau(Constant):
    """The paper's rule: × `plateau_factor` when the loss has not fallen for `plateau_steps`.

    The losses of single batches are too noisy for it: the lowest one of many is low by chance, and
    then nothing falls below it. So compared are means over a tenth of these steps, as in the
    released code, and a mean is lower if it is so by a thousandth.
    """

    def __init__(
        self,
        rate: float,
        *,
        plateau_steps: float,
        plateau_factor: float,
        means: int = 10,
        threshold: float = 1e-3,
        **_: float,
    ) -> None:
        """Compare `means` means over `plateau_steps`, or every loss if these are fewer."""
        super().__init__(rate)
        self._length = max(1, int(plateau_steps) // means)
        self._patience = plateau_steps / self._length
        self._factor, self._threshold = plateau_factor, threshold
        self.state = {"scale": 1.0, "best": math.inf, "since": 0.0, "sum": 0.0, "count": 0.0}

    def rate(self, step: int) -> float:
        del step
        return self._rate * self.state["scale"]

    def observe(self, step: int, loss: float) -> bool:
        del step
        state = self.state
        state["sum"] += loss
        state["count"] += 1
        if state["count"] < self._length:
            return False
        mean = state["sum"] / state["count"]
        state.update(sum=0.0, count=0.0)
        if mean < state["best"] - self._threshold * abs(state["best"]) or math.isinf(state["best"]):
            state.update(best=mean, since=0.0)
            return True
        state["since"] += 1
        if state["since"] >= self._patience:
            # From 0 again, so that the next reduction can follow.
            state.update(since=0.0, scale=state["scale"] * self._factor)
        return False


class DevPlateau:
    """A `Plateau` over the dev scores of epochs, of which a higher one is better.

    As torch's ``ReduceLROnPlateau(mode="max", threshold=0)``; it also counts the epochs since the
    best one, for early stopping.
    """

    def __init__(self, rate: float, *, factor: float, patience: int) -> None:
        """Reduce `rate` by `factor` after more than `patience` epochs without a better score."""
        self._plateau = Plateau(
            rate,
            plateau_steps=patience + 1,
            plateau_factor=factor,
            means=patience + 1,
            threshold=0.0,
        )
        self.rate = rate
        self._epoch = self._best_epoch = 0

    @property
    def best(self) -> float:
        return -self._plateau.state["best"]

    @property
    def epochs_since_best(self) -> int:
        return self._epoch - self._best_epoch

    def observe(self, score: float) -> bool:
        """Take in the score of an epoch; True if it is the best so far."""
        self._epoch += 1
        is_best = self._plateau.observe(self._epoch, -score)
        if is_best:
            self._best_epoch = self._epoch
        self.rate *= self._plateau.state["scale"]
        self._plateau.state["scale"] = 1.0
        return is_best

    def to_json(self) -> dict[str, float | None]:
        """For a checkpoint; JSON has no infinity."""
        return {
            "rate": self.rate,
            "best": self.best if math.isfinite(self.best) else None,
            "epochs_since_best": self.epochs_since_best,
            "epochs_since_fall": int(self._plateau.state["since"]),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from what `to_json` returned."""
        self.rate = saved["rate"]
        self._epoch, self._best_epoch = 0, -saved["epochs_since_best"]
        best = math.inf if saved["best"] is None else -saved["best"]
        self._plateau.state.update(best=best, since=saved["epochs_since_fall"])


SCHEDULES: dict[str, type[Constant]] = {
    "plateau": Plateau,
    "linear": Linear,
    "constant": Constant,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingConfig:
    """How the network is optimised."""

    batch: BatchSize = 600
    epochs: OptionalCount = 12
    steps: OptionalCount = 0
    """Stop after so many batches; 0 leaves it to the epochs."""
    optimiser: Annotated[str, OneOf(tuple(OPTIMISERS))] = "sgd"
    rate: LearningRate = 0.01
    schedule: Annotated[str, OneOf(tuple(SCHEDULES))] = "plateau"
    """"plateau" (the paper's rule), "linear" (warm-up, then decay to 0) or "constant"."""
    warmup_steps: OptionalCount = 0
    plateau_steps: Count = 300_000
    """Without a lower loss for so long, by means over a tenth of it, the rate is multiplied by
    `plateau_factor`."""
    plateau_factor: Factor = 0.9
    loss: Annotated[str, OneOf(("sum", "mean"))] = "sum"
    """"sum" or "mean" over the batch."""
    clip: GradientNorm = 10.0
    """The largest norm of the gradient; 0 does not clip."""
    start: Annotated[str, OneOf(("vectors", "random"))] = "vectors"
    """How the word tables are initialised: "vectors", from the given word vectors if there are any,
    or "random"; given vectors then only define the neighbours for typed negatives."""
    step_mode: Annotated[str, OneOf(STEP_MODES)] = "auto"
    """Which step runs: "plain" (eager autograd on the rows that a batch touches), "cuda_graph" (a
    GPU only: compiled and captured, which takes half a minute at the start, then replayed), or
    "auto", which is "cuda_graph" on a GPU and "plain" on a CPU."""
    threads: Threads = 0
    """Of torch on a CPU; 0 leaves it to torch."""
    seed: Seed = 0
    report_steps: Count = 100
    validation_steps: Count = 5_000
    validation_triples: Count = 20_000
    patience: OptionalCount = 0
    """Stop after so many validations without a lower loss; 0 never does."""
    checkpoint_steps: Count = 5_000
    checkpoint_minutes: Minutes = 10.0
    """A checkpoint is written after so many steps, or so long after the last one."""

    def __post_init__(self) -> None:
        check_ranges(self)

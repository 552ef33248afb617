"""Schedules: the learning rate from step to step."""

from typing import Protocol


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

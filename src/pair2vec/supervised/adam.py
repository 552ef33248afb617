"""Adam as torch has it, with a state that goes into checkpoints by the names of weights."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from pair2vec.supervised.settings import SupervisedConfig

_STATE = ("step", "exp_avg", "exp_avg_sq")


class Adam:
    """Adam, or AdamW with decay, over named weights; gradients are clipped together."""

    def __init__(self, weights: Mapping[str, nn.Parameter], config: SupervisedConfig) -> None:
        """Nothing has been learnt yet."""
        self._weights = dict(weights)
        self._clip = config.clip or float("inf")
        values = list(self._weights.values())
        device = values[0].device
        self._on_gpu = device.type == "cuda"
        kind = torch.optim.AdamW if config.optimiser == "adamw" else torch.optim.Adam
        self._optimiser: torch.optim.Optimizer = kind(
            values,
            # A recorded step reads the rate, which changes, where it is on the device.
            lr=torch.tensor(config.rate, device=device) if self._on_gpu else config.rate,
            weight_decay=config.decay,
            # One kernel for all weights; on a CPU it would gain nothing.
            fused=self._on_gpu,
            capturable=self._on_gpu,
        )
        self._rate = config.rate

    def set_rate(self, rate: float) -> None:
        """Of the steps to come."""
        group = self._optimiser.param_groups[0]
        if not self._on_gpu:
            group["lr"] = rate
        elif rate != self._rate:
            group["lr"].fill_(rate)
        self._rate = rate

    def step(self, loss: Tensor) -> Tensor:
        """Learn from a loss; returns the norm of its gradient before it was clipped."""
        self._optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        norm = nn.utils.clip_grad_norm_(self._weights.values(), self._clip)
        self._optimiser.step()
        return norm.detach()

    @property
    def state(self) -> dict[str, Tensor]:
        """All that it remembers, by weights."""
        return {
            f"{name}.{part}": self._optimiser.state[values][part]
            for name, values in self._weights.items()
            for part in _STATE
            if values in self._optimiser.state
        }

    @state.setter
    def state(self, saved: Mapping[str, Tensor]) -> None:
        for name, values in self._weights.items():
            # Weights that no step has reached have no state.
            if f"{name}.step" in saved:
                found = {part: saved[f"{name}.{part}"].to(values.device) for part in _STATE}
                found["step"] = found["step"] if self._on_gpu else found["step"].cpu()
                self._optimiser.state[values] = found

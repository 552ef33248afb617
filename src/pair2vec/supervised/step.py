"""One step of learning from labelled examples: forward, backward, update."""

from typing import Generic

import torch
from torch import Tensor

from pair2vec.supervised.adam import Adam
from pair2vec.supervised.recorded import Recorded
from pair2vec.supervised.settings import SupervisedConfig
from pair2vec.supervised.task import Batch, Learning
from pair2vec.supervised.weights import learnt_weights
from pair2vec.training.devices import computing


class Step(Generic[Batch]):
    """On a GPU by recordings, so that it need not wait for the CPU."""

    def __init__(
        self, learning: Learning[Batch], config: SupervisedConfig, device: torch.device
    ) -> None:
        """The network is on the device already."""
        self._learning, self._device = learning, device
        self.adam = Adam(learnt_weights(learning.network), config)
        self._learn = Recorded(self._run) if device.type == "cuda" else self._run

    def __call__(self, batch: Batch, rate: float) -> dict[str, Tensor]:
        """Means over a batch, as they were before it was learnt from, and the gradient's norm."""
        self._learning.network.train()
        self.adam.set_rate(rate)
        with torch.no_grad(), computing(self._device):
            batch = self._learning.read(batch)
        return self._learn(batch)

    def _run(self, batch: Batch) -> dict[str, Tensor]:
        with computing(self._device):
            measures = self._learning.measure(batch)
        norm = self.adam.step(measures["loss"])
        # Detached: what holds the way back to the weights must not outlive the step.
        return {**{name: value.detach() for name, value in measures.items()}, "gradient_norm": norm}

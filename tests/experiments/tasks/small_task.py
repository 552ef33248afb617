"""A task that trains in a second: is the mean of some numbers above zero?"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from pair2vec.arrays import Int64Array
from pair2vec.experiments.tasks.task import DevScores, SupervisedConfig
from pair2vec.experiments.tasks.trainer import SupervisedRunContext, SupervisedTrainer
from pair2vec.runtime.devices import forked_rng

CPU = torch.device("cpu")


@dataclass
class SmallBatch:
    x: Tensor
    y: Tensor


class SmallTask:
    """With dropout, so that a run depends on torch's generator, and a weight that is frozen."""

    def __init__(self, examples: int = 200) -> None:
        random = np.random.default_rng(0)
        self._x = torch.from_numpy(random.normal(size=(examples, 5)).astype(np.float32))
        self._y = (self._x.mean(dim=1) > 0).long()
        self.sizes: Int64Array = random.integers(1, 9, (examples, 1))
        self.network = nn.Sequential(
            nn.Linear(5, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 2), nn.Linear(2, 2)
        )
        self.network[4].requires_grad_(False)
        self.dev_scores: list[float] = []

    def batch(self, indices: Int64Array) -> SmallBatch:
        return SmallBatch(self._x[indices], self._y[indices])

    def precompute(self, batch: SmallBatch) -> SmallBatch:
        return batch

    def measure(self, batch: SmallBatch) -> dict[str, Tensor]:
        return {"loss": nn.functional.cross_entropy(self.network(batch.x), batch.y)}

    def score_dev(self) -> DevScores:
        assert not self.network.training
        is_right = self.network(self._x).argmax(dim=-1) == self._y
        return {
            "score": self.dev_scores.pop(0) if self.dev_scores else float(is_right.float().mean())
        }


def config(**changes: object) -> SupervisedConfig:
    usual: dict[str, object] = {"batch": 16, "epochs": 3, "rate": 0.02, "report_steps": 1}
    return SupervisedConfig(**{**usual, **changes})  # type: ignore[arg-type]


def run_task(
    folder: Path, settings: SupervisedConfig, **run_context: object
) -> tuple[SmallTask, SupervisedTrainer[SmallBatch], bool]:
    """Train in `folder`; whether it came to its end."""
    with forked_rng(settings.seed, CPU):
        task = SmallTask()
        task.dev_scores = list(run_context.pop("dev_scores", []))  # type: ignore[call-overload]
        context = SupervisedRunContext(folder=folder, device=CPU, **run_context)  # type: ignore[arg-type]
        trainer = SupervisedTrainer(task, settings, context)
        return task, trainer, trainer.run()

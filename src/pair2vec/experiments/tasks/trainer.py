"""Adam as torch has it, with a state that goes into checkpoints by the names of weights."""

import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple

import torch
from torch import Tensor, nn

from pair2vec.experiments.tasks.batches import epoch_batches
from pair2vec.experiments.tasks.layers import copy_weights, set_weights, trainable_weights
from pair2vec.experiments.tasks.task import DevScores, Learning, SupervisedConfig, Task
from pair2vec.runtime.cuda_graphs import BatchT, GraphedFunction, tree_to
from pair2vec.runtime.devices import autocast, generator_states, set_generator_states
from pair2vec.runtime.prefetch import prefetch
from pair2vec.training.checkpoint import Checkpoint, last_checkpoint, write_checkpoint
from pair2vec.training.metrics import MetricsFile
from pair2vec.training.optim import DevPlateau
from pair2vec.training.trainer import DivergedError

_STATE = ("step", "exp_avg", "exp_avg_sq")


class TaskAdam:
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


# == One step of learning from labelled examples: forward, backward, update.


class SupervisedStep(Generic[BatchT]):
    """On a GPU by recordings, so that it need not wait for the CPU."""

    def __init__(
        self, learning: Learning[BatchT], config: SupervisedConfig, device: torch.device
    ) -> None:
        """The network is on the device already."""
        self._learning, self._device = learning, device
        self.adam = TaskAdam(trainable_weights(learning.network), config)
        self._learn = GraphedFunction(self._run) if device.type == "cuda" else self._run

    def __call__(self, batch: BatchT, rate: float) -> dict[str, Tensor]:
        """Means over a batch, as they were before it was learnt from, and the gradient's norm."""
        self._learning.network.train()
        self.adam.set_rate(rate)
        with torch.no_grad(), autocast(self._device):
            batch = self._learning.precompute(batch)
        return self._learn(batch)

    def _run(self, batch: BatchT) -> dict[str, Tensor]:
        with autocast(self._device):
            measures = self._learning.measure(batch)
        norm = self.adam.step(measures["loss"])
        # Detached: what holds the way back to the weights must not outlive the step.
        return {**{name: value.detach() for name, value in measures.items()}, "gradient_norm": norm}


# == The loop that learns from labelled examples: one for every task, resumable at any checkpoint.


_log = logging.getLogger(__name__)

METRICS_FILE = "metrics.jsonl"

_BATCHES_AHEAD = 8
"""Made and sent while a GPU learns from others."""


class SupervisedProgress(NamedTuple):
    """What is shown of a run."""

    epoch: int
    """Counted from 1."""
    step: int
    """Of this epoch."""
    epoch_steps: int
    metrics: DevScores


@dataclass(frozen=True, kw_only=True)
class TaskRunContext:
    """What a run needs of the outside."""

    folder: Path
    """For checkpoints and metrics."""
    device: torch.device
    report: Callable[[SupervisedProgress], None] = lambda _: None
    should_stop: Callable[[], bool] = lambda: False
    """Asked after every step; True ends the run with a checkpoint."""


class SupervisedTrainer(Generic[BatchT]):
    """A run: the network of a task, on its device already, and everything that changes with it.

    Made and run inside `randomness.seeded`, since dropout draws from torch's own generators.
    """

    def __init__(
        self, task: Task[BatchT], config: SupervisedConfig, surroundings: TaskRunContext
    ) -> None:
        self._task, self._config, self._surroundings = task, config, surroundings
        self._network = task.network
        self._step = SupervisedStep(task, config, surroundings.device)
        self._plateau = DevPlateau(config.rate)
        self._best: dict[str, Tensor] = {}
        self.best_dev: DevScores = {}
        """Of the epoch whose weights are the best."""
        self.step = 0
        self.epoch = 0
        """Epochs that are over."""
        self._done = 0
        """Batches of the present epoch that are over."""
        self._sums: dict[str, Tensor] = {}
        self._batches_summed = 0
        self._last_checkpoint = self._last_report = time.monotonic()
        self._examples = 0

    def run(self) -> bool:
        """Train to the end and take the best weights; False if asked to stop before it."""
        found = last_checkpoint(self._surroundings.folder)
        if found is not None:
            self._restore(found)
        with MetricsFile(self._surroundings.folder / METRICS_FILE, self.step) as metrics:
            while not self._is_over():
                if not self._run_epoch(metrics):
                    self.write_checkpoint()
                    return False
        set_weights(self._network, self._best, "the best weights")
        return True

    def _is_over(self) -> bool:
        is_settled = 0 < self._config.patience <= self._plateau.epochs_since_best
        return is_settled or self.epoch >= self._config.epochs

    def _run_epoch(self, metrics: MetricsFile) -> bool:
        """What is left of an epoch, and its dev score; False if asked to stop."""
        order = epoch_batches(
            self._task.sizes,
            self._config.batch,
            seed=self._config.seed,
            epoch=self.epoch,
            pool=self._config.pool,
        )
        for batch, examples in self._batches(order[self._done :]):
            self._learn(batch, examples)
            if self.step % self._config.report_steps == 0 or self._done == len(order):
                self._report(metrics, len(order))
            # The last batch is not parted from the dev score behind it.
            if self._done < len(order):
                if self._surroundings.should_stop():
                    return False
                self._write_checkpoint_if_due()
        self._end_epoch(metrics, len(order))
        is_wanted = self._config.checkpoint_epochs and not (
            self.epoch % self._config.checkpoint_epochs
        )
        self._write_checkpoint_if_due(at_once=bool(is_wanted))
        return self._is_over() or not self._surroundings.should_stop()

    def _batches(self, order: list[Any]) -> Iterator[tuple[BatchT, int]]:
        device = self._surroundings.device
        made = ((tree_to(self._task.batch(numbers), device), len(numbers)) for numbers in order)
        # A CPU has no time to spare while it learns.
        return prefetch(made, _BATCHES_AHEAD) if device.type == "cuda" else made

    def _learn(self, batch: BatchT, examples: int) -> None:
        # Added up where they are: to look at one would be to wait for the device.
        for name, value in self._step(batch, self._plateau.rate).items():
            before = self._sums.get(name)
            self._sums[name] = value.double() if before is None else before + value
        self._batches_summed += 1
        self._examples += examples
        self.step += 1
        self._done += 1

    def _check_sums(self) -> DevScores:
        """The means since the last report; stops a run that computes no numbers any more."""
        means = {name: float(s) / self._batches_summed for name, s in self._sums.items()}
        if all(map(math.isfinite, means.values())):
            return means
        found = last_checkpoint(self._surroundings.folder)
        raise DivergedError(
            f"the loss or its gradient is not a number at step {self.step}, or at one of the "
            f"{self._batches_summed - 1} before it; "
            + (f"the last good checkpoint is of step {found.step}; " if found else "")
            + "train anew with a lower training.rate and --overwrite"
        )

    def _report(self, metrics: MetricsFile, epoch_steps: int) -> None:
        means = self._check_sums()
        now = time.monotonic()
        speed = self._examples / max(now - self._last_report, 1e-9)
        self._sums, self._batches_summed = {}, 0
        self._last_report, self._examples = now, 0
        values = {**means, "rate": self._plateau.rate, "examples_per_second": round(speed, 1)}
        metrics.write({"step": self.step, "epoch": self.epoch + 1, **values})
        self._tell(self._done, epoch_steps, values)

    def _end_epoch(self, metrics: MetricsFile, epoch_steps: int) -> None:
        """Score the dev examples, and let the score decide on the rate and the best weights."""
        self._network.eval()
        with torch.no_grad(), autocast(self._surroundings.device):
            measures = self._task.score_dev()
        if self._surroundings.device.type == "cuda":
            # Scoring has other shapes, whose memory no step has a use for.
            torch.cuda.empty_cache()
        config = self._config
        if self._plateau.observe(
            measures["score"], factor=config.rate_factor, patience=config.rate_patience
        ):
            self._best, self.best_dev = copy_weights(self._network), measures
        self.epoch, self._done = self.epoch + 1, 0
        values = {f"dev_{name}": value for name, value in measures.items()}
        values["best_dev_score"] = self._plateau.best
        metrics.write({"step": self.step, "epoch": self.epoch, **values})
        self._tell(epoch_steps, epoch_steps, values, self.epoch)
        self._last_report = time.monotonic()

    def _tell(
        self, step: int, epoch_steps: int, values: DevScores, epoch: int | None = None
    ) -> None:
        progress = SupervisedProgress(epoch or self.epoch + 1, step, epoch_steps, values)
        self._surroundings.report(progress)

    def _write_checkpoint_if_due(self, *, at_once: bool = False) -> None:
        waited = time.monotonic() - self._last_checkpoint
        if at_once or waited > 60 * self._config.checkpoint_minutes:
            self.write_checkpoint()

    def write_checkpoint(self) -> Path:
        """Everything that changes, to go on from; never of a run that has diverged."""
        if self._sums:
            self._check_sums()
        self._last_checkpoint = time.monotonic()
        groups: dict[str, dict[str, Any]] = {
            "network": dict(trainable_weights(self._network)),
            "best": self._best,
            "optimiser": self._step.adam.state,
            "generator": generator_states(self._surroundings.device),
            "sums": self._sums,
        }
        tensors = {
            f"{group}/{name}": values
            for group, named in groups.items()
            for name, values in named.items()
        }
        state = {
            "epoch": self.epoch,
            "done": self._done,
            "batches_summed": self._batches_summed,
            "plateau": self._plateau.to_json(),
            "best_dev": self.best_dev,
        }
        return write_checkpoint(self._surroundings.folder, Checkpoint(self.step, tensors, state))

    def _restore(self, checkpoint: Checkpoint) -> None:
        groups: dict[str, dict[str, Tensor]] = {}
        for name, values in checkpoint.tensors.items():
            group, _, own = name.partition("/")
            groups.setdefault(group, {})[own] = values
        device = self._surroundings.device
        set_weights(self._network, groups["network"], f"the checkpoint of step {checkpoint.step}")
        self._step.adam.state = groups["optimiser"]
        self._best = {name: values.to(device) for name, values in groups.get("best", {}).items()}
        self._sums = {name: values.to(device) for name, values in groups.get("sums", {}).items()}
        set_generator_states(groups["generator"], device)
        state = checkpoint.state
        self.step, self.epoch, self._done = checkpoint.step, state["epoch"], state["done"]
        self._batches_summed = state["batches_summed"]
        self._plateau = DevPlateau.from_json(state["plateau"])
        self.best_dev = state["best_dev"]
        _log.info("going on from step %d, in epoch %d", self.step, self.epoch + 1)

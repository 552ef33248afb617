"""The supervised training loop: one for every task, resumable from any checkpoint."""

import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple

import torch
from torch import Tensor

from pair2vec.arrays import Int64Array
from pair2vec.experiments.tasks.batches import epoch_batches
from pair2vec.experiments.tasks.layers import copy_weights, set_weights, trainable_weights
from pair2vec.experiments.tasks.task import DevScores, SupervisedConfig, Task, Trainable
from pair2vec.runtime.cuda_graphs import BatchT, GraphedFunction, tree_to, uses_cuda_graph
from pair2vec.runtime.devices import autocast, generator_states, set_generator_states
from pair2vec.runtime.prefetch import prefetch
from pair2vec.training.checkpoint import Checkpoint, last_checkpoint, last_step, write_checkpoint
from pair2vec.training.metrics import MetricsFile
from pair2vec.training.optim import Adam, DevPlateau, StepRate
from pair2vec.training.steps import clip
from pair2vec.training.trainer import DivergedError

_log = logging.getLogger(__name__)

METRICS_FILE = "metrics.jsonl"
_PREFETCHED = 8
"""Batches prepared and sent while a GPU trains on others."""
_STEP = ".step"
"""Suffix of the step counts in the optimiser's state, as torch's optimisers have them."""


class SupervisedStep(Generic[BatchT]):
    """One step: forward, backward, clipping and Adam or AdamW; on a GPU as CUDA graphs."""

    def __init__(
        self, trainable: Trainable[BatchT], config: SupervisedConfig, device: torch.device
    ) -> None:
        """Train a network that is on the device already."""
        self._trainable, self._config, self._device = trainable, config, device
        self._weights = trainable_weights(trainable.network)
        self._adam = Adam(
            decay=config.decay,
            decoupled=config.optimiser == "adamw",
            slots=("exp_avg", "exp_avg_sq"),
        )
        self.is_graphed = uses_cuda_graph(config.step_mode, device)
        self._step_rate = StepRate(0.0, 0)
        if self.is_graphed:
            # A graph reads rate and step where they are on the device.
            self._step_rate = StepRate(*(torch.zeros((), device=device) for _ in range(2)))
        self._train_step = GraphedFunction(self._run) if self.is_graphed else self._run

    def __call__(self, batch: BatchT, rate: float) -> dict[str, Tensor]:
        """Means over a batch before the update, and the gradient's norm."""
        self._trainable.network.train()
        self._set_rate(rate)
        with torch.no_grad(), autocast(self._device):
            batch = self._trainable.precompute(batch)
        means = self._train_step(batch)
        self._adam.steps += 1
        return means

    def _set_rate(self, rate: float) -> None:
        step = self._adam.steps + 1
        if isinstance(self._step_rate.rate, Tensor) and isinstance(self._step_rate.step, Tensor):
            self._step_rate.rate.fill_(rate)
            self._step_rate.step.fill_(step)
        else:
            self._step_rate = StepRate(rate, step)

    def _run(self, batch: BatchT) -> dict[str, Tensor]:
        with autocast(self._device):
            means = self._trainable.measure(batch)
        self._trainable.network.zero_grad(set_to_none=True)
        # Not by `torch.autograd.grad`: weights may share the tensor that it returns for them.
        torch.autograd.backward(means["loss"])
        used = {name: w.grad for name, w in self._weights.items() if w.grad is not None}
        norm = clip(list(used.values()), self._config.clip)
        for name, gradient in used.items():
            self._adam.update(name, self._weights[name], gradient, self._step_rate)
        # Detached: the autograd graph must not outlive the step.
        return {**{name: value.detach() for name, value in means.items()}, "gradient_norm": norm}

    @property
    def state(self) -> dict[str, Tensor]:
        """The optimiser's state, by the names of weights and of torch's own Adam."""
        named = {name.rpartition(".")[0] for name in self._adam.state}
        steps = {f"{name}{_STEP}": torch.tensor(float(self._adam.steps)) for name in named}
        return {**self._adam.state, **steps}

    @state.setter
    def state(self, saved: Mapping[str, Tensor]) -> None:
        steps = [int(values) for name, values in saved.items() if name.endswith(_STEP)]
        self._adam.steps = max(steps, default=0)
        self._adam.state = {
            name: values.to(self._device)
            for name, values in saved.items()
            if not name.endswith(_STEP)
        }


class SupervisedProgress(NamedTuple):
    epoch: int
    """Counted from 1."""
    step: int
    """Of this epoch."""
    epoch_steps: int
    metrics: DevScores


@dataclass(frozen=True, kw_only=True)
class SupervisedRunContext:
    """Where a run writes, what it runs on, and whom it reports to."""

    folder: Path
    """For checkpoints and metrics."""
    device: torch.device
    report: Callable[[SupervisedProgress], None] = lambda _: None
    should_stop: Callable[[], bool] = lambda: False
    """Called after every step; True ends the run with a checkpoint."""


class SupervisedTrainer(Generic[BatchT]):
    """A run: the network of a task, on its device already, and all state that changes with it.

    To be made and run inside `forked_rng`, since dropout draws from torch's global generators.
    """

    def __init__(
        self, task: Task[BatchT], config: SupervisedConfig, run_context: SupervisedRunContext
    ) -> None:
        self._task, self._config, self._run_context = task, config, run_context
        self._network = task.network
        self._step = SupervisedStep(task, config, run_context.device)
        self._plateau = DevPlateau(
            config.rate, factor=config.rate_factor, patience=config.rate_patience
        )
        self._best: dict[str, Tensor] = {}
        self.best_dev: DevScores = {}
        """Of the epoch with the best weights."""
        self.step = 0
        self.epoch = 0
        """Complete epochs."""
        self._done = 0
        """Complete batches of the present epoch."""
        self._sums: dict[str, Tensor] = {}
        self._batches_summed = 0
        self._last_checkpoint = self._last_report = time.monotonic()
        self._examples = 0

    def run(self) -> bool:
        """Train to the end and load the best weights; False if `should_stop` ended it before."""
        checkpoint = last_checkpoint(self._run_context.folder)
        if checkpoint is not None:
            self._restore(checkpoint)
        if not self._is_over():
            kind = "CUDA-graph" if self._step.is_graphed else "plain"
            _log.info("training with the %s step on %s", kind, self._run_context.device.type)
        with MetricsFile(self._run_context.folder / METRICS_FILE, self.step) as metrics:
            while not self._is_over():
                if not self._run_epoch(metrics):
                    self.write_checkpoint()
                    return False
        set_weights(self._network, self._best, "the best weights")
        return True

    def _is_over(self) -> bool:
        has_converged = 0 < self._config.patience <= self._plateau.epochs_since_best
        return has_converged or self.epoch >= self._config.epochs

    def _run_epoch(self, metrics: MetricsFile) -> bool:
        """The rest of an epoch, and its dev score; False if `should_stop` ended it."""
        order = epoch_batches(
            self._task.sizes,
            self._config.batch,
            seed=self._config.seed,
            epoch=self.epoch,
            pool=self._config.pool,
        )
        for batch, examples in self._batches(order[self._done :]):
            self._train_on(batch, examples)
            if self.step % self._config.report_steps == 0 or self._done == len(order):
                self._report(metrics, len(order))
            # Never between the last batch and the dev score.
            if self._done < len(order):
                if self._run_context.should_stop():
                    return False
                self._write_checkpoint_if_due()
        self._end_epoch(metrics, len(order))
        every = self._config.checkpoint_epochs
        self._write_checkpoint_if_due(at_once=every > 0 and self.epoch % every == 0)
        return self._is_over() or not self._run_context.should_stop()

    def _batches(self, order: list[Int64Array]) -> Iterator[tuple[BatchT, int]]:
        device = self._run_context.device
        batches = ((tree_to(self._task.batch(indices), device), len(indices)) for indices in order)
        # Beside training on a CPU, another thread would only compete for its cores.
        return prefetch(batches, _PREFETCHED) if device.type == "cuda" else batches

    def _train_on(self, batch: BatchT, examples: int) -> None:
        # Summed on the device: reading a value would wait for it.
        for name, value in self._step(batch, self._plateau.rate).items():
            before = self._sums.get(name)
            self._sums[name] = value.double() if before is None else before + value
        self._batches_summed += 1
        self._examples += examples
        self.step += 1
        self._done += 1

    def _means(self) -> DevScores:
        """Since the last report.

        Raises:
            DivergedError: one is not finite.
        """
        means = {name: float(s) / self._batches_summed for name, s in self._sums.items()}
        if all(map(math.isfinite, means.values())):
            return means
        good_step = last_step(self._run_context.folder)
        raise DivergedError(
            f"the loss or its gradient is not a number at step {self.step}, or at one of the "
            f"{self._batches_summed - 1} before it; "
            + ("" if good_step is None else f"the last good checkpoint is of step {good_step}; ")
            + "train anew with a lower training.rate and --overwrite"
        )

    def _report(self, metrics: MetricsFile, epoch_steps: int) -> None:
        means = self._means()
        now = time.monotonic()
        speed = self._examples / max(now - self._last_report, 1e-9)
        self._sums, self._batches_summed = {}, 0
        self._last_report, self._examples = now, 0
        values = {**means, "rate": self._plateau.rate, "examples_per_second": round(speed, 1)}
        metrics.write({"step": self.step, "epoch": self.epoch + 1, **values})
        self._show(self._done, epoch_steps, values)

    def _end_epoch(self, metrics: MetricsFile, epoch_steps: int) -> None:
        """Score the dev examples; the score decides on the rate and the best weights."""
        self._network.eval()
        with torch.no_grad(), autocast(self._run_context.device):
            scores = self._task.score_dev()
        if self._run_context.device.type == "cuda":
            # Scoring has other shapes, whose memory no step can use.
            torch.cuda.empty_cache()
        if self._plateau.observe(scores["score"]):
            self._best, self.best_dev = copy_weights(self._network), scores
        self.epoch, self._done = self.epoch + 1, 0
        values = {f"dev_{name}": value for name, value in scores.items()}
        values["best_dev_score"] = self._plateau.best
        metrics.write({"step": self.step, "epoch": self.epoch, **values})
        self._show(epoch_steps, epoch_steps, values, self.epoch)
        self._last_report = time.monotonic()

    def _show(
        self, step: int, epoch_steps: int, values: DevScores, epoch: int | None = None
    ) -> None:
        progress = SupervisedProgress(epoch or self.epoch + 1, step, epoch_steps, values)
        self._run_context.report(progress)

    def _write_checkpoint_if_due(self, *, at_once: bool = False) -> None:
        waited = time.monotonic() - self._last_checkpoint
        if at_once or waited > 60 * self._config.checkpoint_minutes:
            self.write_checkpoint()

    def write_checkpoint(self) -> Path:
        """Save all state, to resume from; never of a run that has diverged."""
        if self._sums:
            self._means()
        self._last_checkpoint = time.monotonic()
        groups: dict[str, dict[str, Any]] = {
            "network": dict(trainable_weights(self._network)),
            "best": self._best,
            "optimiser": self._step.state,
            "generator": generator_states(self._run_context.device),
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
        return write_checkpoint(self._run_context.folder, Checkpoint(self.step, tensors, state))

    def _restore(self, checkpoint: Checkpoint) -> None:
        groups: dict[str, dict[str, Tensor]] = {}
        for name, values in checkpoint.tensors.items():
            group, _, own = name.partition("/")
            groups.setdefault(group, {})[own] = values
        device = self._run_context.device
        set_weights(self._network, groups["network"], f"the checkpoint of step {checkpoint.step}")
        self._step.state = groups["optimiser"]
        self._best = {name: values.to(device) for name, values in groups.get("best", {}).items()}
        self._sums = {name: values.to(device) for name, values in groups.get("sums", {}).items()}
        set_generator_states(groups["generator"], device)
        state = checkpoint.state
        self.step, self.epoch, self._done = checkpoint.step, state["epoch"], state["done"]
        self._batches_summed = state["batches_summed"]
        self._plateau.restore(state["plateau"])
        self.best_dev = state["best_dev"]
        _log.info("resumed from step %d, in epoch %d", self.step, self.epoch + 1)

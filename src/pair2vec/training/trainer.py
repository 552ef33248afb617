"""The training loop of pair2vec: one for every device and number of ranks, with validation.

A run can be resumed from any checkpoint, and is then the same run, to the bit.
"""

import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, Protocol

import torch
from torch import Tensor

from pair2vec.errors import InputError, Pair2vecError, UsageError
from pair2vec.runtime.cuda_graphs import uses_cuda_graph
from pair2vec.runtime.devices import autocast
from pair2vec.text.corpus import Corpus
from pair2vec.text.patterns import context_text
from pair2vec.text.vocabulary import Vocabulary
from pair2vec.training.batches import BatchSource, BatchStream, NegativeSampler, TripleTensors
from pair2vec.training.checkpoint import (
    Checkpoint,
    checkpoint_path,
    last_checkpoint,
    last_step,
    write_checkpoint,
)
from pair2vec.training.cuda_graph_step import CudaGraphStep, DistributedCudaGraphStep
from pair2vec.training.distributed import SINGLE_PROCESS, ProcessGroup
from pair2vec.training.forecast import Forecast, RunSize, memory_needed
from pair2vec.training.metrics import (
    METRICS_DELAY,
    AsyncMetrics,
    Averages,
    Metrics,
    MetricsFile,
    NoMetrics,
    PendingMetrics,
)
from pair2vec.training.network import BatchOutput, Network, TrainingBatch
from pair2vec.training.optim import OPTIMISERS, SCHEDULES
from pair2vec.training.recipes import Recipe
from pair2vec.training.steps import STEP_METRICS, PlainStep, Step, StepModel
from pair2vec.triples.epoch import START, EpochPosition, TripleStream

_log = logging.getLogger(__name__)

VALIDATION_BATCH = 4_096
"""One for all runs: a batch's contexts are each other's negatives, so its size is in the loss."""
_EXAMPLES = 3
"""Triples named in the message of a diverged run."""


class TrainingProgress(NamedTuple):
    step: int
    total_steps: int
    metrics: dict[str, float]
    seconds_left: float | None = None
    """To the published model; None as long as nothing can be said."""


@dataclass(frozen=True)
class RunContext:
    """What a run is given from outside."""

    folder: Path
    """For checkpoints and metrics."""
    device: torch.device
    report: Callable[[TrainingProgress], None]
    """Called at fixed steps, with the metrics that are written."""
    should_stop: Callable[[], bool]
    """Called after every step; True ends the run with a checkpoint."""
    ranks: ProcessGroup = SINGLE_PROCESS
    """All hold the same weights; rank 0 alone writes files."""
    show: Callable[[TrainingProgress], None] = lambda _: None
    """Called between reports about once a second, with what is known by then."""
    publish_checkpoint: Callable[["Trainer"], None] = lambda _: None
    """Called by rank 0 after it wrote a checkpoint of an unfinished run."""


class PublishedPart(NamedTuple):
    """Tensors and facts that are published beside those of the network."""

    tensors: dict[str, Tensor]
    facts: dict[str, Any]


class AuxiliaryTask(Protocol):
    """Another loss on the same network, trained in turns with the objective."""

    def train_step(self, network: Network, step: int, rate: float) -> None:
        """Called after every step of the objective.

        Args:
            network: On its device.
            step: Of the objective, from 0 on.
            rate: The learning rate of that step, as a share of the recipe's.
        """

    def state(self) -> dict[str, Tensor]:
        """For a checkpoint."""

    def restore(self, state: dict[str, Tensor]) -> None:
        """Continue from what `state` returned."""

    def published(self, network: Network) -> PublishedPart:
        """What it adds to the model folder of the trained network."""


class NoAuxiliaryTask:
    """The objective alone."""

    def train_step(self, network: Network, step: int, rate: float) -> None:
        del network, step, rate

    def state(self) -> dict[str, Tensor]:
        return {}

    def restore(self, state: dict[str, Tensor]) -> None:
        del state

    def published(self, network: Network) -> PublishedPart:
        del network
        return PublishedPart({}, {})


class TrainedNetwork(NamedTuple):
    """A network to go on from, and which of its parameters learn more slowly (`StepModel`)."""

    network: Network
    shares: Mapping[str, Tensor]


class DivergedError(Pair2vecError):
    """The loss or its gradient is not finite."""


class Trainer:
    """A run: the network, and all state that changes with it."""

    def __init__(
        self,
        corpus: Corpus,
        recipe: Recipe,
        start: Tensor | TrainedNetwork,
        neighbours: Tensor | None,
        run_context: RunContext,
        auxiliary: AuxiliaryTask | None = None,
    ) -> None:
        """Set up a run at step 0.

        Args:
            corpus: What to train on.
            recipe: All settings.
            start: (V, D), the initial values of both word tables of a new network; or one that
                has learnt before.
            neighbours: Of `nearest_words`, for typed negatives; None for no such negatives.
            run_context: Folder, device, callbacks and ranks.
            auxiliary: Another loss, in turns with the objective; none by default.
        """
        self.auxiliary = auxiliary or NoAuxiliaryTask()
        self.recipe = recipe
        self._run_context = run_context
        self._vocabulary = corpus.vocabulary
        self._config = recipe.training
        self.ranks, device = run_context.ranks, run_context.device
        if self._config.batch < self.ranks.world_size:
            raise UsageError(
                f"training.batch is {self._config.batch}, which {self.ranks.world_size} ranks "
                "cannot share; raise it, or train on fewer"
            )
        if isinstance(start, Tensor):
            start = TrainedNetwork(_new_network(recipe, start), {})
        self.network = start.network.to(device)
        self._shares = {name: share.to(device) for name, share in start.shares.items()}
        triples = TripleStream(corpus, recipe.triples)
        self._negatives = NegativeSampler.of_triples(
            recipe.negatives, corpus.vocabulary.counts, triples, neighbours, device
        )
        source = BatchSource(triples, self._negatives, self._config, self.ranks, device)
        self._batch_stream = BatchStream(source)
        self._validation = Validation(source)
        self._optimiser = OPTIMISERS[self._config.optimiser]()
        self.size = self._run_size(triples)
        self._train_step = self._make_step()
        self._async_metrics = AsyncMetrics(device)
        self._schedule = SCHEDULES[self._config.schedule](
            self._config.rate,
            total_steps=self.total_steps,
            warmup_steps=self._config.warmup_steps,
            plateau_steps=self._config.plateau_steps,
            plateau_factor=self._config.plateau_factor,
        )
        self.step = 0
        self._position = START
        self._averages = Averages()
        self.last_metrics: dict[str, float] = {}
        self._last_checkpoint = time.monotonic()
        self._is_forecast = False

    def _run_size(self, triples: TripleStream) -> RunSize:
        config, steps, in_epoch = self._config, 0, 0
        if config.epochs:
            in_epoch = triples.expected_triples()
            by_epochs = config.epochs * in_epoch // config.batch
            steps = min(config.steps or by_epochs, by_epochs) or 1
        memory = memory_needed(self.recipe, len(self._vocabulary))
        return RunSize(in_epoch, steps, config.batch, memory)

    @property
    def total_steps(self) -> int:
        return self.size.steps

    def _make_step(self) -> Step:
        model = StepModel(
            self.network, self._optimiser, self._config, self._negatives.typed, self._shares
        )
        captured = uses_cuda_graph(self._config.step_mode, self._run_context.device)
        if self._shares or not captured:
            return PlainStep(model, self.ranks)
        if self.ranks.world_size == 1:
            return CudaGraphStep(model)
        return DistributedCudaGraphStep(model, self.ranks)

    @property
    def triples(self) -> int:
        """Triples trained on so far."""
        return self.step * self._config.batch

    def run(self) -> bool:
        """Train to the end; False if `should_stop` ended the run before."""
        checkpoint = self._find_checkpoint()
        if checkpoint is not None:
            self._restore(checkpoint)
        self._log_start()
        self._forecast = Forecast(self.size, self.recipe, len(self._vocabulary), self.step)
        with self._open_metrics() as metrics:
            for batch, position in self._batches():
                self._train_on(batch)
                self.step += 1
                self._position = position
                is_shown = self._forecast.is_due(self.step)
                if self.step % self._config.report_steps == 0:
                    self._report(metrics)
                elif is_shown:
                    averages = self._averages.so_far(self._config.batch)
                    rate = {"rate": self._schedule.rate(self.step)}
                    self._run_context.show(self._progress({**rate, **averages}))
                if self.step % self._config.validation_steps == 0 and self._has_converged(metrics):
                    break
                is_due, is_stopped = self._checkpoint_or_stop()
                if is_due or is_stopped:
                    with self._forecast.aside():
                        self.write_checkpoint()
                        self._publish_checkpoint()
                if is_stopped:
                    return False
            self.write_checkpoint()
        return True

    def _find_checkpoint(self) -> Checkpoint | None:
        """What to resume from: the same on all ranks, or the same error."""
        checkpoint, damage = None, None
        try:
            checkpoint = last_checkpoint(self._run_context.folder)
        except InputError as error:
            damage = error
        step = 0 if checkpoint is None else checkpoint.step
        if not self.ranks.all_equal(step if damage is None else -1):
            raise UsageError(
                f"{self._run_context.folder}: not all ranks find the same checkpoint there; "
                "train into a folder that all of them share"
            )
        if damage is not None:
            raise damage
        return checkpoint

    def _log_start(self) -> None:
        if self.ranks.rank == 0 and self.step < self.total_steps:
            step_name = "plain" if isinstance(self._train_step, PlainStep) else "CUDA-graph"
            _log.info("training with the %s step on %s", step_name, self._run_context.device.type)
            _log.info("%s", self.size)

    def _open_metrics(self) -> Metrics:
        if self.ranks.rank:
            return NoMetrics()
        return MetricsFile(self._run_context.folder / "metrics.jsonl", self.step)

    def _batches(self) -> Iterator[tuple[TrainingBatch, EpochPosition]]:
        """From the present position to the last step or epoch; none for a converged run."""
        last = self.step if self._validation.has_converged else self.total_steps
        return self._batch_stream.batches(self._position, range(self.step, last))

    def _train_on(self, batch: TrainingBatch) -> None:
        rate = self._schedule.rate(self.step)
        values = self._train_step(batch, rate)
        share = rate / self._config.rate if self._config.rate else 0.0
        self.auxiliary.train_step(self.network, self.step, share)
        for pending in self._async_metrics.push(self.step, batch, values):
            self._observe(pending)

    def _observe(self, pending: PendingMetrics) -> None:
        """Take in the metrics of a step, which on a GPU is one of some steps ago."""
        values = dict(zip(STEP_METRICS, pending.values(), strict=True))
        loss = self._averages.add(values)
        if not math.isfinite(sum(values.values())):
            self._raise_diverged(pending)
        self._schedule.observe(pending.step, loss)

    def _flush_metrics(self) -> None:
        for pending in self._async_metrics.drain():
            self._observe(pending)

    def _raise_diverged(self, pending: PendingMetrics) -> NoReturn:
        with torch.no_grad():
            losses = self._forward(pending.batch).losses.total()
        good_step = last_step(self._run_context.folder)
        raise DivergedError(
            divergence_message(pending.step, pending.batch, losses, self._vocabulary, good_step)
        )

    def _forward(self, batch: TrainingBatch) -> BatchOutput:
        with autocast(self._run_context.device):
            output: BatchOutput = self.network(batch, self._negatives.typed)
        return output

    def _checkpoint_or_stop(self) -> tuple[bool, bool]:
        """Whether a checkpoint is due, and whether to stop: the same answer on all ranks.

        GPUs agree only when metrics are due, and before one would wait for its own: a lost rank is
        then detected by this call, which says so.
        """
        waited = time.monotonic() - self._last_checkpoint
        flags = [waited > 60 * self._config.checkpoint_minutes, self._run_context.should_stop()]
        every_step = self.ranks.world_size == 1 or self._run_context.device.type != "cuda"
        agree_now = every_step or self.step % METRICS_DELAY == 0
        is_due, is_stopped = self.ranks.any_rank(flags) if agree_now else (False, False)
        return is_due or self.step % self._config.checkpoint_steps == 0, is_stopped

    def _report(self, metrics: Metrics) -> None:
        self._flush_metrics()
        self.last_metrics = {
            "step": self.step,
            "epoch": self._position.epoch,
            "triples": self.triples,
            "rate": self._schedule.rate(self.step),
            **self._averages.take(self._config.batch),
        }
        metrics.write(self.last_metrics)
        self._run_context.report(self._progress(self.last_metrics))

    def _progress(self, metrics: dict[str, float]) -> TrainingProgress:
        left = self._forecast.seconds_left(self.step)
        if left is not None and not self._is_forecast:
            self._is_forecast = True
            if self.ranks.rank == 0:
                _log.info("%s", self._forecast.message(self.step, left))
        return TrainingProgress(self.step, self.total_steps, metrics, left)

    def _has_converged(self, metrics: Metrics) -> bool:
        """Validate; True when the loss has not fallen for `patience` validations."""
        with self._forecast.aside(validation=True):
            loss = self.validate()
        if loss is None:
            return False
        metrics.write({"step": self.step, "triples": self.triples, "validation_loss": loss})
        self._run_context.report(self._progress({"validation_loss": loss}))
        self._validation.observe(loss)
        return self._validation.has_converged

    def validate(self) -> float | None:
        """The mean loss of held-out triples, always against the same negatives."""
        return self._validation.loss(self._forward)

    def write_checkpoint(self) -> Path:
        """Save all state, to resume from; rank 0 writes it."""
        self._flush_metrics()
        self._last_checkpoint = time.monotonic()
        with self.ranks.rank_zero_first() as is_rank_zero:
            if is_rank_zero:
                write_checkpoint(self._run_context.folder, self._checkpoint())
        return checkpoint_path(self._run_context.folder, self.step)

    def _publish_checkpoint(self) -> None:
        if self.step < self.total_steps:
            with self.ranks.rank_zero_first() as is_rank_zero:
                if is_rank_zero:
                    self._run_context.publish_checkpoint(self)

    def _checkpoint(self) -> Checkpoint:
        tensors = {f"network.{name}": value for name, value in self.network.state_dict().items()}
        tensors |= {f"optimiser.{name}": value for name, value in self._optimiser.state.items()}
        tensors["generator"] = self._batch_stream.generator.get_state()
        tensors |= {f"auxiliary.{name}": value for name, value in self.auxiliary.state().items()}
        state = {
            "place": self._position,
            "optimiser_steps": self._optimiser.steps,
            "schedule": self._schedule.state,
            "averages": self._averages.state,
            "last_metrics": self.last_metrics,
            **self._validation.state,
        }
        return Checkpoint(self.step, tensors, state)

    def _restore(self, checkpoint: Checkpoint) -> None:
        def group(prefix: str) -> dict[str, Tensor]:
            return {
                name.removeprefix(prefix): tensor
                for name, tensor in checkpoint.tensors.items()
                if name.startswith(prefix)
            }

        self.network.load_state_dict(group("network."))
        device = self._run_context.device
        self._optimiser.state = {name: t.to(device) for name, t in group("optimiser.").items()}
        self._batch_stream.generator.set_state(checkpoint.tensors["generator"])
        self.auxiliary.restore(group("auxiliary."))
        state: dict[str, Any] = checkpoint.state
        self._optimiser.steps = state["optimiser_steps"]
        self._schedule.state.update(state["schedule"])
        self._averages.state = state["averages"]
        self.last_metrics = state["last_metrics"]
        self._validation.restore(state["best_validation"], state["validations_since_best"])
        self.step = checkpoint.step
        self._position = EpochPosition(*state["place"])
        _log.info("resumed from step %d", self.step)


def _new_network(recipe: Recipe, vectors: Tensor) -> Network:
    generator = torch.Generator().manual_seed(recipe.training.seed)
    network = Network(len(vectors), recipe.pair, recipe.context, generator)
    network.pair_words.copy_(vectors)
    network.context_words.copy_(vectors)
    return network


class Validation:
    """The held-out triples of a run, and the history of their loss for early stopping."""

    def __init__(self, source: BatchSource) -> None:
        self._triples, self._negatives, self._config, self._ranks, self._device = source
        self._best = math.inf
        self._since_best = 0

    @torch.no_grad()
    def loss(self, forward: Callable[[TrainingBatch], BatchOutput]) -> float | None:
        """The mean loss of held-out triples, always against the same negatives.

        Ranks share the batches; the result is that of one rank, to the bit. None if no triples are
        held out.
        """
        generator = torch.Generator(self._device).manual_seed(self._config.seed + 2)
        own_sums: list[float] = []
        count = 0
        for triples in self._triples.held_out(VALIDATION_BATCH):
            batch = self._negatives.complete(TripleTensors.from_numpy(triples), generator)
            is_own = len(own_sums) % self._ranks.world_size == self._ranks.rank
            own_sums.append(float(forward(batch).losses.total().double().sum()) if is_own else 0.0)
            count += len(triples.x)
            if count >= self._config.validation_triples:
                break
        sums = torch.tensor(own_sums, dtype=torch.float64)
        self._ranks.all_reduce(sums)
        # In the order of batches, which rounds the same on any number of ranks.
        total = 0.0
        for value in sums.tolist():
            total += value
        return total / count if count else None

    def observe(self, loss: float) -> None:
        if loss < self._best:
            self._best, self._since_best = loss, 0
        else:
            self._since_best += 1

    @property
    def has_converged(self) -> bool:
        """Whether the loss has not fallen for `patience` validations."""
        return 0 < self._config.patience <= self._since_best

    @property
    def state(self) -> dict[str, float]:
        """For a checkpoint."""
        return {"best_validation": self._best, "validations_since_best": self._since_best}

    def restore(self, best_validation: float, validations_since_best: int) -> None:
        self._best, self._since_best = best_validation, validations_since_best


def divergence_message(
    step: int, batch: TrainingBatch, losses: Tensor, vocabulary: Vocabulary, good_step: int | None
) -> str:
    """What a user is told of a diverged run: when, on which triples, and what to do.

    Args:
        step: The one that diverged.
        batch: Its batch.
        losses: (B,), of the triples of the batch.
        vocabulary: Of the corpus.
        good_step: That of the last checkpoint, if there is one.
    """
    broken = (~losses.isfinite()).nonzero().flatten().tolist()
    examples = ", ".join(_triple_text(batch, row, vocabulary) for row in broken[:_EXAMPLES])
    return (
        f"the loss or its gradient is not a number at step {step}"
        + (f" for {len(broken)} triples: {examples}; " if broken else "; ")
        + ("" if good_step is None else f"the last good checkpoint is of step {good_step}; ")
        + "train anew with a lower training.rate and --overwrite"
    )


def _triple_text(batch: TrainingBatch, row: int, vocabulary: Vocabulary) -> str:
    x, y = (vocabulary.words[int(words[row])] for words in (batch.x, batch.y))
    for contexts in batch.contexts:
        if row < len(contexts):
            return f"({x}, {y}, {context_text(contexts[row].tolist(), vocabulary)!r})"
        row -= len(contexts)
    raise IndexError(row)

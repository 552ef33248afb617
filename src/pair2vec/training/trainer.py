"""Validation: the loss of triples that are held out, and whether it still falls."""

import logging
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import torch
from torch import Tensor

from pair2vec.errors import Pair2vecError, UsageError
from pair2vec.runtime.devices import autocast
from pair2vec.text.corpus import Corpus
from pair2vec.text.patterns import context_text
from pair2vec.text.vocabulary import Vocabulary
from pair2vec.training.batches import BatchSource, BatchStream, NegativeSampler, TripleTensors
from pair2vec.training.checkpoint import (
    Checkpoint,
    checkpoint_path,
    last_checkpoint,
    write_checkpoint,
)
from pair2vec.training.cuda_graph_step import CudaGraphStep, DistributedCudaGraphStep
from pair2vec.training.distributed import SINGLE_PROCESS, ProcessGroup
from pair2vec.training.metrics import (
    STEPS_BEHIND,
    AsyncMetrics,
    Averages,
    Metrics,
    MetricsFile,
    NoMetrics,
    StepReading,
)
from pair2vec.training.network import BatchOutput, Network, TrainingBatch
from pair2vec.training.optim import OPTIMISERS, SCHEDULES
from pair2vec.training.recipes import Recipe
from pair2vec.training.steps import SUMMARY, PlainStep, Step
from pair2vec.triples.epoch import START, EpochPosition, TripleStream

VALIDATION_BATCH = 4_096
"""One for all runs: a batch's contexts are each other's negatives, so its size is in the loss."""


class Validation:
    """The held-out triples of a run, and how its validations went."""

    def __init__(self, supply: BatchSource) -> None:
        self._triples, self._negatives, self._config, self._ranks, self._device = supply
        self._best = math.inf
        self._since_best = 0

    @torch.no_grad()
    def loss(self, outcome: Callable[[TrainingBatch], BatchOutput]) -> float | None:
        """The mean loss of held-out triples, against the same negatives every time.

        Ranks share the batches; the number is that of one rank, to the bit. None if no triples are
        held out.
        """
        generator = torch.Generator(self._device).manual_seed(self._config.seed + 2)
        sums: list[float] = []
        count = 0
        for triples in self._triples.held_out(VALIDATION_BATCH):
            batch = self._negatives.complete(TripleTensors.of(triples), generator)
            is_own = len(sums) % self._ranks.count == self._ranks.rank
            sums.append(float(outcome(batch).losses.total().double().sum()) if is_own else 0.0)
            count += len(triples.x)
            if count >= self._config.validation_triples:
                break
        of_all = torch.tensor(sums, dtype=torch.float64)
        self._ranks.add_up(of_all)
        total = 0.0
        for value in of_all.tolist():
            total += value
        return total / count if count else None

    def note(self, loss: float) -> None:
        """Remember how a validation of the run went."""
        if loss < self._best:
            self._best, self._since_best = loss, 0
        else:
            self._since_best += 1

    @property
    def has_settled(self) -> bool:
        """Whether the loss has not fallen for longer than the patience."""
        return 0 < self._config.patience <= self._since_best

    @property
    def state(self) -> dict[str, float]:
        """What a checkpoint keeps of it."""
        return {"best_validation": self._best, "validations_since_best": self._since_best}

    def restore(self, best_validation: float, validations_since_best: int) -> None:
        """Go on from a `state`."""
        self._best, self._since_best = best_validation, validations_since_best


# == What is said of a run that diverged: when, on which triples, and what to do.


_EXAMPLES = 3


def divergence_message(
    step: int, batch: TrainingBatch, losses: Tensor, vocabulary: Vocabulary, good_step: int | None
) -> str:
    """A message to a user.

    Args:
        step: The one that went wrong.
        batch: What it learnt from.
        losses: Of the triples of the batch.
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
    return f"({x}, {y}, {context_text(_context_of(batch, row), vocabulary)!r})"


def _context_of(batch: TrainingBatch, row: int) -> list[int]:
    """The context of a triple of a batch, as ids."""
    for group in batch.contexts:
        if row < len(group):
            ids: list[int] = group[row].tolist()
            return ids
        row -= len(group)
    raise IndexError(row)


# == The training loop: one for every device, resumable at any checkpoint.


_log = logging.getLogger(__name__)

LONG_RUN = 20_000_000
"""Triples from which on it is worth to record a step on a GPU, which takes half a minute."""


class TrainingProgress(NamedTuple):
    """What is shown of a run."""

    step: int
    total_steps: int
    metrics: dict[str, float]


@dataclass(frozen=True)
class RunContext:
    """What a run needs of the outside."""

    folder: Path
    """For checkpoints and metrics."""
    device: torch.device
    report: Callable[[TrainingProgress], None]
    should_stop: Callable[[], bool]
    """Asked after every step; True ends the run with a checkpoint."""
    ranks: ProcessGroup = SINGLE_PROCESS
    """Those that train together: all hold the same weights, the first does what is done once."""


class DivergedError(Pair2vecError):
    """The loss is no number any more."""


class Trainer:
    """A run: the network, and everything that changes with it."""

    def __init__(
        self,
        corpus: Corpus,
        recipe: Recipe,
        vectors: Tensor,
        neighbours: Tensor | None,
        surroundings: RunContext,
    ) -> None:
        self.recipe = recipe
        self._surroundings = surroundings
        self._vocabulary = corpus.vocabulary
        self._config = recipe.training
        self.ranks = surroundings.ranks
        if self._config.batch < self.ranks.count:
            raise UsageError(
                f"training.batch is {self._config.batch}, which {self.ranks.count} ranks cannot "
                "share; raise it, or train on fewer"
            )
        device = surroundings.device
        setup = torch.Generator().manual_seed(self._config.seed)
        self.network = Network(len(corpus.vocabulary), recipe.pair, recipe.context, setup)
        self.network.pair_words.copy_(vectors)
        self.network.context_words.copy_(vectors)
        self.network.to(device)
        self._stream = TripleStream(corpus, recipe.triples)
        self._negatives = NegativeSampler(
            recipe.negatives, corpus.vocabulary.counts, neighbours, device
        )
        supply = BatchSource(self._stream, self._negatives, self._config, self.ranks, device)
        self._source = BatchStream(supply)
        self._validation = Validation(supply)
        self._optimiser = OPTIMISERS[self._config.optimiser]()
        self.total_steps = self._count_steps()
        self._learn = self._choose_step()
        self._readings = AsyncMetrics(device)
        self._schedule = SCHEDULES[self._config.schedule](
            self._config.rate,
            total_steps=self.total_steps,
            warmup_steps=self._config.warmup_steps,
            plateau_steps=self._config.plateau_steps,
            plateau_factor=self._config.plateau_factor,
        )
        self.step = 0
        self._place = START
        self._averages = Averages()
        self.last_metrics: dict[str, float] = {}
        self._last_checkpoint = time.monotonic()

    def _count_steps(self) -> int:
        if not self._config.epochs:
            return 0
        by_epochs = self._config.epochs * self._stream.expected_triples() // self._config.batch
        return min(self._config.steps or by_epochs, by_epochs) or 1

    def _choose_step(self) -> Step:
        is_long = self.total_steps * self._config.batch >= LONG_RUN
        is_fused = self._surroundings.device.type == "cuda" and is_long
        parts = (self.network, self._optimiser, self._config, self._negatives.typed)
        if not is_fused:
            return PlainStep(*parts, self.ranks)
        return (
            CudaGraphStep(*parts)
            if self.ranks.count == 1
            else DistributedCudaGraphStep(*parts, self.ranks)
        )

    @property
    def triples(self) -> int:
        """Seen so far."""
        return self.step * self._config.batch

    def run(self) -> bool:
        """Train to the end; False if asked to stop before it."""
        resumed = last_checkpoint(self._surroundings.folder)
        if not self.ranks.agree(0 if resumed is None else resumed.step):
            raise UsageError(
                f"{self._surroundings.folder}: not all ranks find the same checkpoint there; "
                "train into a folder that all of them share"
            )
        if resumed is not None:
            self._restore(resumed)
        with self._metrics() as metrics:
            for batch, place in self._batches():
                self._train_on(batch)
                self.step += 1
                self._place = place
                if self.step % self._config.report_steps == 0:
                    self._report(metrics)
                if self.step % self._config.validation_steps == 0 and self._has_settled(metrics):
                    break
                is_due, is_over = self._wishes()
                if is_due:
                    self.write_checkpoint()
                if is_over:
                    self.write_checkpoint()
                    return False
            self.write_checkpoint()
        return True

    def _metrics(self) -> Metrics:
        if self.ranks.rank:
            return NoMetrics()
        return MetricsFile(self._surroundings.folder / "metrics.jsonl", self.step)

    def _wishes(self) -> tuple[bool, bool]:
        """Whether to write a checkpoint, and whether to stop: as all ranks know at the same step.

        GPUs that train together ask each other before one would have to wait for its readings: a
        rank that is lost is then found by a question, which says so.
        """
        waited = time.monotonic() - self._last_checkpoint
        wishes = [waited > 60 * self._config.checkpoint_minutes, self._surroundings.should_stop()]
        asks_always = self.ranks.count == 1 or self._surroundings.device.type != "cuda"
        is_asked = asks_always or self.step % STEPS_BEHIND == 0
        is_due, is_over = self.ranks.any(wishes) if is_asked else (False, False)
        return is_due or self.step % self._config.checkpoint_steps == 0, is_over

    def _batches(self) -> Iterator[tuple[TrainingBatch, EpochPosition]]:
        """From the present place to the last step or epoch; none where the loss has settled."""
        last = self.step if self._validation.has_settled else self.total_steps
        return self._source.batches(self._place, range(self.step, last))

    def _train_on(self, batch: TrainingBatch) -> None:
        values = self._learn(batch, self._schedule.rate(self.step))
        for reading in self._readings.push(self.step, batch, values):
            self._note(reading)

    def _read_all(self) -> None:
        """Wait for the steps that are still on their way."""
        for reading in self._readings.drain():
            self._note(reading)

    def _note(self, reading: StepReading) -> None:
        values = dict(zip(SUMMARY, reading.values(), strict=True))
        loss = self._averages.add(values)
        if not math.isfinite(sum(values.values())):
            self._stop_diverged(reading)
        self._schedule.observe(reading.step, loss)

    def _stop_diverged(self, reading: StepReading) -> NoReturn:
        with torch.no_grad():
            each = self._outcome(reading.batch).losses.total()
        found = last_checkpoint(self._surroundings.folder)
        good_step = found.step if found else None
        raise DivergedError(
            divergence_message(reading.step, reading.batch, each, self._vocabulary, good_step)
        )

    def _outcome(self, batch: TrainingBatch) -> BatchOutput:
        with autocast(self._surroundings.device):
            outcome: BatchOutput = self.network(batch, self._negatives.typed)
        return outcome

    def _report(self, metrics: Metrics) -> None:
        self._read_all()
        self.last_metrics = {
            "step": self.step,
            "epoch": self._place.epoch,
            "triples": self.triples,
            "rate": self._schedule.rate(self.step),
            **self._averages.take(self._config.batch),
        }
        metrics.write(self.last_metrics)
        self._surroundings.report(TrainingProgress(self.step, self.total_steps, self.last_metrics))

    def _has_settled(self, metrics: Metrics) -> bool:
        """Validate; True when the loss has not fallen for longer than the patience."""
        loss = self.validate()
        if loss is None:
            return False
        metrics.write({"step": self.step, "triples": self.triples, "validation_loss": loss})
        self._surroundings.report(
            TrainingProgress(self.step, self.total_steps, {"validation_loss": loss})
        )
        self._validation.note(loss)
        return self._validation.has_settled

    def validate(self) -> float | None:
        """The mean loss of held-out triples, against the same negatives every time."""
        return self._validation.loss(self._outcome)

    def write_checkpoint(self) -> Path:
        """Everything that changes, to go on from: of all ranks, the first writes it."""
        self._read_all()
        self._last_checkpoint = time.monotonic()
        with self.ranks.one_works() as is_own:
            if is_own:
                write_checkpoint(self._surroundings.folder, self._checkpoint())
        return checkpoint_path(self._surroundings.folder, self.step)

    def _checkpoint(self) -> Checkpoint:
        tensors = {f"network.{name}": value for name, value in self.network.state_dict().items()}
        tensors |= {f"optimiser.{name}": value for name, value in self._optimiser.state.items()}
        tensors["generator"] = self._source.generator.get_state()
        state = {
            "place": self._place,
            "optimiser_steps": self._optimiser.steps,
            "schedule": self._schedule.state,
            "averages": self._averages.state,
            "last_metrics": self.last_metrics,
            **self._validation.state,
        }
        return Checkpoint(self.step, tensors, state)

    def _restore(self, checkpoint: Checkpoint) -> None:
        def part(prefix: str) -> dict[str, Tensor]:
            return {
                name.removeprefix(prefix): tensor
                for name, tensor in checkpoint.tensors.items()
                if name.startswith(prefix)
            }

        self.network.load_state_dict(part("network."))
        device = self._surroundings.device
        self._optimiser.state = {name: t.to(device) for name, t in part("optimiser.").items()}
        self._source.generator.set_state(checkpoint.tensors["generator"])
        state: dict[str, Any] = checkpoint.state
        self._optimiser.steps = state["optimiser_steps"]
        self._schedule.state.update(state["schedule"])
        self._averages.state = state["averages"]
        self.last_metrics = state["last_metrics"]
        self._validation.restore(state["best_validation"], state["validations_since_best"])
        self.step = checkpoint.step
        self._place = EpochPosition(*state["place"])
        _log.info("going on from step %d", self.step)

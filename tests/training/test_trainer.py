"""The loop: diverged steps, metrics that arrive later, which step runs, and early stopping."""

import json
import logging
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from pair2vec.encoders.context import ContextConfig
from pair2vec.encoders.pair import PairConfig
from pair2vec.errors import UsageError
from pair2vec.text.corpus import Corpus
from pair2vec.training.batches import BatchSource, NegativeSampler, NegativesConfig
from pair2vec.training.checkpoint import last_checkpoint
from pair2vec.training.distributed import SINGLE_PROCESS
from pair2vec.training.metrics import AsyncMetrics, PendingMetrics
from pair2vec.training.network import TrainingBatch
from pair2vec.training.optim import TrainingConfig
from pair2vec.training.recipes import Recipe, with_settings
from pair2vec.training.steps import STEP_METRICS
from pair2vec.training.trainer import (
    DivergedError,
    RunContext,
    Trainer,
    TrainingProgress,
    Validation,
)
from pair2vec.triples.epoch import TriplesConfig, TripleStream

CPU, SIZE, STEPS = torch.device("cpu"), 16, 20
RECIPE = Recipe(
    name="small",
    triples=TriplesConfig(threshold=1e-7),
    pair=PairConfig(dimension=SIZE, layers=2),
    context=ContextConfig(dimension=SIZE, hidden=8),
    negatives=NegativesConfig(typed=0),
    training=TrainingConfig(
        batch=128, steps=STEPS, schedule="constant", clip=0, report_steps=5, checkpoint_steps=10
    ),
)
EXPLODING = 1e32
"""Times the learning rate, which no setting allows: the next loss is infinite or NaN."""


class LateMetrics(AsyncMetrics):
    """As on a GPU, where the metrics of a step are read some steps later, or when needed."""

    def __init__(self, late: int) -> None:
        super().__init__(CPU)
        self._late = late
        self._kept: list[PendingMetrics] = []

    def push(self, step: int, batch: TrainingBatch, values: Tensor) -> list[PendingMetrics]:
        self._kept += super().push(step, batch, values)
        return [self._kept.pop(0)] if len(self._kept) > self._late else []

    def drain(self) -> list[PendingMetrics]:
        left, self._kept = self._kept, []
        return left


def make_trainer(
    corpus: Corpus, folder: Path, reports: list[TrainingProgress] | None = None, **training: object
) -> Trainer:
    start = torch.randn(len(corpus.vocabulary), SIZE, generator=torch.Generator().manual_seed(0))
    reports = [] if reports is None else reports
    run_context = RunContext(folder, CPU, reports.append, lambda: False)
    recipe = with_settings(RECIPE, {"training": {"rate": 0.001, **training}})
    return Trainer(corpus, recipe, start, None, run_context)


def losses_of(reports: list[TrainingProgress]) -> list[tuple[int, float, float]]:
    return [
        (progress.step, progress.metrics["loss"], progress.metrics["gradient_norm"])
        for progress in reports
    ]


def exploding(trainer: Trainer) -> Trainer:
    train_step = trainer._train_step
    trainer._train_step = lambda batch, rate: train_step(batch, EXPLODING * rate)
    return trainer


def test_a_diverged_run_names_step_triples_and_checkpoint(corpus: Corpus, tmp_path: Path) -> None:
    assert make_trainer(corpus, tmp_path, steps=10).run()
    pattern = (
        r"^the loss or its gradient is not a number at step (\d+) for (\d+) triples: "
        r"\((\S+), (\S+), '(.+?)'\).*; the last good checkpoint is of step 10; "
        r"train anew with a lower training\.rate"
    )
    with pytest.raises(DivergedError) as raised:
        exploding(make_trainer(corpus, tmp_path)).run()
    match = re.search(pattern, str(raised.value))
    assert match is not None
    step, triples, x, y, context = match.groups()
    assert 10 < int(step) < 20
    assert 0 < int(triples) <= 128
    assert {x, y} <= corpus.vocabulary.ids.keys()
    assert {"X", "Y"} < set(context.split()) <= {"X", "Y", *corpus.vocabulary.ids}


def test_a_gradient_that_is_not_finite_ends_a_run_with_a_finite_loss(
    corpus: Corpus, tmp_path: Path
) -> None:
    trainer = make_trainer(corpus, tmp_path)
    train_step = trainer._train_step

    def break_the_fourth(batch: TrainingBatch, rate: float) -> Tensor:
        values = train_step(batch, rate)
        if trainer.step == 3:
            values[STEP_METRICS.index("gradient_norm")] = torch.inf
        return values

    trainer._train_step = break_the_fourth
    message = "^the loss or its gradient is not a number at step 3; train anew with a lower"
    with pytest.raises(DivergedError, match=message):
        trainer.run()


def test_a_diverged_step_is_detected_before_a_checkpoint_is_written(
    corpus: Corpus, tmp_path: Path
) -> None:
    trainer = exploding(make_trainer(corpus, tmp_path, report_steps=100))
    trainer._async_metrics = LateMetrics(late=100)
    with pytest.raises(DivergedError, match=r"at step [1-9] for"):
        trainer.run()
    assert trainer.step == 10
    assert last_checkpoint(tmp_path) is None


@pytest.mark.parametrize("late", [1, 8, 100])
def test_a_run_that_reads_its_metrics_later_is_the_same_run(
    corpus: Corpus, tmp_path: Path, late: int
) -> None:
    at_once: list[TrainingProgress] = []
    later: list[TrainingProgress] = []
    plain = make_trainer(corpus, tmp_path / "plain", at_once)
    assert plain.run()
    trainer = make_trainer(corpus, tmp_path / "late", later)
    trainer._async_metrics = LateMetrics(late)
    assert trainer.run()
    assert [step for step, *_ in losses_of(later)] == [5, 10, 15, 20]
    assert losses_of(later) == losses_of(at_once)
    for name, tensor in plain.network.state_dict().items():
        assert torch.equal(trainer.network.state_dict()[name], tensor), name


def test_a_checkpoint_is_written_after_some_time_even_between_two_due_ones(
    corpus: Corpus, tmp_path: Path
) -> None:
    trainer = make_trainer(
        corpus, tmp_path, steps=7, checkpoint_minutes=1e-9, checkpoint_steps=10**6
    )
    written_steps: list[int] = []
    write = trainer.write_checkpoint

    def write_and_record() -> Path:
        written_steps.append(trainer.step)
        return write()

    trainer.write_checkpoint = write_and_record  # type: ignore[method-assign]
    trainer.run()
    assert written_steps == [1, 2, 3, 4, 5, 6, 7, 7]


def test_the_step_that_runs_is_logged_once(
    corpus: Corpus, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    assert make_trainer(corpus, tmp_path).run()
    assert caplog.messages[:-1] == ["training with the plain step on cpu"]


def test_a_cuda_graph_step_on_a_cpu_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="step_mode is 'cuda_graph', but the device is cpu"):
        make_trainer(corpus, tmp_path, step_mode="cuda_graph")


WithPatience = Callable[[int], Validation]
LOSSES = st.lists(st.integers(0, 4).map(float), max_size=12)


@pytest.fixture(scope="module")
def with_patience(corpus: Corpus) -> WithPatience:
    """Makes the validation of a run that was not validated yet."""
    cpu = torch.device("cpu")
    triples = TripleStream(corpus, TriplesConfig())
    negatives = NegativeSampler(NegativesConfig(), corpus.vocabulary.counts, None, cpu)
    return lambda patience: Validation(
        BatchSource(triples, negatives, TrainingConfig(patience=patience), SINGLE_PROCESS, cpu)
    )


def is_over(losses: list[float], patience: int) -> bool:
    """Whether none of the last ones is lower than the best before them."""
    before, last = losses[:-patience], losses[-patience:]
    return bool(before) and min(last) >= min(before)


@given(losses=LOSSES, patience=st.integers(1, 4))
def test_a_run_has_converged_when_the_last_losses_are_no_lower_than_one_before(
    with_patience: WithPatience, losses: list[float], patience: int
) -> None:
    validation = with_patience(patience)
    for count, loss in enumerate(losses, start=1):
        validation.observe(loss)
        assert validation.has_converged == is_over(losses[:count], patience)


@given(losses=LOSSES)
def test_a_patience_of_zero_never_stops_a_run(
    with_patience: WithPatience, losses: list[float]
) -> None:
    validation = with_patience(0)
    for loss in losses:
        validation.observe(loss)
        assert not validation.has_converged


@given(before=LOSSES, after=LOSSES)
def test_a_resumed_run_converges_when_an_unbroken_one_does(
    with_patience: WithPatience, before: list[float], after: list[float]
) -> None:
    unbroken, resumed = with_patience(2), with_patience(2)
    for loss in before:
        unbroken.observe(loss)
    # As in a checkpoint, where an infinite best loss is kept too.
    resumed.restore(**json.loads(json.dumps(unbroken.state)))
    for loss in after:
        assert resumed.has_converged == unbroken.has_converged
        resumed.observe(loss)
        unbroken.observe(loss)
    assert resumed.state == unbroken.state

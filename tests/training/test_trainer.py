"""The loop: what it does when a step goes wrong, and when it hears of steps only later."""

import re
from pathlib import Path

import pytest
import torch
from torch import Tensor

from pair2vec.encoders.context import ContextConfig
from pair2vec.encoders.pair import PairConfig
from pair2vec.text.corpus import Corpus
from pair2vec.training.checkpoint import last_checkpoint
from pair2vec.training.metrics import AsyncMetrics, StepReading
from pair2vec.training.negatives import NegativesConfig
from pair2vec.training.network import TrainingBatch
from pair2vec.training.recipes import Recipe, TrainingConfig, with_settings
from pair2vec.training.steps import SUMMARY
from pair2vec.training.trainer import DivergedError, RunContext, Trainer, TrainingProgress
from pair2vec.triples.epoch import TriplesConfig

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
EXPLODING = 1e30
"""A rate."""


class LateReadings(AsyncMetrics):
    """As on a GPU, where the values of a step are looked at some steps later, or when needed."""

    def __init__(self, late: int) -> None:
        super().__init__(CPU)
        self._late = late
        self._kept: list[StepReading] = []

    def push(self, step: int, batch: TrainingBatch, values: Tensor) -> list[StepReading]:
        self._kept += super().push(step, batch, values)
        return [self._kept.pop(0)] if len(self._kept) > self._late else []

    def drain(self) -> list[StepReading]:
        left, self._kept = self._kept, []
        return left


def make_trainer(
    corpus: Corpus, folder: Path, reports: list[TrainingProgress] | None = None, **training: object
) -> Trainer:
    start = torch.randn(len(corpus.vocabulary), SIZE, generator=torch.Generator().manual_seed(0))
    reports = [] if reports is None else reports
    surroundings = RunContext(folder, CPU, reports.append, lambda: False)
    recipe = with_settings(RECIPE, {"training": {"rate": 0.001, **training}})
    return Trainer(corpus, recipe, start, None, surroundings)


def losses_of(reports: list[TrainingProgress]) -> list[tuple[int, float, float]]:
    return [
        (progress.step, progress.metrics["loss"], progress.metrics["gradient_norm"])
        for progress in reports
    ]


def test_a_diverged_run_names_step_triples_and_checkpoint(corpus: Corpus, tmp_path: Path) -> None:
    assert make_trainer(corpus, tmp_path, steps=10).run()
    pattern = (
        r"^the loss or its gradient is not a number at step (\d+) for (\d+) triples: "
        r"\((\S+), (\S+), '(.+?)'\).*; the last good checkpoint is of step 10; "
        r"train anew with a lower training\.rate"
    )
    with pytest.raises(DivergedError) as raised:
        make_trainer(corpus, tmp_path, rate=EXPLODING).run()
    match = re.search(pattern, str(raised.value))
    assert match is not None
    step, triples, x, y, context = match.groups()
    assert 10 < int(step) < 20
    assert 0 < int(triples) <= 128
    assert {x, y} <= corpus.vocabulary.ids.keys()
    assert {"X", "Y"} < set(context.split()) <= {"X", "Y", *corpus.vocabulary.ids}


def test_a_gradient_that_is_no_number_ends_a_run_though_the_loss_is_one(
    corpus: Corpus, tmp_path: Path
) -> None:
    trainer = make_trainer(corpus, tmp_path)
    learn = trainer._learn

    def break_the_fourth(batch: TrainingBatch, rate: float) -> Tensor:
        values = learn(batch, rate)
        if trainer.step == 3:
            values[SUMMARY.index("gradient_norm")] = torch.inf
        return values

    trainer._learn = break_the_fourth
    message = "^the loss or its gradient is not a number at step 3; train anew with a lower"
    with pytest.raises(DivergedError, match=message):
        trainer.run()


def test_a_step_that_went_wrong_is_found_before_a_checkpoint_is_written(
    corpus: Corpus, tmp_path: Path
) -> None:
    trainer = make_trainer(corpus, tmp_path, report_steps=100, rate=EXPLODING)
    trainer._readings = LateReadings(late=100)
    with pytest.raises(DivergedError, match=r"at step [1-9] for"):
        trainer.run()
    assert trainer.step == 10
    assert last_checkpoint(tmp_path) is None


@pytest.mark.parametrize("late", [1, 8, 100])
def test_a_run_that_hears_of_its_steps_later_is_the_same_run(
    corpus: Corpus, tmp_path: Path, late: int
) -> None:
    at_once: list[TrainingProgress] = []
    later: list[TrainingProgress] = []
    plain = make_trainer(corpus, tmp_path / "plain", at_once)
    assert plain.run()
    trainer = make_trainer(corpus, tmp_path / "late", later)
    trainer._readings = LateReadings(late)
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
    found: list[int] = []
    write = trainer.write_checkpoint

    def noted() -> Path:
        found.append(trainer.step)
        return write()

    trainer.write_checkpoint = noted  # type: ignore[method-assign]
    trainer.run()
    assert found == [1, 2, 3, 4, 5, 6, 7, 7]

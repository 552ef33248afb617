"""Another loss beside the objective: when it is trained, what is kept of it, what is published."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.training.small_run import after, assert_identical, run, small
from torch import Tensor

from pair2vec.text.corpus import Corpus
from pair2vec.training.checkpoint import last_checkpoint
from pair2vec.training.network import Network
from pair2vec.training.train import Interrupted, TaskSource
from pair2vec.training.trainer import NoAuxiliaryTask, PublishedPart

RECIPE = small(steps=12, checkpoint_steps=5, rate=0.02)


class Recorder:
    """Writes down when it is called, and changes nothing."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, float]] = []

    def train_step(self, network: Network, step: int, rate: float) -> None:
        del network
        self.calls.append((step, rate))

    def state(self) -> dict[str, Tensor]:
        return {"calls": torch.tensor(self.calls)}

    def restore(self, state: dict[str, Tensor]) -> None:
        self.calls = [(int(step), rate) for step, rate in state["calls"].tolist()]

    def published(self, network: Network) -> PublishedPart:
        words = len(network.pair_words)
        return PublishedPart(
            {"recorder.steps": torch.tensor([float(len(self.calls))])}, {"recorder": words}
        )


def test_a_task_is_called_after_every_step_with_its_share_of_the_rate(
    corpus: Corpus, tmp_path: Path
) -> None:
    recorder = Recorder()
    run(corpus, tmp_path, RECIPE, task=TaskSource(lambda _: recorder, {}))
    steps, rates = zip(*recorder.calls, strict=True)
    assert steps == tuple(range(12))
    # Five steps of warm-up, from which on the rate falls to zero.
    assert max(rates) == pytest.approx(1.0, abs=0.15)
    assert rates.index(max(rates)) in (4, 5)
    assert min(rates) >= 0
    assert rates[-1] < 0.3


def test_a_task_that_changes_nothing_leaves_the_run_as_it_is(
    corpus: Corpus, tmp_path: Path
) -> None:
    alone = run(corpus, tmp_path / "alone", RECIPE)
    nothing = TaskSource(lambda _: NoAuxiliaryTask(), {})
    assert_identical(run(corpus, tmp_path / "nothing", RECIPE, task=nothing), alone)
    assert not any("auxiliary" in name for name in _checkpoint_names(tmp_path / "alone"))


def test_the_state_of_a_task_is_in_the_checkpoint(corpus: Corpus, tmp_path: Path) -> None:
    first, second = Recorder(), Recorder()
    with pytest.raises(Interrupted):
        run(corpus, tmp_path, RECIPE, task=TaskSource(lambda _: first, {}), should_stop=after(7))
    assert "auxiliary.calls" in _checkpoint_names(tmp_path)
    run(corpus, tmp_path, RECIPE, task=TaskSource(lambda _: second, {}), resume=True)
    assert [step for step, _ in second.calls] == list(range(12))


def test_what_a_task_publishes_is_in_the_model(corpus: Corpus, tmp_path: Path) -> None:
    saved = run(corpus, tmp_path, RECIPE, task=TaskSource(lambda _: Recorder(), {}))
    np.testing.assert_array_equal(saved.array("recorder.steps"), [12])
    assert saved.config["recorder"] == len(corpus.vocabulary)


def _checkpoint_names(out: Path) -> set[str]:
    checkpoint = last_checkpoint(out / "training")
    assert checkpoint is not None
    return set(checkpoint.tensors)

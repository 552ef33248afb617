"""The supervised training loop."""

import json
import logging
import math
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.experiments.tasks.small_task import CPU, SmallBatch, SmallTask, config, run_task
from torch import Tensor, nn

from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.tasks.layers import set_weights, trainable_weights
from pair2vec.experiments.tasks.task import SupervisedConfig
from pair2vec.experiments.tasks.trainer import METRICS_FILE, SupervisedProgress, SupervisedStep
from pair2vec.runtime.devices import forked_rng
from pair2vec.training.checkpoint import last_checkpoint
from pair2vec.training.trainer import DivergedError

STEPS = 13
"""Batches of 16 of 200 examples."""


def lines(folder: Path) -> list[dict[str, float]]:
    """All that a run wrote, without what depends on the clock."""
    records = [json.loads(line) for line in (folder / METRICS_FILE).read_text().splitlines()]
    for line in records:
        line.pop("examples_per_second", None)
    return records


def weights(task: SmallTask) -> dict[str, list[float]]:
    return {name: w.flatten().tolist() for name, w in task.network.state_dict().items()}


def test_the_loss_falls_and_progress_is_reported(tmp_path: Path) -> None:
    reports: list[SupervisedProgress] = []
    _, trainer, ended = run_task(tmp_path, config(epochs=8), report=reports.append)
    assert ended
    losses = [p.metrics["loss"] for p in reports if "loss" in p.metrics]
    assert sum(losses[-STEPS:]) < 0.5 * sum(losses[:STEPS])
    devs = [p for p in reports if "dev_score" in p.metrics]
    assert [(p.epoch, p.step, p.epoch_steps) for p in devs] == [
        (e, STEPS, STEPS) for e in range(1, 9)
    ]
    assert trainer.best_dev["score"] == max(p.metrics["dev_score"] for p in devs) > 0.9
    assert [(p.epoch, p.step) for p in reports[:2]] == [(1, 1), (1, 2)]


def test_the_same_seed_gives_the_same_run_and_another_another(tmp_path: Path) -> None:
    torch.manual_seed(5)
    first, _, _ = run_task(tmp_path / "a", config())
    before = torch.rand(1)
    again, _, _ = run_task(tmp_path / "b", config())
    other, _, _ = run_task(tmp_path / "c", config(seed=1))
    assert weights(first) == weights(again) != weights(other)
    assert lines(tmp_path / "a") == lines(tmp_path / "b") != lines(tmp_path / "c")
    # What others draw from torch's generator is as if no run had been.
    torch.manual_seed(5)
    assert torch.equal(before, torch.rand(1))


def test_a_seed_decides_what_torch_draws() -> None:
    drawn = []
    for seed in (0, 1, 1):
        with forked_rng(seed, CPU):
            drawn.append(float(torch.rand(1)))
    assert drawn[0] != drawn[1] == drawn[2]


@pytest.mark.parametrize("stop_at", [1, 7, STEPS - 1, STEPS, STEPS + 4, 3 * STEPS - 1])
def test_a_run_that_was_stopped_resumes_as_if_it_had_not_been(stop_at: int, tmp_path: Path) -> None:
    whole, _, _ = run_task(tmp_path / "whole", config(report_steps=3))
    steps: list[int] = []

    def stop() -> bool:
        steps.append(1)
        return len(steps) == stop_at

    _, _, ended = run_task(tmp_path / "parts", config(report_steps=3), should_stop=stop)
    assert not ended
    parts, _, ended = run_task(tmp_path / "parts", config(report_steps=3))
    assert ended
    assert weights(whole) == weights(parts)
    assert lines(tmp_path / "whole") == lines(tmp_path / "parts")


SCRIPT = """
import sys, time
from pathlib import Path
from tests.experiments.tasks.small_task import config, run_task
run_task(
    Path(sys.argv[1]),
    config(epochs=8, checkpoint_minutes=1e-9),
    report=lambda _: time.sleep(0.005),
)
"""


def test_killed_at_any_moment_it_resumes_with_the_same_losses(tmp_path: Path) -> None:
    whole, _, _ = run_task(tmp_path / "whole", config(epochs=8))
    folder = tmp_path / "killed"
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder)])
    while (
        len(checkpoints := sorted(folder.glob("step-*.safetensors"))) < 2
        or int(checkpoints[-1].stem.removeprefix("step-")) < 2 * STEPS + 5
    ):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert len(lines(folder)) < len(lines(tmp_path / "whole"))
    resumed, _, ended = run_task(folder, config(epochs=8))
    assert ended
    assert lines(folder) == lines(tmp_path / "whole")
    assert weights(resumed) == weights(whole)


def test_it_stops_early_and_ends_with_the_best_weights(tmp_path: Path) -> None:
    scores = [0.1, 0.5, 0.4, 0.5, 0.3, 0.9]
    two, _, _ = run_task(tmp_path / "two", config(epochs=2), dev_scores=scores)
    stopped, trainer, ended = run_task(
        tmp_path / "many", config(epochs=9, patience=3), dev_scores=scores
    )
    assert ended
    assert (trainer.epoch, trainer.step) == (5, 5 * STEPS)
    assert trainer.best_dev == {"score": 0.5}
    assert weights(stopped) == weights(two)
    rates = {line["epoch"]: line["rate"] for line in lines(tmp_path / "many") if "rate" in line}
    assert rates == {1: 0.02, 2: 0.02, 3: 0.02, 4: 0.01, 5: 0.005}
    again, trainer, ended = run_task(tmp_path / "many", config(epochs=9, patience=3))
    assert ended
    assert trainer.step == 5 * STEPS
    assert weights(again) == weights(stopped)


def test_a_checkpoint_has_only_trained_weights(tmp_path: Path) -> None:
    run_task(tmp_path, config())
    checkpoint = last_checkpoint(tmp_path)
    assert checkpoint is not None
    names = {name.partition("/")[2] for name in checkpoint.tensors if name.startswith("network/")}
    assert names == {"0.weight", "0.bias", "3.weight", "3.bias"}


def test_checkpoints_are_written_as_often_as_set(tmp_path: Path) -> None:
    run_task(tmp_path / "none", config(checkpoint_epochs=0))
    assert not list((tmp_path / "none").glob("step-*"))
    run_task(tmp_path / "second", config(checkpoint_epochs=2))
    assert [p.stem for p in (tmp_path / "second").glob("step-*")] == [f"step-{2 * STEPS:09d}"]


def test_a_loss_that_is_not_finite_ends_the_run_without_a_checkpoint_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    measure = SmallTask.measure

    def diverging(self: SmallTask, batch: SmallBatch) -> dict[str, Tensor]:
        calls.append(1)
        factor = math.nan if len(calls) == STEPS + 3 else 1.0
        return {"loss": factor * measure(self, batch)["loss"]}

    monkeypatch.setattr(SmallTask, "measure", diverging)
    message = rf"not a number at step {STEPS + 5}.*last good checkpoint is of step {STEPS};.*rate"
    with pytest.raises(DivergedError, match=message):
        run_task(tmp_path, config(report_steps=6))
    calls.clear()
    with pytest.raises(DivergedError, match=rf"at step {STEPS + 3}, or"):
        run_task(tmp_path / "often", config(report_steps=100, checkpoint_minutes=1e-9))
    checkpoint = last_checkpoint(tmp_path / "often")
    assert checkpoint is not None
    assert checkpoint.step == STEPS + 2


def test_gradients_are_clipped_together(tmp_path: Path) -> None:
    run_task(tmp_path / "a", config(clip=0.0))
    run_task(tmp_path / "b", config(clip=1e9))
    run_task(tmp_path / "c", config(clip=1e-4))
    assert lines(tmp_path / "a") == lines(tmp_path / "b") != lines(tmp_path / "c")
    assert max(line.get("gradient_norm", 0) for line in lines(tmp_path / "c")) > 1e-2


def test_decay_makes_weights_small_with_adamw(tmp_path: Path) -> None:
    plain, _, _ = run_task(tmp_path / "a", config())
    decayed, _, _ = run_task(tmp_path / "b", config(optimiser="adamw", decay=5.0))

    def norm(task: SmallTask) -> float:
        return float(sum(w.detach().norm() for w in trainable_weights(task.network).values()))

    assert norm(decayed) < 0.5 * norm(plain)


@pytest.mark.parametrize(
    ("optimiser", "decay"), [("adam", 0.0), ("adam", 0.1), ("adamw", 0.0), ("adamw", 0.1)]
)
def test_steps_are_those_of_torchs_optimiser(optimiser: str, decay: float) -> None:
    torch.manual_seed(0)
    ours, theirs = SmallTask(), SmallTask()
    theirs.network.load_state_dict(ours.network.state_dict())
    settings = config(optimiser=optimiser, decay=decay, clip=0.5)
    step = SupervisedStep(ours, settings, CPU)
    make = torch.optim.Adam if optimiser == "adam" else torch.optim.AdamW
    expected = make(trainable_weights(theirs.network).values(), weight_decay=decay)
    for number in range(10):
        rate, indices = 0.02 / (1 + number), np.arange(16) + 10 * number
        torch.manual_seed(number)  # of dropout
        means = step(ours.batch(indices), rate)
        torch.manual_seed(number)
        loss = theirs.measure(theirs.batch(indices))["loss"]
        expected.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        norm = nn.utils.clip_grad_norm_(theirs.network.parameters(), 0.5)
        expected.param_groups[0]["lr"] = rate
        expected.step()
        assert torch.equal(means["loss"], loss)
        assert torch.equal(means["gradient_norm"], norm)
    assert weights(ours) == weights(theirs)
    for name, other in trainable_weights(theirs.network).items():
        for part in ("step", "exp_avg", "exp_avg_sq"):
            assert torch.equal(step.state[f"{name}.{part}"], expected.state[other][part])


class SharedGradient(SmallTask):
    """Two weights that are only ever added, so that they have the same gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.network = nn.Sequential()
        self.added = [nn.Parameter(torch.zeros(5)) for _ in range(2)]
        for name, weight in zip("ab", self.added, strict=True):
            self.network.register_parameter(name, weight)

    def measure(self, batch: SmallBatch) -> dict[str, Tensor]:
        return {"loss": (batch.x @ (self.added[0] + self.added[1])).sum()}


def test_weights_that_share_a_gradient_are_clipped_once() -> None:
    task = SharedGradient()
    step = SupervisedStep(task, config(clip=0.5), CPU)
    means = step(task.batch(np.arange(16)), 0.02)
    assert means["gradient_norm"] > 0.5
    # Adam's running mean is a tenth of the clipped gradient.
    clipped = torch.cat([step.state["a.exp_avg"], step.state["b.exp_avg"]]) * 10
    assert float(clipped.norm()) == pytest.approx(0.5, rel=1e-4)


def test_the_step_that_runs_is_logged_and_a_cuda_graph_on_a_cpu_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    run_task(tmp_path, config(epochs=1))
    assert caplog.messages == ["training with the plain step on cpu"]
    with pytest.raises(UsageError, match="step_mode is 'cuda_graph', but the device is cpu"):
        run_task(tmp_path / "other", config(step_mode="cuda_graph"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"step_mode": "fast"}, "step_mode is 'fast'; it must be one of auto, plain, cud"),
        ({"batch": 0}, "batch is 0; it must be from 1 to 10,000,000"),
        ({"patience": -1}, "patience is -1"),
        ({"rate": 0.0}, "rate is 0.0; it must be above 0 and at most 10"),
        ({"rate_factor": 1.5}, "rate_factor is 1.5"),
        ({"optimiser": "sgd"}, "optimiser is 'sgd'; it must be one of adam, adamw"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes: dict[str, float], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        SupervisedConfig(**changes)  # type: ignore[arg-type]


def test_weights_of_another_network_are_refused_before_anything_is_changed() -> None:
    task = SmallTask()
    before = weights(task)
    good = {name: torch.zeros_like(w) for name, w in trainable_weights(task.network).items()}
    for wrong, message in [
        ({**good, "9.bias": torch.zeros(1)}, "mine: has the weights '9.bias'"),
        ({"0.bias": good["0.bias"]}, "mine: lacks the weights '0.weight'"),
        ({**good, "3.bias": torch.zeros(7)}, r"'3.bias' have shape \(7,\) where .* \(2,\)"),
    ]:
        with pytest.raises(InputError, match=message):
            set_weights(task.network, wrong, "mine")
    assert weights(task) == before

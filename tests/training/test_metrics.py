"""Running averages, the file that a resumed run appends to, and reading of metrics on a CPU."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from pair2vec.training.metrics import AsyncMetrics, Averages, MetricsFile
from pair2vec.training.network import TrainingBatch
from pair2vec.training.objective import Losses
from pair2vec.training.steps import STEP_METRICS


def step_values(seed: int) -> dict[str, float]:
    """Metrics of a step."""
    values = np.random.default_rng(seed).uniform(size=len(STEP_METRICS)).tolist()
    return dict(zip(STEP_METRICS, values, strict=True))


def steps_in(path: Path) -> list[int]:
    return [json.loads(line)["step"] for line in path.read_text().splitlines()]


def write_steps(path: Path, steps: list[int], resumed_at: int = 0) -> None:
    with MetricsFile(path, resumed_at) as metrics:
        for step in steps:
            metrics.write({"step": step, "loss": 1 / step})


def test_averages_are_means_over_batches() -> None:
    averages, values = Averages(), [step_values(seed) for seed in range(3)]
    losses = [averages.add(each) for each in values]
    means = averages.take(8)
    assert list(means) == ["loss", *STEP_METRICS, "triples_per_second"]
    assert means["loss"] == pytest.approx(sum(losses) / 3)
    for name in STEP_METRICS:
        assert means[name] == pytest.approx(sum(each[name] for each in values) / 3)
    assert means["triples_per_second"] > 0


def test_the_loss_of_a_step_is_the_sum_of_all_groups_and_of_nothing_else() -> None:
    values = step_values(0)
    assert Averages().add(values) == pytest.approx(sum(values[name] for name in Losses._fields))
    assert len(Losses._fields) == len(values) - 2


def test_averages_are_reset_when_taken() -> None:
    averages = Averages()
    averages.add(step_values(0))
    averages.take(8)
    loss = averages.add(step_values(1))
    assert averages.take(8)["loss"] == loss


def test_averages_resume_from_their_state() -> None:
    whole, resumed = Averages(), Averages()
    for seed in range(4):
        whole.add(step_values(seed))
        fresh = Averages()
        fresh.state = json.loads(json.dumps(resumed.state))
        resumed = fresh
        resumed.add(step_values(seed))
    expected, actual = whole.take(8), resumed.take(8)
    expected.pop("triples_per_second")
    actual.pop("triples_per_second")
    assert actual == expected


def test_each_line_is_flushed_at_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "metrics.jsonl"
    with MetricsFile(path, 0) as metrics:
        metrics.write({"step": 1, "loss": 0.5})
        assert json.loads(path.read_text()) == {"step": 1, "loss": 0.5}


def test_a_resumed_run_drops_metrics_after_its_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    write_steps(path, [5, 10, 15, 20])
    write_steps(path, [15, 20, 25], resumed_at=10)
    assert steps_in(path) == [5, 10, 15, 20, 25]


def test_a_new_run_drops_everything(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    write_steps(path, [5, 10])
    write_steps(path, [3])
    assert steps_in(path) == [3]


@pytest.mark.parametrize("cut", [1, 2, 10])
def test_a_half_written_last_line_is_dropped(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "metrics.jsonl"
    write_steps(path, [5, 10])
    line = json.dumps({"step": 12, "loss": 0.5})
    path.write_text(path.read_text() + line[:-cut])
    write_steps(path, [15], resumed_at=12)
    assert steps_in(path) == [5, 10, 15]


def test_a_line_without_a_step_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    write_steps(path, [5])
    path.write_text(path.read_text() + '{"loss": 1}\n[]\n')
    write_steps(path, [15], resumed_at=12)
    assert steps_in(path) == [5, 15]


CPU = torch.device("cpu")


def batch_of(word: int) -> TrainingBatch:
    """A triple that is known by its word."""
    one, none = torch.tensor([word]), torch.empty(1, 0, dtype=torch.long)
    return TrainingBatch(one, one, (torch.full((1, 4), word),), none, none, none)


def test_metrics_on_a_cpu_are_read_at_once_with_their_batch() -> None:
    pending = AsyncMetrics(CPU)
    for step in range(20):
        batch, values = batch_of(step), torch.tensor([step + 0.5, -1.0], dtype=torch.float64)
        (metrics,) = pending.push(step, batch, values)
        assert metrics.step == step
        assert metrics.batch is batch
        assert metrics.values() == [step + 0.5, -1.0]


def test_on_a_cpu_no_metrics_are_left_to_wait_for() -> None:
    pending = AsyncMetrics(CPU)
    assert pending.drain() == []
    pending.push(0, batch_of(0), torch.zeros(2))
    assert pending.drain() == []

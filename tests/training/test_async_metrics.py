"""Readings on a CPU, which has nothing to wait for: a step is read as soon as it is done."""

import torch

from pair2vec.training.metrics import AsyncMetrics
from pair2vec.training.network import TrainingBatch

CPU = torch.device("cpu")


def batch_of(word: int) -> TrainingBatch:
    """A triple that is known by its word."""
    one, none = torch.tensor([word]), torch.empty(1, 0, dtype=torch.long)
    return TrainingBatch(one, one, (torch.full((1, 4), word),), none, none, none)


def test_a_step_is_read_at_once_with_its_batch_and_values() -> None:
    readings = AsyncMetrics(CPU)
    for step in range(20):
        batch, values = batch_of(step), torch.tensor([step + 0.5, -1.0], dtype=torch.float64)
        (reading,) = readings.push(step, batch, values)
        assert reading.step == step
        assert reading.batch is batch
        assert reading.values() == [step + 0.5, -1.0]


def test_nothing_is_left_to_wait_for() -> None:
    readings = AsyncMetrics(CPU)
    assert readings.drain() == []
    readings.push(0, batch_of(0), torch.zeros(2))
    assert readings.drain() == []

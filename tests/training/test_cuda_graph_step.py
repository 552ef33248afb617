"""Plain and CUDA-graph steps of two ranks against that of one; `test_steps.py` has the others."""

import numpy as np
import torch
from numpy.typing import NDArray
from tests.training.rank_processes import in_ranks
from tests.training.test_steps import TOLERANCE, TYPED, make_batch, make_network
from torch import Tensor

from pair2vec.training.cuda_graph_step import DistributedCudaGraphStep
from pair2vec.training.distributed import SINGLE_PROCESS, ProcessGroup
from pair2vec.training.network import TrainingBatch
from pair2vec.training.optim import OPTIMISERS, TrainingConfig
from pair2vec.training.steps import PlainStep, Step, StepModel

STEPS, PART = 3, 20
CONFIGS = [
    TrainingConfig(batch=2 * PART, optimiser=optimiser, loss=loss, clip=limit)
    for optimiser, loss, limit in [
        ("adam", "mean", 1.0),
        ("sgd", "sum", 0.0),
        ("adagrad", "sum", 1),
    ]
]
NAMED = [range(1, 20), range(15, 34)]
Outcome = list[NDArray[np.float64]]
"""The metrics of each step, then all weights and the optimiser's state."""


def part_of(number: int, rank: int) -> TrainingBatch:
    """Of the batch of a step, the part of a rank: it has words that the other has not."""
    return make_batch(2 * number + rank, named=NAMED[rank])


def whole_batch(number: int) -> TrainingBatch:
    """The parts of two ranks in one batch, each with the negatives it has by itself."""
    parts = [part_of(number, rank) for rank in range(2)]
    groups = list(zip(*(part.contexts for part in parts), strict=True))
    row_lists: list[list[int]] = [[], []]
    start = 0
    for group in groups:
        for rows, contexts in zip(row_lists, group, strict=True):
            rows.extend(range(start, start + len(contexts)))
            start += len(contexts)
    rows_by_rank = [torch.tensor(rows) for rows in row_lists]

    def together(first: Tensor, second: Tensor) -> Tensor:
        joined = first.new_empty(start, *first.shape[1:])
        for rows, values in zip(rows_by_rank, (first, second), strict=True):
            joined[rows] = values
        return joined

    shuffles = [rows[part.shuffles] for rows, part in zip(rows_by_rank, parts, strict=True)]
    return TrainingBatch(
        together(parts[0].x, parts[1].x),
        together(parts[0].y, parts[1].y),
        tuple(torch.cat(group) for group in groups),
        together(parts[0].other_x, parts[1].other_x),
        together(parts[0].other_y, parts[1].other_y),
        together(*shuffles),
    )


def as_replayed(step: DistributedCudaGraphStep) -> DistributedCudaGraphStep:
    """As on a GPU, but a replay runs the captured functions again."""
    step._replay = step._captured(lambda work: (work, None))
    return step


def train(ranks: ProcessGroup, config: TrainingConfig, kind: str) -> Outcome:
    """Some steps, of one rank on whole batches or of one of two on its parts."""
    network, optimiser = make_network(), OPTIMISERS[config.optimiser]()
    model = StepModel(network, optimiser, config, TYPED)
    step: Step = PlainStep(model, ranks)
    if kind != "plain":
        graph_step = DistributedCudaGraphStep(model, ranks, torch.float64)
        step = as_replayed(graph_step) if kind == "replayed" else graph_step
    values = [
        step(whole_batch(n) if ranks.world_size == 1 else part_of(n, ranks.rank), 0.01 / (1 + n))
        for n in range(STEPS)
    ]
    kept = {**network.state_dict(), **optimiser.state}
    return [tensor.numpy() for tensor in [*values, *(kept[name] for name in sorted(kept))]]


def train_all(ranks: ProcessGroup) -> list[list[Outcome]]:
    return [
        [train(ranks, config, kind) for kind in ("plain", "cuda_graph", "replayed")]
        for config in CONFIGS
    ]


def test_two_ranks_train_as_one_does_on_their_batches_together() -> None:
    """By either step, and to the bit the same on both."""
    first, second = in_ranks(train_all)
    for config, by_first, by_second in zip(CONFIGS, first, second, strict=True):
        expected = train(SINGLE_PROCESS, config, "plain")
        for actual, by_other_rank in zip(by_first, by_second, strict=True):
            for tensor, other, alone in zip(actual, by_other_rank, expected, strict=True):
                assert np.array_equal(tensor, other)
                np.testing.assert_allclose(tensor, alone, rtol=0, atol=TOLERANCE)

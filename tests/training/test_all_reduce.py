"""The exchange of gradients between ranks: that of rows against dense sums, and whole steps."""

from collections.abc import Callable, Iterable
from itertools import accumulate
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.training.rank_processes import in_ranks
from tests.training.test_steps import TOLERANCE, TYPED, make_batch, make_network
from torch import Tensor

from pair2vec.training.cuda_graph_step import DistributedCudaGraphStep
from pair2vec.training.distributed import (
    SINGLE_PROCESS,
    ProcessGroup,
    SparseRows,
    all_reduce_rows,
    flatten_tensors,
    split_like,
)
from pair2vec.training.network import TrainingBatch
from pair2vec.training.optim import OPTIMISERS
from pair2vec.training.recipes import TrainingConfig
from pair2vec.training.steps import PlainStep, Step

LENGTH, WIDTH, STEPS, PART = 12, 3, 3, 20
CONFIGS = [
    TrainingConfig(batch=2 * PART, optimiser=optimiser, loss=loss, clip=limit)
    for optimiser, loss, limit in [
        ("adam", "mean", 1.0),
        ("sgd", "sum", 0.0),
        ("adagrad", "sum", 1),
    ]
]
NAMED = [range(1, 20), range(15, 34)]
Learnt = list[NDArray[np.float64]]
"""The values of each step, then all weights and the optimiser's state."""


def touched(rows: set[int], draw: torch.Generator) -> SparseRows:
    """Whole numbers, whose sum is one in any order."""
    values = torch.randint(-9, 9, (len(rows), WIDTH), generator=draw).float()
    return SparseRows(LENGTH, torch.tensor(sorted(rows), dtype=torch.long), values)


def dense(parts: Iterable[SparseRows]) -> tuple[list[int], Tensor]:
    """The rows that any part names, and the sums as a whole table."""
    named, sums = set[int](), torch.zeros(LENGTH, WIDTH)
    for part in parts:
        named |= set(part.rows.tolist())
        sums[part.rows] += part.values
    return sorted(named), sums


def compare_with_dense_sums(ranks: ProcessGroup) -> int:
    """Of two tables; returns how often. All ranks draw the same examples."""
    sets = st.sets(st.integers(0, LENGTH - 1))
    tables_of_ranks = st.lists(st.tuples(sets, sets), min_size=ranks.count, max_size=ranks.count)
    done: list[int] = []

    @settings(
        derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(tables_of_ranks, st.integers(0, 2**32 - 1))
    def compare(named: list[tuple[set[int], set[int]]], seed: int) -> None:
        draw = torch.Generator().manual_seed(seed)
        of_ranks = [[touched(rows, draw) for rows in tables] for tables in named]
        found = all_reduce_rows(ranks, of_ranks[ranks.rank])
        for table, parts in zip(found, zip(*of_ranks, strict=True), strict=True):
            rows, sums = dense(parts)
            assert table.rows.tolist() == rows
            assert torch.equal(table.values, sums[rows])
        done.append(seed)

    compare()
    return len(done)


def test_rows_of_all_ranks_add_up_to_the_dense_sum() -> None:
    assert in_ranks(compare_with_dense_sums, count=3) == [100] * 3


@given(st.lists(st.lists(st.integers(0, 3), max_size=3), min_size=1, max_size=4))
def test_flattened_tensors_are_split_into_what_they_were(shapes: list[list[int]]) -> None:
    sizes = [int(np.prod(shape)) for shape in shapes]
    starts = [0, *accumulate(sizes)]
    tensors = [
        torch.arange(start, start + size, dtype=torch.float64).view(shape)
        for start, size, shape in zip(starts, sizes, shapes, strict=False)
    ]
    flat = flatten_tensors(tensors)
    assert flat.tolist() == list(range(starts[-1]))
    assert all(map(torch.equal, split_like(flat, tensors), tensors))


def part_of(number: int, rank: int) -> TrainingBatch:
    """Of the batch of a step, the part of a rank: it has words that the other has not."""
    return make_batch(2 * number + rank, named=NAMED[rank])


def whole_batch(number: int) -> TrainingBatch:
    """The parts of two ranks in one batch, each with the negatives it has by itself."""
    parts = [part_of(number, rank) for rank in range(2)]
    groups = list(zip(*(part.contexts for part in parts), strict=True))
    places: list[list[int]] = [[], []]
    start = 0
    for group in groups:
        for place, contexts in zip(places, group, strict=True):
            place.extend(range(start, start + len(contexts)))
            start += len(contexts)
    of_rows = [torch.tensor(place) for place in places]

    def together(first: Tensor, second: Tensor) -> Tensor:
        joined = first.new_empty(start, *first.shape[1:])
        for place, rows in zip(of_rows, (first, second), strict=True):
            joined[place] = rows
        return joined

    shuffles = [place[part.shuffles] for place, part in zip(of_rows, parts, strict=True)]
    return TrainingBatch(
        together(parts[0].x, parts[1].x),
        together(parts[0].y, parts[1].y),
        tuple(torch.cat(group) for group in groups),
        together(parts[0].other_x, parts[1].other_x),
        together(parts[0].other_y, parts[1].other_y),
        together(*shuffles),
    )


def as_replayed(step: DistributedCudaGraphStep) -> DistributedCudaGraphStep:
    """As on a GPU, but for what is recorded being run again."""

    def captured(work: Callable[[], None]) -> Any:
        return SimpleNamespace(replay=work)

    step._captured = captured  # type: ignore[method-assign]
    step._replay = step._recorded()
    return step


def learn(ranks: ProcessGroup, config: TrainingConfig, kind: str) -> Learnt:
    """Some steps, of one rank on whole batches or of one of two on its parts."""
    network, optimiser = make_network(), OPTIMISERS[config.optimiser]()
    step: Step = PlainStep(network, optimiser, config, TYPED, ranks)
    if kind != "plain":
        step = DistributedCudaGraphStep(network, optimiser, config, TYPED, ranks, torch.float64)
        if kind == "replayed":
            step = as_replayed(step)
    values = [
        step(whole_batch(n) if ranks.count == 1 else part_of(n, ranks.rank), 0.01 / (1 + n))
        for n in range(STEPS)
    ]
    kept = {**network.state_dict(), **optimiser.state}
    return [tensor.numpy() for tensor in [*values, *(kept[name] for name in sorted(kept))]]


def learn_all(ranks: ProcessGroup) -> list[list[Learnt]]:
    return [
        [learn(ranks, config, kind) for kind in ("plain", "fused", "replayed")]
        for config in CONFIGS
    ]


def test_two_ranks_learn_what_one_does_from_their_batches_together() -> None:
    """By either step, and to the bit the same on both."""
    first, second = in_ranks(learn_all)
    for config, by_first, by_second in zip(CONFIGS, first, second, strict=True):
        expected = learn(SINGLE_PROCESS, config, "plain")
        for found, of_other in zip(by_first, by_second, strict=True):
            for tensor, other, alone in zip(found, of_other, expected, strict=True):
                assert np.array_equal(tensor, other)
                np.testing.assert_allclose(tensor, alone, rtol=0, atol=TOLERANCE)

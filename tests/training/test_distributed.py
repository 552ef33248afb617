"""Collective calls between ranks, lost ranks, and all-reduce of rows against dense sums."""

import time
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.training.rank_processes import in_ranks
from torch import Tensor

from pair2vec.errors import Pair2vecError, UsageError
from pair2vec.training.distributed import (
    SINGLE_PROCESS,
    TIMEOUT,
    ProcessGroup,
    SparseRows,
    all_reduce_rows,
    flatten_tensors,
    init_process_group,
    split_like,
)

SECONDS = 1.0
"""The timeout in tests of waiting."""
LENGTH, WIDTH = 12, 3


def call_all(ranks: ProcessGroup) -> dict[str, object]:
    """The results of all collective calls on a rank."""
    values = torch.arange(3.0) * (1 + ranks.rank)
    ranks.all_reduce(values)
    touched = torch.zeros(3, dtype=torch.uint8)
    touched[ranks.rank] = 1
    ranks.all_reduce_max(touched)
    rows = torch.full((2 * ranks.rank,), ranks.rank)
    return {
        "rank": ranks.rank,
        "sum": values.tolist(),
        "touched": touched.tolist(),
        "rows": [part.tolist() for part in ranks.all_gather(rows)],
        "any": ranks.any_rank([ranks.rank == 1, False]),
        "same": ranks.all_equal(5),
        "different": ranks.all_equal(ranks.rank),
    }


def test_all_ranks_get_the_same_results() -> None:
    common = {
        "sum": [0, 6, 12],
        "touched": [1, 1, 1],
        "rows": [[], [1] * 2, [2] * 4],
        "any": [True, False],
        "same": True,
        "different": False,
    }
    assert in_ranks(call_all, count=3) == [{"rank": rank, **common} for rank in range(3)]


def test_for_a_single_process_collective_calls_are_the_identity() -> None:
    expected = {"rank": 0, "sum": [0, 1, 2], "touched": [1, 0, 0], "rows": [[]]}
    answers = {"any": [False, False], "same": True, "different": True}
    assert call_all(SINGLE_PROCESS) == {**expected, **answers}


def work_long(ranks: ProcessGroup, file: Path) -> bool:
    with ranks.rank_zero_first() as is_own:
        if is_own:
            time.sleep(3 * SECONDS)
            file.touch()
    return file.exists()


def test_the_others_wait_for_rank_zero_longer_than_the_timeout(tmp_path: Path) -> None:
    assert in_ranks(work_long, tmp_path / "done", seconds=SECONDS) == [True, True]


def fail_at_work(ranks: ProcessGroup) -> str:
    with pytest.raises((Pair2vecError, OSError)) as raised, ranks.rank_zero_first() as is_own:
        if is_own:
            raise OSError("disk full")
    return str(raised.value)


def test_an_error_on_rank_zero_ends_all_ranks() -> None:
    assert in_ranks(fail_at_work) == ["disk full", "rank 1 of 2 ends: rank 0 says why"]


def be_late(ranks: ProcessGroup) -> str:
    if ranks.rank:
        time.sleep(4 * SECONDS)
    with pytest.raises((Pair2vecError, OSError)) as raised:
        ranks.any_rank([True])
    return str(raised.value)


def test_a_rank_that_does_not_answer_times_out() -> None:
    waiting_message, late_message = in_ranks(be_late, seconds=SECONDS)
    way_out = "; resume with --resume, or let torchrun do so: --max-restarts 3"
    assert waiting_message == "rank 0 of 2 waited 1 s for a rank that does not answer" + way_out
    assert late_message == "rank 1 of 2 lost another rank" + way_out


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"WORLD_SIZE": "two"}, "WORLD_SIZE is 'two'; torchrun sets it to a whole number"),
        ({"WORLD_SIZE": "2"}, "WORLD_SIZE is set, but RANK is not; torchrun sets both"),
        ({"WORLD_SIZE": "2", "RANK": "0"}, "WORLD_SIZE is set, but MASTER_ADDR is not"),
        (
            {"WORLD_SIZE": "2", "RANK": "0", TIMEOUT: "-1"},
            f"{TIMEOUT} is '-1'; it must be a number of seconds above 0",
        ),
    ],
)
def test_a_wrong_environment_variable_is_named(
    variables: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", TIMEOUT):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=message), init_process_group("cpu"):
        pass


def test_without_torchrun_there_is_a_single_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with init_process_group("cpu") as ranks:
        assert (ranks.rank, ranks.world_size) == (0, 1)
        assert (ranks.local_rank, ranks.restarted) == (None, False)
    monkeypatch.setenv("WORLD_SIZE", "1")
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "2")
    with init_process_group("cpu") as ranks:
        assert (ranks.world_size, ranks.restarted) == (1, True)


def touched(rows: set[int], draw: torch.Generator) -> SparseRows:
    """Whole numbers, whose sum is the same in any order."""
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
    size = ranks.world_size
    tables_by_rank = st.lists(st.tuples(sets, sets), min_size=size, max_size=size)
    done: list[int] = []

    @settings(
        derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(tables_by_rank, st.integers(0, 2**32 - 1))
    def compare(named: list[tuple[set[int], set[int]]], seed: int) -> None:
        draw = torch.Generator().manual_seed(seed)
        by_rank = [[touched(rows, draw) for rows in tables] for tables in named]
        actual = all_reduce_rows(ranks, by_rank[ranks.rank])
        for table, parts in zip(actual, zip(*by_rank, strict=True), strict=True):
            rows, sums = dense(parts)
            assert table.rows.tolist() == rows
            assert torch.equal(table.values, sums[rows])
        done.append(seed)

    compare()
    return len(done)


def test_all_reduced_rows_are_those_of_the_dense_sum() -> None:
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

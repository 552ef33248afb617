"""What ranks say to each other, and what each says when another is silent."""

import time
from pathlib import Path

import pytest
import torch
from tests.training.rank_processes import in_ranks

from pair2vec.errors import Pair2vecError, UsageError
from pair2vec.training.distributed import SINGLE_PROCESS, TIMEOUT, ProcessGroup, init_process_group

SECONDS = 1.0
"""Of patience, in tests of waiting."""


def talk(ranks: ProcessGroup) -> dict[str, object]:
    """All that can be said, as each rank hears it."""
    values = torch.arange(3.0) * (1 + ranks.rank)
    ranks.add_up(values)
    marks = torch.zeros(3, dtype=torch.uint8)
    marks[ranks.rank] = 1
    ranks.unite(marks)
    rows = torch.full((2 * ranks.rank,), ranks.rank)
    return {
        "rank": ranks.rank,
        "sum": values.tolist(),
        "marks": marks.tolist(),
        "rows": [part.tolist() for part in ranks.gather(rows)],
        "wishes": ranks.any([ranks.rank == 1, False]),
        "same": ranks.agree(5),
        "different": ranks.agree(ranks.rank),
    }


def test_all_ranks_hear_the_same() -> None:
    common = {
        "sum": [0, 6, 12],
        "marks": [1, 1, 1],
        "rows": [[], [1] * 2, [2] * 4],
        "wishes": [True, False],
        "same": True,
        "different": False,
    }
    assert in_ranks(talk, count=3) == [{"rank": rank, **common} for rank in range(3)]


def test_a_rank_alone_hears_itself() -> None:
    expected = {"rank": 0, "sum": [0, 1, 2], "marks": [1, 0, 0], "rows": [[]]}
    answers = {"wishes": [False, False], "same": True, "different": True}
    assert talk(SINGLE_PROCESS) == {**expected, **answers}


def work_long(ranks: ProcessGroup, file: Path) -> bool:
    with ranks.one_works() as is_own:
        if is_own:
            time.sleep(3 * SECONDS)
            file.touch()
    return file.exists()


def test_the_others_wait_for_the_work_of_one_longer_than_for_an_answer(tmp_path: Path) -> None:
    assert in_ranks(work_long, tmp_path / "done", seconds=SECONDS) == [True, True]


def fail_at_work(ranks: ProcessGroup) -> str:
    with pytest.raises((Pair2vecError, OSError)) as raised, ranks.one_works() as is_own:
        if is_own:
            raise OSError("disk full")
    return str(raised.value)


def test_what_goes_wrong_at_the_work_of_one_ends_all() -> None:
    assert in_ranks(fail_at_work) == ["disk full", "rank 1 of 2 ends: rank 0 says why"]


def be_late(ranks: ProcessGroup) -> str:
    if ranks.rank:
        time.sleep(4 * SECONDS)
    with pytest.raises((Pair2vecError, OSError)) as raised:
        ranks.any([True])
    return str(raised.value)


def test_a_rank_that_does_not_answer_is_not_waited_for_for_ever() -> None:
    of_waiting, of_late = in_ranks(be_late, seconds=SECONDS)
    way_out = "; go on with --resume, or let torchrun do so: --max-restarts 3"
    assert of_waiting == "rank 0 of 2 waited 1 s for a rank that does not answer" + way_out
    assert of_late == "rank 1 of 2 lost another rank" + way_out


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
def test_what_is_wrong_with_the_environment_is_named(
    variables: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", TIMEOUT):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=message), init_process_group("cpu"):
        pass


def test_without_torchrun_a_rank_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with init_process_group("cpu") as ranks:
        assert (ranks.rank, ranks.count, ranks.local, ranks.restarted) == (0, 1, None, False)
    monkeypatch.setenv("WORLD_SIZE", "1")
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "2")
    with init_process_group("cpu") as ranks:
        assert (ranks.count, ranks.restarted) == (1, True)

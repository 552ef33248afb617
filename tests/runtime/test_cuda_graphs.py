"""Work by recordings, with a recorder that needs no GPU: it does the work again."""

from collections.abc import Callable

import torch
from torch import Tensor

from pair2vec.runtime import cuda_graphs as recorded
from pair2vec.runtime.cuda_graphs import GraphedFunction, Replay, Results


class Recorder:
    """As a graph: recording does nothing, replaying reads and writes the same places each time."""

    def __init__(self) -> None:
        self.recordings = 0

    def __call__(self, work: Callable[[], Results]) -> tuple[Replay, Results]:
        self.recordings += 1
        places = {"sum": torch.zeros(())}

        def replay() -> None:
            places["sum"].copy_(work()["sum"])

        return replay, places


class Sums:
    """Work with an effect beside its result, so that what is done twice is seen."""

    def __init__(self) -> None:
        self.done: list[float] = []

    def __call__(self, batch: dict[str, Tensor]) -> Results:
        total = batch["x"].sum() + batch["y"].sum()
        self.done.append(total.item())
        return {"sum": total}


def batch(first: float, length: int = 2) -> dict[str, Tensor]:
    return {"x": torch.full((length,), first), "y": torch.ones(3)}


def test_every_batch_is_worked_on_once_whether_recorded_or_not() -> None:
    work, recorder = Sums(), Recorder()
    run = GraphedFunction(work, recorder)
    batches = [batch(1), batch(2), batch(3, 5), batch(4), batch(5, 5), batch(6), batch(7, 1)]
    found = [run(one)["sum"].item() for one in batches]
    expected = [2 * 1 + 3, 2 * 2 + 3, 5 * 3 + 3, 2 * 4 + 3, 5 * 5 + 3, 2 * 6 + 3, 7 + 3]
    assert found == work.done == expected
    # The shape of the last came once only.
    assert recorder.recordings == 2


def test_results_are_not_overwritten_and_batches_not_changed() -> None:
    run = GraphedFunction(Sums(), Recorder())
    batches = [batch(first) for first in (1.0, 2.0, 3.0)]
    found = [run(one) for one in batches]
    assert [one["sum"].item() for one in found] == [5, 7, 9]
    assert [one["x"].tolist() for one in batches] == [[1, 1], [2, 2], [3, 3]]


def test_there_are_not_more_recordings_than_memory_allows() -> None:
    run, most = GraphedFunction(Sums(), recorder := Recorder()), recorded.MAX_GRAPHS
    for length in (*range(1, most + 4), *range(1, most + 4)):
        run(batch(1, length))
    assert recorder.recordings == most

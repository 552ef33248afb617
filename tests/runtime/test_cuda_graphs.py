"""When steps are captured, captured functions with a capture that needs no GPU, and tree maps."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from pair2vec.errors import UsageError
from pair2vec.experiments.embedders.embedder import EmbedderInputs
from pair2vec.experiments.tasks.batches import TextBatch
from pair2vec.runtime.cuda_graphs import (
    MAX_GRAPHS,
    GraphedFunction,
    Replay,
    Results,
    tree_leaves,
    tree_map,
    tree_to,
    uses_cuda_graph,
)


@pytest.mark.parametrize(
    ("step_mode", "device", "expected"),
    [
        ("auto", "cuda", True),
        ("auto", "cuda:1", True),
        ("auto", "cpu", False),
        ("cuda_graph", "cuda", True),
        ("plain", "cuda", False),
        ("plain", "cpu", False),
    ],
)
def test_the_setting_and_the_device_decide_whether_steps_are_captured(
    step_mode: str, device: str, expected: bool
) -> None:
    assert uses_cuda_graph(step_mode, torch.device(device)) == expected


def test_a_cuda_graph_on_a_cpu_is_refused() -> None:
    message = "training.step_mode is 'cuda_graph', but the device is cpu; train on a GPU, or set"
    with pytest.raises(UsageError, match=message):
        uses_cuda_graph("cuda_graph", torch.device("cpu"))


class RunAgain:
    """As a graph: capturing runs nothing, and replays read and write the same tensors."""

    def __init__(self) -> None:
        self.captured = 0

    def __call__(self, work: Callable[[], Results]) -> tuple[Replay, Results]:
        self.captured += 1
        results = {"sum": torch.zeros(())}

        def replay() -> None:
            results["sum"].copy_(work()["sum"])

        return replay, results


class Sums:
    """A function with a side effect, so that what runs twice is seen."""

    def __init__(self) -> None:
        self.done: list[float] = []

    def __call__(self, batch: dict[str, Tensor]) -> Results:
        total = batch["x"].sum() + batch["y"].sum()
        self.done.append(total.item())
        return {"sum": total}


def batch(first: float, length: int = 2) -> dict[str, Tensor]:
    return {"x": torch.full((length,), first), "y": torch.ones(3)}


def test_every_batch_is_computed_once_whether_captured_or_not() -> None:
    work, capture = Sums(), RunAgain()
    run = GraphedFunction(work, capture)
    batches = [batch(1), batch(2), batch(3, 5), batch(4), batch(5, 5), batch(6), batch(7, 1)]
    actual = [run(each)["sum"].item() for each in batches]
    expected = [2 * 1 + 3, 2 * 2 + 3, 5 * 3 + 3, 2 * 4 + 3, 5 * 5 + 3, 2 * 6 + 3, 7 + 3]
    assert actual == work.done == expected
    # The shape of the last came once only.
    assert capture.captured == 2


def test_results_are_not_overwritten_and_batches_not_changed() -> None:
    run = GraphedFunction(Sums(), RunAgain())
    batches = [batch(first) for first in (1.0, 2.0, 3.0)]
    actual = [run(each) for each in batches]
    assert [each["sum"].item() for each in actual] == [5, 7, 9]
    assert [each["x"].tolist() for each in batches] == [[1, 1], [2, 2], [3, 3]]


def test_no_more_than_the_largest_number_of_graphs_is_captured() -> None:
    run, most = GraphedFunction(Sums(), capture := RunAgain()), MAX_GRAPHS
    for length in (*range(1, most + 4), *range(1, most + 4)):
        run(batch(1, length))
    assert capture.captured == most


@dataclass(frozen=True)
class TwoSides:
    one: TextBatch
    other: TextBatch
    labels: Tensor


def side(first: float) -> TextBatch:
    inputs = EmbedderInputs({"x": torch.tensor([first]), "y": torch.tensor([first + 1])})
    return TextBatch(
        inputs=inputs, ids=torch.tensor([first + 2]), is_word=torch.tensor([first + 3])
    )


BATCH = TwoSides(side(0), side(4), torch.tensor([8.0]))


def test_all_tensors_are_found_and_changed_wherever_they_are() -> None:
    assert [tensor.item() for tensor in tree_leaves(BATCH)] == [*range(9)]
    changed = tree_map(BATCH, lambda tensor: tensor * 10)
    assert [tensor.item() for tensor in tree_leaves(changed)] == [*range(0, 90, 10)]
    assert isinstance(changed.other.inputs, EmbedderInputs)
    assert BATCH.labels.item() == 8


def test_a_batch_is_moved_with_all_its_tensors() -> None:
    assert all(tensor.is_meta for tensor in tree_leaves(tree_to(BATCH, torch.device("meta"))))


def test_a_batch_of_anything_but_tensors_is_refused() -> None:
    with pytest.raises(TypeError, match="must not contain int"):
        tree_map({"a": torch.zeros(1), "b": 3}, Tensor.clone)

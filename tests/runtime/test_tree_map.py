"""The tensors of a batch."""

from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from pair2vec.experiments.embedders.embedder import EmbedderInputs
from pair2vec.experiments.tasks.batches import TextBatch
from pair2vec.runtime.cuda_graphs import tree_leaves, tree_map, tree_to


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


def test_a_batch_moves_as_a_whole() -> None:
    assert all(tensor.is_meta for tensor in tree_leaves(tree_to(BATCH, torch.device("meta"))))


def test_what_is_no_tensor_has_no_place_in_a_batch() -> None:
    with pytest.raises(TypeError, match="no place for int"):
        tree_map({"a": torch.zeros(1), "b": 3}, Tensor.clone)

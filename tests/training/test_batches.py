"""Triples of a corpus as tensors of the host."""

import numpy as np
import torch

from pair2vec.training.batches import TripleTensors
from pair2vec.triples.epoch import TripleBatch


def test_triples_as_tensors_are_the_same_numbers() -> None:
    draw = np.random.default_rng(0)
    contexts = tuple(draw.integers(9, size=(size, length)) for size, length in [(3, 4), (0, 5)])
    triples = TripleBatch(draw.integers(9, size=3), draw.integers(9, size=3), contexts)
    found = TripleTensors.of(triples)
    assert found.x.tolist() == triples.x.tolist()
    assert found.y.tolist() == triples.y.tolist()
    assert [group.tolist() for group in found.contexts] == [c.tolist() for c in contexts]
    assert [group.shape for group in found.contexts] == [(3, 4), (0, 5)]
    assert {tensor.dtype for tensor in (found.x, found.y, *found.contexts)} == {torch.int64}

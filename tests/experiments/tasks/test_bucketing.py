"""How many places the texts of a batch are given."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.experiments.tasks.batches import bucketed_length, bucketed_lengths, exact_length


@given(st.integers(0, 100_000))
def test_a_class_has_room_for_its_texts_and_little_more(length: int) -> None:
    width = bucketed_length(length)
    assert length <= width < length + max(4, length / 4)
    assert bucketed_length(width) == width
    assert exact_length(length) == length


def test_classes_are_few() -> None:
    widths = np.unique(bucketed_lengths(np.arange(1, 401)))
    assert widths.tolist() == [
        *(4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128),
        *(160, 192, 224, 256, 320, 384, 448),
    ]

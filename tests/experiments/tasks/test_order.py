"""The order of an epoch."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.experiments.tasks.batches import batches_by_size, epoch_batches

SIZES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=60).map(
    lambda rows: np.array(rows, np.int64).reshape(-1, 2)
)


@given(SIZES, st.integers(1, 7), st.integers(0, 3), st.integers(1, 4))
def test_every_example_comes_once_an_epoch_in_batches_of_the_size_asked_for(
    sizes: np.ndarray, batch: int, epoch: int, pool: int
) -> None:
    batches = epoch_batches(sizes, batch, seed=1, epoch=epoch, pool=pool)
    assert sorted(np.concatenate([np.zeros(0, np.int64), *batches])) == list(range(len(sizes)))
    assert all(1 <= len(numbers) <= batch for numbers in batches)
    if len(sizes):
        by_size = batches_by_size(sizes, batch)
        assert sorted(np.concatenate(by_size)) == list(range(len(sizes)))


def test_the_order_depends_on_seed_and_epoch_alone() -> None:
    sizes = np.random.default_rng(0).integers(1, 30, (500, 2))

    def order(seed: int, epoch: int) -> list[list[int]]:
        return [batch.tolist() for batch in epoch_batches(sizes, 16, seed=seed, epoch=epoch)]

    assert order(1, 2) == order(1, 2)
    assert order(1, 2) != order(1, 3)
    assert order(1, 2) != order(2, 2)


def test_a_batch_has_examples_of_about_a_length_but_batches_come_in_any_order() -> None:
    sizes = np.random.default_rng(0).integers(1, 40, (6400, 2))
    batches = epoch_batches(sizes, 32, seed=0, epoch=0, pool=100)
    # Unsorted, a batch is padded to nearly twice its words; the second measure is sorted among
    # equals of the first.
    for measure, most in ((0, 1.1), (1, 1.6)):
        padded = sum(sizes[numbers, measure].max() * len(numbers) for numbers in batches)
        assert padded < most * sizes[:, measure].sum()
    means = np.array([sizes[numbers, 0].mean() for numbers in batches])
    assert 0.3 < (np.diff(means) > 0).mean() < 0.7


def test_examples_meet_others_in_every_epoch() -> None:
    sizes = np.ones((320, 1), np.int64)
    first, second = (epoch_batches(sizes, 32, seed=0, epoch=epoch) for epoch in range(2))
    together = {frozenset(numbers.tolist()) for numbers in first}
    assert not together & {frozenset(numbers.tolist()) for numbers in second}

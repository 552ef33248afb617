"""Gather and scatter-add of rows against plain loops.

The kernels can only be compared on a GPU.
"""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from pair2vec.kernels.rows import copy_rows, gather_rows, has_triton, scatter_add_rows

COUNT, WIDTH = 6, 3
DTYPES = [torch.bfloat16, torch.float32, torch.float64]
# Whole numbers, so that a sum is the same in every order.
VALUES = st.lists(st.integers(-100, 100), min_size=WIDTH, max_size=WIDTH)
NAMED = st.lists(st.tuples(st.integers(0, COUNT - 1), VALUES), max_size=30)

dtypes = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def random(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)


def table(dtype: torch.dtype = torch.float32) -> Tensor:
    return random(COUNT, WIDTH, dtype=dtype).requires_grad_()


@given(NAMED, st.integers(0, COUNT + 2))
def test_each_row_gets_the_sum_of_the_values_that_name_it(
    named: list[tuple[int, list[int]]], frequent: int
) -> None:
    """However many rows are said to be frequent, none of them and more than there are too."""
    expected = [[0] * WIDTH for _ in range(COUNT)]
    for row, row_values in named:
        for column, value in enumerate(row_values):
            expected[row][column] += value
    rows = torch.tensor([row for row, _ in named], dtype=torch.long)
    values = torch.tensor([row_values for _, row_values in named], dtype=torch.float32).view(
        -1, WIDTH
    )
    actual = scatter_add_rows(values, rows, COUNT, frequent)
    assert actual.tolist() == expected


def test_rows_and_values_may_come_in_any_shape() -> None:
    values = random(2, 4, WIDTH)
    rows = torch.tensor([[0, 5, 2, 2], [0, 2, 5, 0]])
    expected = scatter_add_rows(values.view(-1, WIDTH), rows.flatten(), COUNT)
    assert torch.equal(scatter_add_rows(values, rows, COUNT), expected)
    # Neither of these lies in memory in the order in which it is read.
    turned = scatter_add_rows(values.transpose(0, 1), rows.T, COUNT)
    torch.testing.assert_close(turned, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("frequent", [0, 1, COUNT])
def test_many_small_numbers_are_summed_exactly_in_half_precision_too(frequent: int) -> None:
    """In bfloat16 itself, 256 + 1 is 256."""
    values = torch.ones(1000, WIDTH, dtype=torch.bfloat16)
    actual = scatter_add_rows(values, torch.arange(1000) % 2, 3, frequent)
    assert actual.dtype == torch.float32
    assert actual.tolist() == [[500.0] * WIDTH, [500.0] * WIDTH, [0.0] * WIDTH]


def test_doubles_are_summed_in_double_precision() -> None:
    values = torch.tensor([[1.0], [2.0**-40]], dtype=torch.float64)
    actual = scatter_add_rows(values, torch.tensor([1, 1]), 2)
    assert actual.dtype == torch.float64
    assert actual.tolist() == [[0.0], [1 + 2.0**-40]]


@dtypes
def test_copied_rows_are_those_of_the_table_in_the_given_precision(dtype: torch.dtype) -> None:
    rows = torch.tensor([[5, 0, 0], [3, 5, 1]])
    actual = copy_rows(table(), rows, dtype)
    assert actual.dtype == dtype
    assert torch.equal(actual, table()[rows].to(dtype))


@dtypes
def test_the_gradient_of_copied_rows_is_that_of_gathered_ones(dtype: torch.dtype) -> None:
    """A row that is named twice gets both gradients, and one that is not named none."""
    source, rows = table(dtype), torch.tensor([[5, 0, 0], [3, 5, 1]])
    weights = random(2, 3, WIDTH, seed=1, dtype=dtype)
    actual, expected = (
        torch.autograd.grad((taken * weights).sum(), source)[0]
        for taken in (copy_rows(source, rows, dtype), gather_rows(source, rows))
    )
    assert actual.dtype == dtype
    torch.testing.assert_close(actual, expected)
    assert not actual[[2, 4]].any()
    assert bool((actual[[0, 1, 3, 5]] != 0).all())


def test_the_gradient_of_rows_copied_to_half_precision_is_summed_in_that_of_the_table() -> None:
    source, rows = table(), torch.full((1000,), 4)
    (actual,) = torch.autograd.grad(copy_rows(source, rows, torch.bfloat16).sum(), source)
    assert actual.dtype == torch.float32
    assert actual[4].tolist() == [1000.0] * WIDTH
    assert float(actual.sum()) == 1000 * WIDTH


def test_the_gradient_of_copied_rows_is_their_slope() -> None:
    rows = torch.tensor([4, 0, 4, 4, 1])
    assert torch.autograd.gradcheck(
        lambda source: copy_rows(source, rows, torch.float64), (table(torch.float64),)
    )


def test_without_a_gpu_there_is_no_triton() -> None:
    assert not has_triton(torch.zeros(1))

"""Gather and scatter-add of table rows, and the sum of the parts of a pair.

A batch names the same frequent rows thousands of times. Gathering them is cheap, but the gradient
of a row is the sum over all its occurrences.

Shapes: B batch, n and m words, W width.
"""

from functools import cache
from importlib.util import find_spec

import torch
from torch import Tensor
from torch.autograd.function import Function, once_differentiable
from torch.nn import functional

MAX_LSTM_UNITS = 128
"""The largest hidden size of the LSTM kernels."""


def gather_rows(table: Tensor, rows: Tensor) -> Tensor:
    """``table[rows]``, with a gradient that is summed in a fixed order on a CPU."""
    return functional.embedding(rows, table)


def copy_rows(table: Tensor, rows: Tensor, dtype: torch.dtype) -> Tensor:
    """``table[rows]`` in another precision, with a gradient summed in that of `table`."""
    copied: Tensor = _CopiedRows.apply(table, rows, dtype)  # type: ignore[no-untyped-call]
    return copied


class _CopiedRows(Function):
    @staticmethod
    def forward(ctx: Function, table: Tensor, rows: Tensor, dtype: torch.dtype) -> Tensor:
        ctx.save_for_backward(rows)
        ctx.count = len(table)  # type: ignore[attr-defined]
        if has_triton(table):
            from pair2vec.kernels.rows_triton import kernel_copy_rows

            return kernel_copy_rows(table, rows, dtype)
        return gather_rows(table, rows).to(dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Function, d_copied: Tensor) -> tuple[Tensor, None, None]:
        (rows,) = ctx.saved_tensors
        return scatter_add_rows(d_copied, rows, ctx.count), None, None  # type: ignore[attr-defined]


def scatter_add_rows(values: Tensor, rows: Tensor, count: int, frequent: int = 0) -> Tensor:
    """For each of `count` rows the sum of the values (..., W) at its occurrences: (count, W).

    Summed in float32 or better, on a GPU in no fixed order. There, atomic additions to one row wait
    for each other; those to the first `frequent` rows are a matrix product instead.
    """
    rows, values = rows.reshape(-1), values.reshape(-1, values.shape[-1])
    precision = torch.promote_types(values.dtype, torch.float32)
    sums = torch.zeros((count, values.shape[1]), dtype=precision, device=values.device)
    if not has_triton(values):
        return sums.index_add_(0, rows, values.to(precision))
    from pair2vec.kernels.rows_triton import kernel_scatter_add_rows

    if frequent:
        first_rows = torch.arange(min(frequent, count), device=rows.device)
        is_row = (rows[:, None] == first_rows).to(values.dtype)
        sums[: len(first_rows)] = is_row.T @ values
    kernel_scatter_add_rows(values.contiguous(), rows.contiguous(), sums, frequent)
    return sums


def has_triton(tensor: Tensor) -> bool:
    """Whether Triton kernels can be used on this tensor."""
    return tensor.is_cuda and _finds_triton()


@cache
def _finds_triton() -> bool:
    return find_spec("triton") is not None


def sum_pair_parts(pairs: Tensor, a: Tensor, b: Tensor, *, relu: bool) -> Tensor:
    """``pairs + a + b``, the input of a hidden layer of R; without gradient.

    On a GPU in one pass, since reading and writing the vectors of all pairs is what takes the time.

    Args:
        pairs: (B, n, m, W), the parts of pairs.
        a: (B, n, 1, W), the parts of one word of each.
        b: (B, 1, m, W), the parts of the other.
        relu: Whether to apply ReLU.
    """
    if has_triton(pairs) and pairs.numel():
        from pair2vec.kernels.rows_triton import kernel_sum_pair_parts

        return kernel_sum_pair_parts(pairs, a, b, relu)
    total = (pairs + a).add_(b)
    return total.relu_() if relu else total

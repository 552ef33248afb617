"""Rows of a table: taking them out, and adding up what comes back for them.

A batch names the same frequent rows thousands of times. Where they are only read that is nothing,
but their gradient is a sum of all of them.
"""

from functools import cache
from importlib.util import find_spec

import torch
from torch import Tensor
from torch.autograd.function import Function, once_differentiable
from torch.nn import functional

MAX_LSTM_UNITS = 128
"""The largest H that the kernels take."""


def gather_rows(table: Tensor, rows: Tensor) -> Tensor:
    """``table[rows]``, with a gradient that adds up in a fixed order on a CPU."""
    return functional.embedding(rows, table)


def copy_rows(table: Tensor, rows: Tensor, dtype: torch.dtype) -> Tensor:
    """``table[rows]`` in another precision, with a gradient that adds up in that of `table`."""
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
    """For each of `count` rows the sum of the values (..., W) that belong to it: (count, W).

    Summed in float32 or better, on a GPU in no fixed order. There, additions to one row wait for
    each other; those to the first `frequent` rows are a matrix product instead.
    """
    rows, values = rows.reshape(-1), values.reshape(-1, values.shape[-1])
    precision = torch.promote_types(values.dtype, torch.float32)
    sums = torch.zeros((count, values.shape[1]), dtype=precision, device=values.device)
    if not has_triton(values):
        return sums.index_add_(0, rows, values.to(precision))
    from pair2vec.kernels.rows_triton import kernel_scatter_add_rows

    if frequent:
        numbers = torch.arange(min(frequent, count), device=rows.device)
        is_row = (rows[:, None] == numbers).to(values.dtype)
        sums[: len(numbers)] = is_row.T @ values
    kernel_scatter_add_rows(values.contiguous(), rows.contiguous(), sums, frequent)
    return sums


def has_triton(tensor: Tensor) -> bool:
    """Whether Triton's kernels can work on such a tensor."""
    return tensor.is_cuda and _finds_triton()


@cache
def _finds_triton() -> bool:
    return find_spec("triton") is not None


# == The sum that begins a hidden layer of R: of a part of each pair, and of each of its two words.
#
# Shapes: B batch, n and m words, W width.


def sum_pair_parts(of_pairs: Tensor, of_a: Tensor, of_b: Tensor, *, relu: bool) -> Tensor:
    """Parts of pairs (B, n, m, W), of the words (B, n, 1, W) and (B, 1, m, W); no gradient.

    On a GPU in one pass: the vectors of pairs are many, and to read and write them is what takes
    the time.
    """
    if has_triton(of_pairs) and of_pairs.numel():
        from pair2vec.kernels.rows_triton import kernel_sum_pair_parts

        return kernel_sum_pair_parts(of_pairs, of_a, of_b, relu)
    found = (of_pairs + of_a).add_(of_b)
    return found.relu_() if relu else found

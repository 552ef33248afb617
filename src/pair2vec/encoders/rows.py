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


def take_rows(table: Tensor, rows: Tensor) -> Tensor:
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
            from pair2vec.encoders.rows_kernels import kernel_copy_rows

            return kernel_copy_rows(table, rows, dtype)
        return take_rows(table, rows).to(dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Function, d_copied: Tensor) -> tuple[Tensor, None, None]:
        (rows,) = ctx.saved_tensors
        return add_up_rows(d_copied, rows, ctx.count), None, None  # type: ignore[attr-defined]


def add_up_rows(values: Tensor, rows: Tensor, count: int, frequent: int = 0) -> Tensor:
    """For each of `count` rows the sum of the values (..., W) that belong to it: (count, W).

    Summed in float32 or better, on a GPU in no fixed order. There, additions to one row wait for
    each other; those to the first `frequent` rows are a matrix product instead.
    """
    rows, values = rows.reshape(-1), values.reshape(-1, values.shape[-1])
    precision = torch.promote_types(values.dtype, torch.float32)
    sums = torch.zeros((count, values.shape[1]), dtype=precision, device=values.device)
    if not has_triton(values):
        return sums.index_add_(0, rows, values.to(precision))
    from pair2vec.encoders.rows_kernels import kernel_add_up_rows

    if frequent:
        numbers = torch.arange(min(frequent, count), device=rows.device)
        is_row = (rows[:, None] == numbers).to(values.dtype)
        sums[: len(numbers)] = is_row.T @ values
    kernel_add_up_rows(values.contiguous(), rows.contiguous(), sums, frequent)
    return sums


def has_triton(tensor: Tensor) -> bool:
    """Whether Triton's kernels can work on such a tensor."""
    return tensor.is_cuda and _finds_triton()


@cache
def _finds_triton() -> bool:
    return find_spec("triton") is not None

# mypy: disable-error-code="untyped-decorator, no-any-return"
"""Triton kernels of `pair2vec.kernels.rows`: gather, scatter-add, and sums of pair parts.

A program of gather or scatter-add has `block` of the named rows, a tile of `width` columns at a
time; one of pair parts has one word of a and `block` words of b. Scatter-add is by atomic additions
in float32, which the GPU's cache performs, so that no sorting is needed.
"""

import torch
import triton  # type: ignore[import-not-found]
import triton.language as tl  # type: ignore[import-not-found]
from torch import Tensor

ROW_BLOCK, ROW_WIDTH, ROW_WARPS = 16, 128, 4
SUM_BLOCK, SUM_WIDTH, SUM_WARPS = 8, 512, 4


def kernel_copy_rows(table: Tensor, rows: Tensor, dtype: torch.dtype) -> Tensor:
    """``table[rows].to(dtype)``."""
    copied = torch.empty((*rows.shape, table.shape[1]), dtype=dtype, device=table.device)
    rows = rows.contiguous()
    _copy_kernel[_grid(rows, table.shape[1])](
        *(table, rows, copied, rows.numel()),
        **_sizes(table.shape[1]),
    )
    return copied


def kernel_scatter_add_rows(values: Tensor, rows: Tensor, sums: Tensor, first: int) -> None:
    """Add values (N, W) to `sums` at their rows, from row `first` on."""
    _add_kernel[_grid(rows, sums.shape[1])](
        *(values, rows, sums, rows.numel(), first),
        **_sizes(sums.shape[1]),
    )


def kernel_sum_pair_parts(pairs: Tensor, a: Tensor, b: Tensor, relu: bool) -> Tensor:
    """Of parts (B, n, m, W), (B, n, 1, W) and (B, 1, m, W)."""
    batch, n, m, columns = pairs.shape
    sums = torch.empty_like(pairs, memory_format=torch.contiguous_format)
    parts = (part.contiguous() for part in (pairs, a, b))
    width = min(SUM_WIDTH, triton.next_power_of_2(columns))
    grid = (batch * n, triton.cdiv(m, SUM_BLOCK), triton.cdiv(columns, width))
    _sum_kernel[grid](
        *(*parts, sums, n, m),
        columns=columns,
        block=SUM_BLOCK,
        width=width,
        relu=relu,
        num_warps=SUM_WARPS,
    )
    return sums


def _grid(rows: Tensor, columns: int) -> tuple[int, int]:
    return triton.cdiv(rows.numel(), ROW_BLOCK), triton.cdiv(columns, ROW_WIDTH)


def _sizes(columns: int) -> dict[str, int]:
    return {"columns": columns, "block": ROW_BLOCK, "width": ROW_WIDTH, "num_warps": ROW_WARPS}


@triton.jit
def _copy_kernel(
    table: tl.tensor,
    rows: tl.tensor,
    copied: tl.tensor,
    count: int,
    columns: tl.constexpr,
    block: tl.constexpr,
    width: tl.constexpr,
) -> None:
    position = (tl.program_id(0) * block + tl.arange(0, block)).to(tl.int64)
    column = tl.program_id(1) * width + tl.arange(0, width)
    row = tl.load(rows + position, mask=position < count, other=0).to(tl.int64)
    inside = (position < count)[:, None] & (column < columns)[None, :]
    values = tl.load(table + row[:, None] * columns + column[None, :], mask=inside, other=0.0)
    target = copied + position[:, None] * columns + column[None, :]
    tl.store(target, values.to(copied.dtype.element_ty), mask=inside)


@triton.jit
def _add_kernel(  # noqa: PLR0913, PLR0917 - a kernel takes no records
    values: tl.tensor,
    rows: tl.tensor,
    sums: tl.tensor,
    count: int,
    first: int,
    columns: tl.constexpr,
    block: tl.constexpr,
    width: tl.constexpr,
) -> None:
    position = (tl.program_id(0) * block + tl.arange(0, block)).to(tl.int64)
    column = tl.program_id(1) * width + tl.arange(0, width)
    row = tl.load(rows + position, mask=position < count, other=-1).to(tl.int64)
    inside = (row >= first)[:, None] & (column < columns)[None, :]
    value = tl.load(values + position[:, None] * columns + column[None, :], mask=inside, other=0.0)
    target = sums + row[:, None] * columns + column[None, :]
    tl.atomic_add(target, value.to(tl.float32), mask=inside, sem="relaxed")


@triton.jit
def _sum_kernel(  # noqa: PLR0913, PLR0917 - a kernel takes no records
    pairs: tl.tensor,
    a_parts: tl.tensor,
    b_parts: tl.tensor,
    sums: tl.tensor,
    n: int,
    m: int,
    columns: tl.constexpr,
    block: tl.constexpr,
    width: tl.constexpr,
    relu: tl.constexpr,
) -> None:
    i = tl.program_id(0).to(tl.int64)
    j = tl.program_id(1) * block + tl.arange(0, block)
    column = tl.program_id(2) * width + tl.arange(0, width)
    inside = (j < m)[:, None] & (column < columns)[None, :]
    position = (i * m + j)[:, None] * columns + column[None, :]
    in_b = ((i // n) * m + j)[:, None] * columns + column[None, :]
    a = tl.load(a_parts + i * columns + column, mask=column < columns, other=0.0).to(tl.float32)
    b = tl.load(b_parts + in_b, mask=inside, other=0.0).to(tl.float32)
    total = tl.load(pairs + position, mask=inside, other=0.0).to(tl.float32) + a[None, :] + b
    if relu:
        total = tl.maximum(total, 0.0)
    tl.store(sums + position, total.to(sums.dtype.element_ty), mask=inside)

# mypy: disable-error-code="untyped-decorator, no-any-return"
"""Triton kernels of `pair2vec.encoders.rows`: reading rows of a table, and adding to them.

A program has `block` of the named rows, a tile of `width` columns at a time. Sums are atomic
additions in float32, which the GPU's cache does itself, so no sorting is needed.
"""

import torch
import triton  # type: ignore[import-not-found]
import triton.language as tl  # type: ignore[import-not-found]
from torch import Tensor

BLOCK, WIDTH, WARPS = 16, 128, 4


def kernel_copy_rows(table: Tensor, rows: Tensor, dtype: torch.dtype) -> Tensor:
    """``table[rows].to(dtype)``."""
    copied = torch.empty((*rows.shape, table.shape[1]), dtype=dtype, device=table.device)
    rows = rows.contiguous()
    _copy_kernel[_grid(rows, table.shape[1])](
        *(table, rows, copied, rows.numel()),
        **_sizes(table.shape[1]),
    )
    return copied


def kernel_add_up_rows(values: Tensor, rows: Tensor, sums: Tensor, first: int) -> None:
    """Add values (N, W) to `sums` at their rows, from row `first` on."""
    _add_kernel[_grid(rows, sums.shape[1])](
        *(values, rows, sums, rows.numel(), first),
        **_sizes(sums.shape[1]),
    )


def _grid(rows: Tensor, columns: int) -> tuple[int, int]:
    return triton.cdiv(rows.numel(), BLOCK), triton.cdiv(columns, WIDTH)


def _sizes(columns: int) -> dict[str, int]:
    return {"columns": columns, "block": BLOCK, "width": WIDTH, "num_warps": WARPS}


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
    place = (tl.program_id(0) * block + tl.arange(0, block)).to(tl.int64)
    column = tl.program_id(1) * width + tl.arange(0, width)
    row = tl.load(rows + place, mask=place < count, other=0).to(tl.int64)
    inside = (place < count)[:, None] & (column < columns)[None, :]
    values = tl.load(table + row[:, None] * columns + column[None, :], mask=inside, other=0.0)
    to = copied + place[:, None] * columns + column[None, :]
    tl.store(to, values.to(copied.dtype.element_ty), mask=inside)


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
    place = (tl.program_id(0) * block + tl.arange(0, block)).to(tl.int64)
    column = tl.program_id(1) * width + tl.arange(0, width)
    row = tl.load(rows + place, mask=place < count, other=-1).to(tl.int64)
    inside = (row >= first)[:, None] & (column < columns)[None, :]
    value = tl.load(values + place[:, None] * columns + column[None, :], mask=inside, other=0.0)
    to = sums + row[:, None] * columns + column[None, :]
    tl.atomic_add(to, value.to(tl.float32), mask=inside, sem="relaxed")

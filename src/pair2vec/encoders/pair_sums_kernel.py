# mypy: disable-error-code="untyped-decorator, no-any-return"
"""Triton kernel of `pair2vec.encoders.pair_sums`.

A program has one word of a and `block` of those of b, a tile of `width` columns at a time.
"""

import torch
import triton  # type: ignore[import-not-found]
import triton.language as tl  # type: ignore[import-not-found]
from torch import Tensor

BLOCK, WIDTH, WARPS = 8, 512, 4


def kernel_added_up(of_pairs: Tensor, of_a: Tensor, of_b: Tensor, relu: bool) -> Tensor:
    """Of parts (B, n, m, W), (B, n, 1, W) and (B, 1, m, W)."""
    batch, n, m, columns = of_pairs.shape
    found = torch.empty_like(of_pairs, memory_format=torch.contiguous_format)
    parts = (part.contiguous() for part in (of_pairs, of_a, of_b))
    width = min(WIDTH, triton.next_power_of_2(columns))
    grid = (batch * n, triton.cdiv(m, BLOCK), triton.cdiv(columns, width))
    _sum_kernel[grid](
        *(*parts, found, n, m),
        columns=columns,
        block=BLOCK,
        width=width,
        relu=relu,
        num_warps=WARPS,
    )
    return found


@triton.jit
def _sum_kernel(  # noqa: PLR0913, PLR0917 - a kernel takes no records
    of_pairs: tl.tensor,
    of_a: tl.tensor,
    of_b: tl.tensor,
    found: tl.tensor,
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
    place = (i * m + j)[:, None] * columns + column[None, :]
    in_b = ((i // n) * m + j)[:, None] * columns + column[None, :]
    a = tl.load(of_a + i * columns + column, mask=column < columns, other=0.0).to(tl.float32)
    b = tl.load(of_b + in_b, mask=inside, other=0.0).to(tl.float32)
    total = tl.load(of_pairs + place, mask=inside, other=0.0).to(tl.float32) + a[None, :] + b
    if relu:
        total = tl.maximum(total, 0.0)
    tl.store(found + place, total.to(found.dtype.element_ty), mask=inside)

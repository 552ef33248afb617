"""Gradients added up over all ranks.

Of a table, a batch touches few rows. Ranks tell each other which, and add up those alone: with more
ranks they become more, and at most the whole table. All that is dense goes as one.

Shapes: N rows touched on a rank, M on any rank, D dimension.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor

from pair2vec.training.ranks import Ranks


def add_up_all(ranks: Ranks, tensors: Sequence[Tensor]) -> None:
    """Make each tensor its sum over all ranks, in one go."""
    flat = flattened(tensors)
    ranks.add_up(flat)
    for tensor, summed in zip(tensors, split_like(flat, tensors), strict=True):
        tensor.copy_(summed)


def flattened(tensors: Sequence[Tensor]) -> Tensor:
    """All numbers of some tensors, in the precision of the first."""
    return torch.cat([tensor.flatten().to(tensors[0].dtype) for tensor in tensors])


def split_like(flat: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
    """The numbers of `flat` in the shapes of `tensors`."""
    parts = torch.split(flat, [tensor.numel() for tensor in tensors])
    return [part.view(tensor.shape) for part, tensor in zip(parts, tensors, strict=True)]


class Touched(NamedTuple):
    """Of a table of `length` rows, distinct ones, sorted, and a value for each."""

    length: int
    rows: Tensor
    """(N,)"""
    values: Tensor
    """(N, D)"""


def add_up_touched(ranks: Ranks, tables: Sequence[Touched]) -> list[Touched]:
    """Of each table all rows touched on any rank, (M,), and the sum of all their values, (M, D)."""
    # Numbered through, so that the rows of all tables go as those of one.
    starts = [0, *accumulate(table.length for table in tables)]
    numbered = [table.rows + start for table, start in zip(tables, starts, strict=False)]
    rows = torch.unique(torch.cat(ranks.gather(torch.cat(numbered))))
    sums = tables[0].values.new_zeros((len(rows), tables[0].values.shape[1]))
    for table, numbers in zip(tables, numbered, strict=True):
        sums[torch.searchsorted(rows, numbers)] = table.values
    ranks.add_up(sums)
    ends = torch.searchsorted(rows, torch.tensor(starts, device=rows.device)).tolist()
    return [
        Touched(table.length, rows[first:end] - start, sums[first:end])
        for table, start, first, end in zip(tables, starts, ends, ends[1:], strict=False)
    ]

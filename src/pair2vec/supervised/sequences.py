"""Sequences of several lengths: packed for a recurrent network, dropped out, attended, pooled.

Shapes: B batch, n longest sequence of a block, N words of all sequences, D dimension.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

Lengths = NDArray[np.int64]


class Packing(NamedTuple):
    """Where the words of some padded blocks, each (B, n), stand in a packed sequence.

    torch packs step by step, which on a GPU takes more time than the network itself. Here the
    order is found beforehand, and packing is one gather. A sequence without words is none at all.
    """

    rows: Tensor
    """(N,): for each word in packed order, its row when all blocks are laid flat."""
    sizes: Tensor
    """How many sequences have a first, a second, … word; torch wants it on the CPU."""
    lengths: tuple[Tensor, ...]
    """(B,) of each block."""

    @classmethod
    def of(cls, blocks: Sequence[Lengths]) -> Self:
        """That of blocks with these lengths, each padded to its longest."""
        widths = [int(lengths.max(initial=0)) for lengths in blocks]
        ends = np.cumsum([0, *(len(n) * width for n, width in zip(blocks, widths, strict=True))])
        starts = np.concatenate(
            [
                end + np.arange(len(lengths)) * width
                for end, lengths, width in zip(ends, blocks, widths, strict=False)
            ]
        )
        lengths = np.concatenate(blocks)
        order = np.argsort(-lengths, kind="stable")
        # Word by word, and of each word the sequences that are long enough to have one.
        has_word = lengths[order] > np.arange(max(widths, default=0))[:, None]
        word, place = np.nonzero(has_word)
        rows = starts[order[place]] + word
        by_block = tuple(map(torch.from_numpy, blocks))
        return cls(torch.from_numpy(rows), torch.from_numpy(has_word.sum(axis=1)), by_block)

    def to(self, device: torch.device) -> "Packing":
        """For blocks on this device."""
        lengths = tuple(lengths.to(device) for lengths in self.lengths)
        return Packing(self.rows.to(device), self.sizes, lengths)

    def pack(self, blocks: Sequence[Tensor]) -> PackedSequence:
        """The words of blocks (B, n, D) as one packed sequence."""
        flat = torch.cat([block.flatten(0, 1) for block in blocks])
        return PackedSequence(flat.index_select(0, self.rows), self.sizes)

    def unpack(self, packed: PackedSequence, like: Sequence[Tensor]) -> list[Tensor]:
        """Blocks of the shape of `like` but for D; rows behind a sequence's end are zero."""
        shapes = [block.shape[:2] for block in like]
        counts = [batch * width for batch, width in shapes]
        zeros = packed.data.new_zeros(sum(counts), packed.data.shape[1])
        flat = zeros.index_copy(0, self.rows, packed.data)
        return [
            part.view(*shape, packed.data.shape[1])
            for part, shape in zip(torch.split(flat, counts), shapes, strict=True)
        ]


class VariationalDropout(nn.Module):
    """Drops the same dimensions of all words of a sequence (Gal & Ghahramani, 2016)."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, block: Tensor) -> Tensor:
        """(B, n, D), changed while training only."""
        if not self.training or not self.share:
            return block
        kept = torch.empty_like(block[:, :1]).bernoulli_(1 - self.share)
        return block * kept / (1 - self.share)

    def extra_repr(self) -> str:
        """What torch prints of it."""
        return f"share={self.share}"


def is_word(lengths: Tensor, width: int) -> Tensor:
    """Which places of a block have a word: (B, n)."""
    return torch.arange(width, device=lengths.device) < lengths[:, None]


def masked_softmax(scores: Tensor, is_in: Tensor, dim: int) -> Tensor:
    """Over the places that `is_in` allows, which is of the shape of the scores; zero elsewhere."""
    lowest = torch.finfo(scores.dtype).min
    # Where no place is allowed, softmax is even over nothing.
    return scores.masked_fill(~is_in, lowest).softmax(dim=dim).masked_fill(~is_in, 0)


def mean_words(block: Tensor, mask: Tensor) -> Tensor:
    """Over the words (B, n) of a block (B, n, D): (B, D); zero for a sequence without any."""
    total = (block * mask[..., None]).sum(
        dim=1, dtype=torch.promote_types(block.dtype, torch.float32)
    )
    return total / mask.sum(dim=1).clamp_min(1)[:, None]


def max_words(block: Tensor, mask: Tensor) -> Tensor:
    """The largest value of each dimension over the words of a block; zero without any: (B, D)."""
    if not block.shape[1]:
        return block.new_zeros(len(block), block.shape[2])
    lowest = torch.finfo(block.dtype).min
    largest = block.masked_fill(~mask[..., None], lowest).amax(dim=1)
    return largest.masked_fill(~mask.any(dim=1)[:, None], 0)

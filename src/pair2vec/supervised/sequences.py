"""Sequences of several lengths: packed for a recurrent network, dropped out, pooled.

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


class BiLstm(nn.Module):
    """Both directions over blocks of sequences; cuDNN's on a GPU."""

    def __init__(self, inputs: int, hidden: int) -> None:
        """Initialise as AllenNLP does, so that much is remembered at first."""
        super().__init__()
        self.dimension = 2 * hidden
        self.lstm = nn.LSTM(inputs, hidden, bidirectional=True, batch_first=True)
        for name, values in self.lstm.named_parameters():
            if "weight_ih" in name:
                nn.init.xavier_uniform_(values)
            elif "weight_hh" in name:
                nn.init.orthogonal_(values)
            else:
                nn.init.zeros_(values)
                if "bias_hh" in name:
                    # The second quarter belongs to the gate that keeps what was there before.
                    nn.init.ones_(values[hidden : 2 * hidden])

    def forward(self, blocks: Sequence[Tensor], packing: Packing) -> list[Tensor]:
        """(B, n, D) each to (B, n, 2 hidden); rows behind a sequence's end are zero."""
        if not len(packing.rows):
            return [self._nothing(block) for block in blocks]
        if blocks[0].device.type == "cpu":
            # Packed sequences take torch two to three times as long here, and padding is little.
            return [self.run_padded(*pair) for pair in zip(blocks, packing.lengths, strict=True)]
        packed, _ = self.lstm(packing.pack(blocks))
        return packing.unpack(packed, blocks)

    def run_padded(self, block: Tensor, lengths: Tensor) -> Tensor:
        """The same for one block, by running over the padding too.

        Forward, what is behind a sequence does it no harm; backward, each is turned round first.
        """
        if not block.numel():
            return self._nothing(block)
        places = torch.arange(block.shape[1], device=block.device)
        is_in = places < lengths[:, None]
        turned = torch.where(is_in, lengths[:, None] - 1 - places, places)[..., None]
        ahead = self._run_one_way(block, "")
        back = self._run_one_way(block.take_along_dim(turned, dim=1), "_reverse")
        return torch.cat([ahead, back.take_along_dim(turned, dim=1)], -1) * is_in[..., None]

    def _nothing(self, block: Tensor) -> Tensor:
        return block.new_zeros(*block.shape[:2], self.dimension)

    def _run_one_way(self, block: Tensor, suffix: str) -> Tensor:
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        weights = [getattr(self.lstm, f"{name}_l0{suffix}") for name in names]
        start = block.new_zeros(1, len(block), self.lstm.hidden_size)
        states, _, _ = torch.lstm(
            block, (start, start), weights, True, 1, 0.0, self.training, False, True
        )
        return states


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

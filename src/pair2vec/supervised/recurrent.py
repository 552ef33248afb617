"""Recurrent networks over sequences of several lengths, in both directions.

Shapes: B batch, n longest sequence of a block, D dimension.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional


class BothWays(nn.Module):
    """Both directions over blocks of sequences; cuDNN's on a GPU.

    Sequences run over the padding behind them, which does them no harm: forward, it comes after
    all that counts; backward, each sequence is turned round first. torch's packed sequences need
    their lengths on the CPU, so that no graph of a GPU can hold them, and take a CPU two to three
    times as long.
    """

    ahead: nn.RNNBase
    back: nn.RNNBase

    def __init__(self, ahead: nn.RNNBase, back: nn.RNNBase) -> None:
        """Take torch's own networks of one direction each; their weights are drawn anew."""
        super().__init__()
        self.ahead, self.back = ahead, back
        self.dimension = ahead.hidden_size + back.hidden_size
        for cells in (ahead, back):
            _initialise(cells)

    def forward(self, blocks: Sequence[Tensor], masks: Sequence[Tensor]) -> list[Tensor]:
        """Blocks (B, n, D) with words where masks (B, n) say, at the begin of each row.

        Returns:
            (B, n, 2 hidden) each; rows behind a sequence's end are zero.
        """
        if blocks[0].device.type == "cpu":
            return [self._run(*pair) for pair in zip(blocks, masks, strict=True)]
        # A GPU waits for one step after the other, and takes as long for few sequences as for many.
        width = max(block.shape[1] for block in blocks)
        joined, is_word = (
            torch.cat([_widened(part, width) for part in parts]) for parts in (blocks, masks)
        )
        found = torch.split(self._run(joined, is_word), [len(block) for block in blocks])
        return [part[:, : block.shape[1]] for part, block in zip(found, blocks, strict=True)]

    def _run(self, block: Tensor, is_word: Tensor) -> Tensor:
        if not block.numel():
            return block.new_zeros(*block.shape[:2], self.dimension)
        # torch would take float16 for bfloat16 here, in which small gradients are zero.
        with torch.autocast(block.device.type, enabled=False):
            block = block.to(torch.promote_types(block.dtype, torch.float32))
            places = torch.arange(block.shape[1], device=block.device)
            lengths = is_word.sum(dim=1, keepdim=True)
            turned = torch.where(is_word, lengths - 1 - places, places)[..., None]
            ahead = self.ahead(block)[0]
            back = self.back(block.take_along_dim(turned, dim=1))[0].take_along_dim(turned, dim=1)
            states = torch.cat([ahead, back], dim=-1)
            return states * is_word[..., None]


class BiLstm(BothWays):
    """Long short-term memory."""

    def __init__(self, inputs: int, hidden: int) -> None:
        """Initialise so that much is remembered at first."""
        super().__init__(*(nn.LSTM(inputs, hidden, batch_first=True) for _ in range(2)))
        for cells in (self.ahead, self.back):
            bias = cells.get_parameter("bias_hh_l0")
            # The second quarter belongs to the gate that keeps what was there before.
            nn.init.ones_(bias[hidden : 2 * hidden])


class BiGru(BothWays):
    """Gated recurrent units."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__(*(nn.GRU(inputs, hidden, batch_first=True) for _ in range(2)))


def _initialise(cells: nn.RNNBase) -> None:
    """As AllenNLP does."""
    for name, values in cells.named_parameters():
        if "weight_ih" in name:
            nn.init.xavier_uniform_(values)
        elif "weight_hh" in name:
            nn.init.orthogonal_(values)
        else:
            nn.init.zeros_(values)


def _widened(block: Tensor, width: int) -> Tensor:
    """A block (B, n, D), or its mask (B, n), with zeros up to so many places."""
    missing = width - block.shape[1]
    return functional.pad(block, (0, 0) * (block.dim() - 2) + (0, missing)) if missing else block

"""Recurrent networks over sequences of several lengths, in both directions.

Shapes: B batch, n longest sequence of a block, D dimension.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from pair2vec.supervised.sequences import Packing

_WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


class BothWays(nn.Module, ABC):
    """Both directions over blocks of sequences; cuDNN's on a GPU."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.hidden, self.dimension = hidden, 2 * hidden

    @property
    @abstractmethod
    def cells(self) -> nn.RNNBase:
        """Torch's own network, whose weights are used."""

    @abstractmethod
    def _run(self, block: Tensor, weights: list[Tensor]) -> Tensor:
        """One direction over a whole block: (B, n, hidden)."""

    def _initialise(self) -> None:
        """As AllenNLP does."""
        for name, values in self.cells.named_parameters():
            if "weight_ih" in name:
                nn.init.xavier_uniform_(values)
            elif "weight_hh" in name:
                nn.init.orthogonal_(values)
            else:
                nn.init.zeros_(values)

    def forward(self, blocks: Sequence[Tensor], packing: Packing) -> list[Tensor]:
        """(B, n, D) each to (B, n, 2 hidden); rows behind a sequence's end are zero."""
        if not len(packing.rows):
            return [self._nothing(block) for block in blocks]
        if blocks[0].device.type == "cpu":
            # Packed sequences take torch two to three times as long here, and padding is little.
            return [self.run_padded(*pair) for pair in zip(blocks, packing.lengths, strict=True)]
        packed, _ = self.cells(packing.pack(blocks))
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
        return self._run(block, [getattr(self.cells, f"{name}_l0{suffix}") for name in _WEIGHTS])

    def _start(self, block: Tensor) -> Tensor:
        return block.new_zeros(1, len(block), self.hidden)


class BiLstm(BothWays):
    """Long short-term memory."""

    def __init__(self, inputs: int, hidden: int) -> None:
        """Initialise so that much is remembered at first."""
        super().__init__(hidden)
        self.lstm = nn.LSTM(inputs, hidden, bidirectional=True, batch_first=True)
        self._initialise()
        for name, values in self.lstm.named_parameters():
            if "bias_hh" in name:
                # The second quarter belongs to the gate that keeps what was there before.
                nn.init.ones_(values[hidden : 2 * hidden])

    @property
    def cells(self) -> nn.LSTM:
        """Torch's own."""
        return self.lstm

    def _run(self, block: Tensor, weights: list[Tensor]) -> Tensor:
        start = self._start(block)
        states, _, _ = torch.lstm(
            block, (start, start), weights, True, 1, 0.0, self.training, False, True
        )
        return states


class BiGru(BothWays):
    """Gated recurrent units."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__(hidden)
        self.gru = nn.GRU(inputs, hidden, bidirectional=True, batch_first=True)
        self._initialise()

    @property
    def cells(self) -> nn.GRU:
        """Torch's own."""
        return self.gru

    def _run(self, block: Tensor, weights: list[Tensor]) -> Tensor:
        states, _ = torch.gru(
            block, self._start(block), weights, True, 1, 0.0, self.training, False, True
        )
        return states

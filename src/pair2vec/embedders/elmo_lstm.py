"""One layer of ELMo's language models: an LSTM with a projection and clips in each direction.

Shapes: T steps, B sentences, P dimension of a word, S of the cell. Both directions are one tensor:
the products of a step are few enough for a GPU to do them at a time.
"""

import torch
from torch import Tensor, nn

from pair2vec.embedders.elmo_files import ElmoOptions, WeightFile

DIRECTIONS = range(2)
"""Forward and backward, as the weights are numbered."""

_INPUTS_AT_ONCE = 1024
"""Words whose part of the gates is computed ahead, if there are not more in one step; the published
model takes 128 kB for each."""


class ElmoLstm(nn.Module):
    """TensorFlow's ``LSTMCell`` with ``num_proj``, in both directions, from zero."""

    words: Tensor
    """(2, P, 4S), from a word to the gates: input, cell, forget, output."""
    states: Tensor
    """(2, P, 4S), from the output of the step before."""
    bias: Tensor
    """(2, 1, 4S)"""
    projection: Tensor
    """(2, S, P)"""

    def __init__(self, options: ElmoOptions, weights: WeightFile, number: int) -> None:
        """Copy layer `number` out of the weights."""
        super().__init__()
        size, cell = options.projection, options.cell
        folders = [f"RNN_{way}/RNN/MultiRNNCell/Cell{number}/LSTMCell" for way in DIRECTIONS]

        def both(name: str, *shape: int) -> Tensor:
            return torch.stack([weights.tensor(f"{folder}/{name}", *shape) for folder in folders])

        words, states = both("W_0", 2 * size, 4 * cell).chunk(2, dim=1)
        bias = both("B", 4 * cell).unsqueeze(1)
        # TensorFlow adds one to the forget gate while it runs; the weights do not have it.
        bias[..., 2 * cell : 3 * cell] += 1
        self.register_buffer("words", words.contiguous(), False)
        self.register_buffer("states", states.contiguous(), False)
        self.register_buffer("bias", bias, False)
        self.register_buffer("projection", both("W_P_0", cell, size), False)
        self._cell_clip, self._projection_clip = options.cell_clip, options.projection_clip

    def forward(self, words: Tensor) -> Tensor:
        """The outputs for words (2, T, B, P), in the order of time for each direction."""
        outputs = torch.empty_like(words)
        _, _, batch, size = words.shape
        state = words.new_zeros(len(DIRECTIONS), batch, size)
        cell = words.new_zeros(len(DIRECTIONS), batch, self.projection.shape[1])
        steps = max(1, _INPUTS_AT_ONCE // max(1, batch))
        for start in range(0, words.shape[1], steps):
            some = words[:, start : start + steps]
            gates = torch.baddbmm(self.bias, some.flatten(1, 2), self.words)
            for step, given in enumerate(
                gates.view(*some.shape[:3], gates.shape[2]).unbind(1), start
            ):
                state, cell = self._step(given, state, cell)
                outputs[:, step] = state
        return outputs

    def _step(self, gates: Tensor, state: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """The state (2, B, P) and cell (2, B, S) after the next word, by its part of the gates."""
        enter, fresh, keep, leave = torch.baddbmm(gates, state, self.states).chunk(4, dim=-1)
        cell = keep.sigmoid() * cell + enter.sigmoid() * fresh.tanh()
        cell = cell.clamp_(-self._cell_clip, self._cell_clip)
        state = torch.bmm(leave.sigmoid() * cell.tanh(), self.projection)
        return state.clamp_(-self._projection_clip, self._projection_clip), cell

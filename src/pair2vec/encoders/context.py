"""Context encoder C(c): a BiLSTM over the words of a context, pooled by attention.

Shapes: N distinct words, B contexts, L context length, D dimension, H hidden size per direction.

All contexts of one call have one length, so there is no padding and no mask. W_ih·E_c is computed
once per distinct word, and since Σᵢ wᵢ W hᵢ = W Σᵢ wᵢ hᵢ, the values once per context.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from pair2vec.kernels.rows import gather_rows
from pair2vec.ranges import Size, check_ranges


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextConfig:
    """The size of C."""

    dimension: Size = 300
    hidden: Size = 100
    """Of the LSTM, in each direction."""

    def __post_init__(self) -> None:
        check_ranges(self)


class ContextEncoder(nn.Module):
    """C(c) = Σᵢ softmaxᵢ(k·hᵢ) W hᵢ, with h the states of a BiLSTM."""

    def __init__(self, config: ContextConfig) -> None:
        super().__init__()
        hidden, width = config.hidden, 4 * config.hidden
        bound = hidden**-0.5
        # Both directions side by side: forward first.
        self.input_weight = nn.Parameter(torch.empty(2 * width, config.dimension))
        self.state_weight = nn.Parameter(torch.empty(2, hidden, width))
        self.bias = nn.Parameter(torch.empty(2 * width))
        for parameter in (self.input_weight, self.state_weight, self.bias):
            nn.init.uniform_(parameter, -bound, bound)
        self.attention = nn.Linear(2 * hidden, 1, bias=False)
        self.value = nn.Linear(2 * hidden, config.dimension, bias=False)

    def word_gates(self, words: Tensor) -> Tensor:
        """W_ih·E_c + b of each word: (N, 8H).

        `words` are vectors (N, D), perhaps padded.
        """
        weight = self.input_weight
        missing = words.shape[1] - weight.shape[1]
        return functional.linear(
            words, functional.pad(weight, (0, missing)) if missing else weight, self.bias
        )

    def encode(self, word_gates: Tensor, contexts: Tensor) -> Tensor:
        """C of contexts (B, L), given as rows of `word_gates`: (B, D)."""
        encoded: Tensor = self(gather_rows(word_gates, contexts))
        return encoded

    def forward(self, gates: Tensor) -> Tensor:
        """C from the LSTM's input gates (B, L, 8H): (B, D)."""
        encoded: Tensor = self.value(self.pool(self._states(gates)))
        return encoded

    def pool(self, states: Tensor, mask: Tensor | None = None) -> Tensor:
        """Σᵢ softmaxᵢ(k·hᵢ) hᵢ of states (L, B, 2H), where `mask` (L, B, 1) is True: (B, 2H)."""
        scores: Tensor = self.attention(states)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        return (scores.softmax(dim=0) * states).sum(dim=0)

    def _states(self, gates: Tensor) -> Tensor:
        """The BiLSTM's states (L, B, 2H) from its input gates (B, L, 8H)."""
        forward, backward = gates.transpose(0, 1).chunk(2, dim=-1)
        steps = torch.stack([forward, backward.flip(0)], dim=1)
        state = cell = None
        states = []
        for step in steps:
            total = step if state is None else step + torch.bmm(state, self.state_weight)
            input_gate, forget, candidate, out = total.chunk(4, dim=-1)
            fresh = input_gate.sigmoid() * candidate.tanh()
            cell = fresh if cell is None else fresh + forget.sigmoid() * cell
            state = out.sigmoid() * cell.tanh()
            states.append(state)
        both = torch.stack(states)
        return torch.cat([both[:, 0], both[:, 1].flip(0)], dim=-1)

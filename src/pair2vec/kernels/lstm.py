"""The context encoder's BiLSTM as one operation with its own backward pass.

Left to autograd, each step of the LSTM is a dozen small operations whose results are all saved.
Here contexts are rows of W_ih·E_c + b: the gates, (L, B, 8H), are gathered where they are used and
never saved. Hidden and cell states, (L, B, 2H) each, are saved, and the backward pass recomputes
the gates from them. On a Hopper GPU a pass is one kernel; elsewhere it is plain torch, by the same
formulas.

Contexts of all lengths are one padded batch: padding is never read, and its states and gradients
are zero.

Shapes: N words, B contexts, L length of the longest, H hidden size per direction.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import Function, once_differentiable

from pair2vec.kernels.rows import MAX_LSTM_UNITS, gather_rows, has_triton, scatter_add_rows

_FREQUENT_WORDS = 64
"""Word ids are sorted by frequency: in a text, these first ones are half of all words."""


def bilstm_states(
    word_gates: Tensor, contexts: Tensor, lengths: Tensor, state_weight: Tensor
) -> Tensor:
    """The BiLSTM's states (L, B, 2H), in the precision of `word_gates`; zero for padding.

    Args:
        word_gates: (N, 8H): the input gates i, f, g, o of each word, of the forward direction and
            then of the backward one.
        contexts: (B, L): rows of `word_gates`. It is fastest when contexts are sorted by length.
        lengths: (B,)
        state_weight: W_hh, (2, H, 4H).
    """
    weight = state_weight.to(word_gates.dtype)
    states: Tensor = FusedStates.apply(  # type: ignore[no-untyped-call]
        word_gates.contiguous(), contexts.contiguous(), lengths.contiguous(), weight.contiguous()
    )
    return states


def has_kernels(word_gates: Tensor, hidden: int) -> bool:
    """Whether the Triton kernels support such gates: bfloat16, on a Hopper GPU."""
    is_supported = word_gates.dtype is torch.bfloat16 and hidden <= MAX_LSTM_UNITS
    if not has_triton(word_gates) or not is_supported:
        return False
    # Older GPUs lack the shared memory; newer ones are untested.
    return torch.cuda.get_device_capability(word_gates.device)[0] == 9


class FusedStates(Function):
    """`bilstm_states` of contiguous tensors in one precision."""

    @staticmethod
    def forward(
        ctx: Function, word_gates: Tensor, contexts: Tensor, lengths: Tensor, weight: Tensor
    ) -> Tensor:
        states, cells = _passes(word_gates, weight).forward(word_gates, contexts, lengths, weight)
        ctx.save_for_backward(word_gates, contexts, lengths, weight, states, cells)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Function, d_states: Tensor) -> tuple[Tensor, None, None, Tensor]:
        saved: tuple[Tensor, ...] = ctx.saved_tensors
        word_gates, contexts, _, weight, states, _ = saved
        d_gates = _passes(word_gates, weight).backward(*saved, d_states.contiguous())
        d_word_gates = scatter_add_rows(d_gates, contexts.T, len(word_gates), _FREQUENT_WORDS)
        return d_word_gates, None, None, _weight_gradient(states, d_gates)


class Passes(NamedTuple):
    """Forward and backward pass: the plain ones or the kernels."""

    forward: Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
    """From the words' gates, contexts, lengths and weight: hidden and cell states."""
    backward: Callable[..., Tensor]
    """From all these and the states' gradient: that of the gates before their non-linearity."""


def _passes(word_gates: Tensor, weight: Tensor) -> Passes:
    if not has_kernels(word_gates, weight.shape[1]):
        return Passes(plain_forward, plain_backward)
    # Imported here, because triton is installed only with torch for GPUs.
    from pair2vec.kernels.lstm_triton import kernel_backward, kernel_forward

    return Passes(kernel_forward, kernel_backward)


def plain_forward(
    word_gates: Tensor, contexts: Tensor, lengths: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor]:
    """Hidden and cell states, (L, B, 2H) each."""
    order = _Order.from_lengths(lengths, contexts.shape[1])
    inputs = order.by_step(gather_rows(word_gates, contexts.T))
    state = cell = inputs.new_zeros(2, len(contexts), weight.shape[1])
    states, cells = [], []
    for step, inside in zip(inputs, order.inside, strict=True):
        gates = _gates(step, state, weight)
        cell = gates.input_gate * gates.candidate + gates.forget * cell
        state = (gates.out * cell.tanh()).where(inside, 0)
        states.append(state)
        cells.append(cell)
    return order.by_position(torch.stack(states)), order.by_position(torch.stack(cells))


def plain_backward(
    word_gates: Tensor,
    contexts: Tensor,
    lengths: Tensor,
    weight: Tensor,
    states: Tensor,
    cells: Tensor,
    d_states: Tensor,
) -> Tensor:
    """The gradient of the gates before their non-linearity, (L, B, 8H)."""
    order = _Order.from_lengths(lengths, contexts.shape[1])
    inputs, d_outputs = order.by_step(gather_rows(word_gates, contexts.T)), order.by_step(d_states)
    states_before, cells_before = (_before(order.by_step(saved)) for saved in (states, cells))
    d_state = d_cell = torch.zeros_like(d_outputs[0])
    d_gates = []
    for step in reversed(range(len(inputs))):
        cell = cells_before[step]
        gates = _gates(inputs[step], states_before[step], weight)
        output = (gates.input_gate * gates.candidate + gates.forget * cell).tanh()
        d_state = d_state + d_outputs[step].where(order.inside[step], 0)
        d_cell = d_cell + d_state * gates.out * (1 - output**2)
        d_gates.append(_gate_gradients(gates, output, cell, d_state, d_cell))
        d_state = d_gates[-1] @ weight.mT
        d_cell = d_cell * gates.forget
    return order.by_position(torch.stack(d_gates[::-1]))


class _Gates(NamedTuple):
    input_gate: Tensor
    forget: Tensor
    candidate: Tensor
    out: Tensor


def _gates(step: Tensor, state: Tensor, weight: Tensor) -> _Gates:
    """The gates of a step, (2, B, H) each."""
    input_gate, forget, candidate, out = (step + state @ weight).chunk(4, dim=-1)
    return _Gates(input_gate.sigmoid(), forget.sigmoid(), candidate.tanh(), out.sigmoid())


def _gate_gradients(
    gates: _Gates, output: Tensor, cell: Tensor, d_state: Tensor, d_cell: Tensor
) -> Tensor:
    """Back through output·out, and input_gate·candidate + forget·cell: (2, B, 4H)."""
    input_gate, forget, candidate, out = gates
    return torch.cat(
        [
            d_cell * candidate * input_gate * (1 - input_gate),
            d_cell * cell * forget * (1 - forget),
            d_cell * input_gate * (1 - candidate**2),
            d_state * output * out * (1 - out),
        ],
        dim=-1,
    )


class _Order(NamedTuple):
    """The order in which each direction reads a context."""

    positions: Tensor
    """(L, 2, B, 1): the position that a step reads; for padding, the step itself."""
    inside: Tensor
    """(L, 1, B, 1): whether a step is within the context."""

    @classmethod
    def from_lengths(cls, lengths: Tensor, longest: int) -> "_Order":
        """The order for contexts of these lengths (B,), padded to `longest`."""
        steps = torch.arange(longest, device=lengths.device)[:, None].expand(-1, len(lengths))
        inside = steps < lengths
        from_end = torch.where(inside, lengths - 1 - steps, steps)
        return cls(torch.stack([steps, from_end], dim=1)[..., None], inside[:, None, :, None])

    def by_step(self, values: Tensor) -> Tensor:
        """From (L, B, 2W), by position, to (L, 2, B, W), by step of each direction."""
        both = torch.stack(values.chunk(2, dim=-1), dim=1)
        return both.gather(0, self.positions.expand_as(both))

    def by_position(self, values: Tensor) -> Tensor:
        """The inverse: to reverse twice is to reverse not at all."""
        return torch.cat(values.gather(0, self.positions.expand_as(values)).unbind(1), dim=-1)


def _before(steps: Tensor) -> Tensor:
    """The values before each step: zero before the first."""
    return torch.cat([torch.zeros_like(steps[:1]), steps[:-1]])


def _weight_gradient(states: Tensor, d_gates: Tensor) -> Tensor:
    """Σ hᵀ·(gradient of the gates that h went into), for each direction: (2, H, 4H)."""
    hidden = states.shape[-1] // 2
    # All units at once: those of the backward direction alone start at an address that is not
    # aligned as cuBLAS needs it.
    forward = states[:-1].flatten(0, 1).T @ d_gates[1:, :, : 4 * hidden].flatten(0, 1)
    backward = states[1:].flatten(0, 1).T @ d_gates[:-1, :, 4 * hidden :].flatten(0, 1)
    return torch.stack([forward[:hidden], backward[hidden:]])

"""The context encoder's BiLSTM as one operation with a gradient of its own.

Shapes: N words, B contexts, L context length, H hidden size a direction.

Left to autograd, each step of the LSTM is a dozen small operations whose results are all kept. Here
contexts are rows of W_ih·E_c + b: the gates, (L, B, 8H), are gathered where they are used and never
kept. What is kept are states and memories, (L, B, 2H) each, from which the backward pass computes
the gates again. On a Hopper GPU a pass is one kernel; elsewhere it is plain torch, by the same
formulas.
"""

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import Function, once_differentiable

from pair2vec.encoders.pair import take_rows

WIDEST = 128
"""The largest H that the kernels take."""


def bilstm_states(part: Tensor, contexts: Tensor, state_weight: Tensor) -> Tensor:
    """The BiLSTM's states (L, B, 2H), in the precision of `part`.

    Contexts (B, L) are rows of `part` (N, 8H), which has the gates i, f, g, o of the forward
    direction and then those of the backward one; `state_weight` is (2, H, 4H).
    """
    weight = state_weight.to(part.dtype)
    states: Tensor = FusedStates.apply(  # type: ignore[no-untyped-call]
        part.contiguous(), contexts.contiguous(), weight.contiguous()
    )
    return states


def has_kernels(part: Tensor, hidden: int) -> bool:
    """Whether the kernels compute the states of such a part: bfloat16, on a Hopper GPU."""
    if not part.is_cuda or part.dtype is not torch.bfloat16 or hidden > WIDEST:
        return False
    # Older GPUs lack the shared memory, and on newer ones no one has tried.
    return torch.cuda.get_device_capability(part.device)[0] == 9 and _has_triton()


class FusedStates(Function):
    """`bilstm_states` of contiguous tensors in one precision."""

    @staticmethod
    def forward(ctx: Function, part: Tensor, contexts: Tensor, weight: Tensor) -> Tensor:
        """The states."""
        states, memories = _passes(part, weight).forward(part, contexts, weight)
        ctx.save_for_backward(part, contexts, weight, states, memories)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Function, d_states: Tensor) -> tuple[Tensor, None, Tensor]:
        """The gradients of `part` and of the weight."""
        saved: tuple[Tensor, ...] = ctx.saved_tensors
        part, contexts, weight, states, _ = saved
        d_gates = _passes(part, weight).backward(*saved, d_states.contiguous())
        return _part_gradient(d_gates, contexts, len(part)), None, _weight_gradient(states, d_gates)


class Passes(NamedTuple):
    """The two halves of the work, in one of two ways."""

    forward: Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
    """From part, contexts and weight: states and memories."""
    backward: Callable[..., Tensor]
    """From all these and the states' gradient: that of the gates before their non-linearity."""


def _passes(part: Tensor, weight: Tensor) -> Passes:
    if not has_kernels(part, weight.shape[1]):
        return Passes(plain_forward, plain_backward)
    # Here, because triton is only where torch has a GPU.
    from pair2vec.encoders.fused_lstm_kernels import kernel_backward, kernel_forward

    return Passes(kernel_forward, kernel_backward)


@cache
def _has_triton() -> bool:
    return find_spec("triton") is not None


def plain_forward(part: Tensor, contexts: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """States and memories, (L, B, 2H) each."""
    inputs = _by_step(take_rows(part, contexts.T))
    state = memory = inputs.new_zeros(2, len(contexts), weight.shape[1])
    states, memories = [], []
    for step in inputs:
        gates = _gates(step, state, weight)
        memory = gates.keep_in * gates.candidate + gates.forget * memory
        state = gates.out * memory.tanh()
        states.append(state)
        memories.append(memory)
    return _by_place(torch.stack(states)), _by_place(torch.stack(memories))


def plain_backward(
    part: Tensor,
    contexts: Tensor,
    weight: Tensor,
    states: Tensor,
    memories: Tensor,
    d_states: Tensor,
) -> Tensor:
    """The gradient of the gates before their non-linearity, (L, B, 8H)."""
    inputs, d_outputs = _by_step(take_rows(part, contexts.T)), _by_step(d_states)
    states_before, memories_before = (_before(_by_step(kept)) for kept in (states, memories))
    d_state = d_memory = torch.zeros_like(d_outputs[0])
    d_gates = []
    for step in reversed(range(len(inputs))):
        memory = memories_before[step]
        gates = _gates(inputs[step], states_before[step], weight)
        shown = (gates.keep_in * gates.candidate + gates.forget * memory).tanh()
        d_state = d_state + d_outputs[step]
        d_memory = d_memory + d_state * gates.out * (1 - shown**2)
        d_gates.append(_gate_gradients(gates, shown, memory, d_state, d_memory))
        d_state = d_gates[-1] @ weight.mT
        d_memory = d_memory * gates.forget
    return _by_place(torch.stack(d_gates[::-1]))


class _Gates(NamedTuple):
    keep_in: Tensor
    forget: Tensor
    candidate: Tensor
    out: Tensor


def _gates(step: Tensor, state: Tensor, weight: Tensor) -> _Gates:
    """The gates of a step, (2, B, H) each."""
    keep_in, forget, candidate, out = (step + state @ weight).chunk(4, dim=-1)
    return _Gates(keep_in.sigmoid(), forget.sigmoid(), candidate.tanh(), out.sigmoid())


def _gate_gradients(
    gates: _Gates, shown: Tensor, memory: Tensor, d_state: Tensor, d_memory: Tensor
) -> Tensor:
    """Back through shown·out, and keep_in·candidate + forget·memory: (2, B, 4H)."""
    keep_in, forget, candidate, out = gates
    return torch.cat(
        [
            d_memory * candidate * keep_in * (1 - keep_in),
            d_memory * memory * forget * (1 - forget),
            d_memory * keep_in * (1 - candidate**2),
            d_state * shown * out * (1 - out),
        ],
        dim=-1,
    )


def _by_step(places: Tensor) -> Tensor:
    """From (L, B, 2W), as the words stand, to (L, 2, B, W), as each direction reads them."""
    forward, backward = places.chunk(2, dim=-1)
    return torch.stack([forward, backward.flip(0)], dim=1)


def _by_place(steps: Tensor) -> Tensor:
    """The way back."""
    return torch.cat([steps[:, 0], steps[:, 1].flip(0)], dim=-1)


def _before(steps: Tensor) -> Tensor:
    """What each step found: nothing the first."""
    return torch.cat([torch.zeros_like(steps[:1]), steps[:-1]])


def _part_gradient(d_gates: Tensor, contexts: Tensor, words: int) -> Tensor:
    """The gates' gradient added up by word, in float32 on a GPU: (N, 8H)."""
    summed: Tensor = torch.ops.aten.embedding_dense_backward(d_gates, contexts.T, words, -1, False)
    return summed


def _weight_gradient(states: Tensor, d_gates: Tensor) -> Tensor:
    """Σ hᵀ·(gradient of the gates that h went into), for each direction: (2, H, 4H)."""
    hidden = states.shape[-1] // 2
    # All units at once: those of the backward direction alone begin at an address that cuBLAS
    # cannot read in place.
    forward = states[:-1].flatten(0, 1).T @ d_gates[1:, :, : 4 * hidden].flatten(0, 1)
    backward = states[1:].flatten(0, 1).T @ d_gates[:-1, :, 4 * hidden :].flatten(0, 1)
    return torch.stack([forward[:hidden], backward[hidden:]])

# mypy: disable-error-code="untyped-decorator, no-any-return"
"""Triton kernels of the fused BiLSTM: all steps of a context in one launch, forward and backward.

Shapes: N words, B contexts, L length of the longest, H hidden size per direction. A tile is
(`width`, `block`): one gate, hidden or cell state of so many units and contexts. H units are padded
to `width` by masks; the states and gradients of a padded unit are zero.

A program has one direction of `block` contexts. It reads W_hh once, before the steps, so that the
compiler keeps it in shared memory: 128 KB, which leaves room for one program per multiprocessor.
Units come first in a tile because then both products, W_hhᵀ·h and W_hh·(gradient of the gates),
have the weight on the left and one register layout; with contexts first they have two, and the
backward kernel needs far more registers than there are.
"""

import torch
import triton  # type: ignore[import-not-found]
import triton.language as tl  # type: ignore[import-not-found]
from torch import Tensor

from pair2vec.kernels.rows import MAX_LSTM_UNITS

FORWARD_BLOCK, BACKWARD_BLOCK = 64, 64
"""Contexts per program. With fewer, Triton 3.6 compiles a backward kernel of illegal accesses."""
WARPS = 8
"""Two groups of four, each with half of the units of a product."""


def kernel_forward(
    word_gates: Tensor, contexts: Tensor, lengths: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor]:
    """Hidden and cell states, (L, B, 2H) each."""
    (count, length), hidden = contexts.shape, weight.shape[1]
    states = word_gates.new_empty(length, count, 2 * hidden)
    cells = torch.empty_like(states)
    _launch(_forward_kernel, FORWARD_BLOCK, word_gates, contexts, lengths, weight, states, cells)
    return states, cells


def kernel_backward(*tensors: Tensor) -> Tensor:
    """What `plain_backward` computes from the same arguments."""
    word_gates, contexts, _, weight, *_ = tensors
    (count, length), hidden = contexts.shape, weight.shape[1]
    d_gates = word_gates.new_empty(length, count, 8 * hidden)
    _launch(_backward_kernel, BACKWARD_BLOCK, *tensors, d_gates)
    return d_gates


def _launch(
    kernel: triton.JITFunction,
    block: int,
    word_gates: Tensor,
    contexts: Tensor,
    lengths: Tensor,
    weight: Tensor,
    *others: Tensor,
) -> None:
    """Run a kernel for all contexts and both directions, on the device of its tensors."""
    (count, length), hidden = contexts.shape, weight.shape[1]
    with torch.cuda.device_of(word_gates):  # type: ignore[no-untyped-call]
        kernel[triton.cdiv(count, block), 2](
            *(word_gates, contexts, lengths, weight, *others, count, length),
            hidden=hidden,
            width=MAX_LSTM_UNITS,
            block=block,
            num_warps=WARPS,
            num_stages=1,
        )


# Not specialised: batches differ in their number of contexts, which must not recompile.
@triton.jit(do_not_specialize=["count", "longest"])
def _forward_kernel(  # noqa: PLR0913, PLR0917 - a kernel takes no records
    word_gates: tl.tensor,
    contexts: tl.tensor,
    lengths: tl.tensor,
    weight: tl.tensor,
    states: tl.tensor,
    cells: tl.tensor,
    count: int,
    longest: int,
    hidden: tl.constexpr,
    width: tl.constexpr,
    block: tl.constexpr,
) -> None:
    direction = tl.program_id(1)
    # 64 bits: a large batch has more than 2³¹ gates.
    context = (tl.program_id(0) * block + tl.arange(0, block)).to(tl.int64)
    unit = tl.arange(0, width)
    inside = (unit < hidden)[:, None] & (context < count)[None, :]
    length = tl.load(lengths + context, mask=context < count, other=0).to(tl.int32)
    steps = tl.max(length)
    w_in, w_forget, w_candidate, w_out = _gate_weights(weight, direction, hidden, width)
    state = tl.zeros((width, block), tl.bfloat16)
    cell = tl.zeros((width, block), tl.float32)
    for step in range(steps):
        position, is_read = _position(step, length, direction), step < length
        word = tl.load(contexts + context * longest + position, mask=is_read, other=0)
        row = _tile(word, direction, unit, 4 * hidden)
        x_in, x_forget, x_candidate, x_out = _four_gates(
            word_gates + row, inside & is_read[None, :], hidden
        )
        input_gate = tl.sigmoid(_total(x_in, w_in, state))
        candidate = _tanh(_total(x_candidate, w_candidate, state))
        forget = tl.sigmoid(_total(x_forget, w_forget, state))
        out = tl.sigmoid(_total(x_out, w_out, state))
        cell = tl.where(is_read[None, :], input_gate * candidate + forget * cell, 0.0)
        state = (out * _tanh(cell)).to(tl.bfloat16)
        here = _tile(position * count + context, direction, unit, hidden)
        tl.store(states + here, state, mask=inside)
        # Only the backward pass reads it, together with a state that is rounded as well.
        tl.store(cells + here, cell.to(tl.bfloat16), mask=inside)
    for position in range(steps, longest):
        here = _tile(position * count + context, direction, unit, hidden)
        tl.store(states + here, tl.zeros((width, block), tl.bfloat16), mask=inside)


@triton.jit(do_not_specialize=["count", "longest"])
def _backward_kernel(  # noqa: PLR0913, PLR0917 - a kernel takes no records
    word_gates: tl.tensor,
    contexts: tl.tensor,
    lengths: tl.tensor,
    weight: tl.tensor,
    states: tl.tensor,
    cells: tl.tensor,
    d_states: tl.tensor,
    d_gates: tl.tensor,
    count: int,
    longest: int,
    hidden: tl.constexpr,
    width: tl.constexpr,
    block: tl.constexpr,
) -> None:
    direction = tl.program_id(1)
    context = (tl.program_id(0) * block + tl.arange(0, block)).to(tl.int64)
    unit = tl.arange(0, width)
    inside = (unit < hidden)[:, None] & (context < count)[None, :]
    length = tl.load(lengths + context, mask=context < count, other=0).to(tl.int32)
    steps = tl.max(length)
    w_in, w_forget, w_candidate, w_out = _gate_weights(weight, direction, hidden, width)
    d_state = tl.zeros((width, block), tl.float32)
    d_cell = tl.zeros((width, block), tl.float32)
    for done in range(steps):
        step = steps - 1 - done
        position, is_read = _position(step, length, direction), step < length
        here = position * count + context
        # The first step loads nothing, but its address must be within the tensor all the same.
        position_before = _position(tl.maximum(step - 1, 0), length, direction)
        before = _tile(position_before * count + context, direction, unit, hidden)
        is_inside = inside & is_read[None, :]
        has_before = is_inside & (step > 0)
        # All loads together, so that the step waits for memory once.
        word = tl.load(contexts + context * longest + position, mask=is_read, other=0)
        row = _tile(word, direction, unit, 4 * hidden)
        x_in, x_forget, x_candidate, x_out = _four_gates(word_gates + row, is_inside, hidden)
        above = d_states + _tile(here, direction, unit, hidden)
        d_above = tl.load(above, mask=is_inside, other=0.0)
        cell = tl.load(cells + before, mask=has_before, other=0.0)
        state = tl.load(states + before, mask=has_before, other=0.0)
        # The gates of the forward pass, recomputed.
        input_gate = tl.sigmoid(_total(x_in, w_in, state))
        candidate = _tanh(_total(x_candidate, w_candidate, state))
        forget = tl.sigmoid(_total(x_forget, w_forget, state))
        out = tl.sigmoid(_total(x_out, w_out, state))
        output = _tanh(input_gate * candidate + forget * cell)
        d_state += d_above
        d_cell += d_state * out * (1 - output * output)
        d_out = (d_state * output * out * (1 - out)).to(tl.bfloat16)
        d_in = (d_cell * candidate * input_gate * (1 - input_gate)).to(tl.bfloat16)
        d_candidate = (d_cell * input_gate * (1 - candidate * candidate)).to(tl.bfloat16)
        d_forget = (d_cell * cell * forget * (1 - forget)).to(tl.bfloat16)
        to = d_gates + _tile(here, direction, unit, 4 * hidden)
        tl.store(to, d_in, mask=inside)
        tl.store(to + hidden, d_forget, mask=inside)
        tl.store(to + 2 * hidden, d_candidate, mask=inside)
        tl.store(to + 3 * hidden, d_out, mask=inside)
        d_state = tl.dot(w_in, d_in)
        d_state = tl.dot(w_forget, d_forget, d_state)
        d_state = tl.dot(w_candidate, d_candidate, d_state)
        d_state = tl.dot(w_out, d_out, d_state)
        d_cell *= forget
    for position in range(steps, longest):
        nothing = tl.zeros((width, block), tl.bfloat16)
        to = d_gates + _tile(position * count + context, direction, unit, 4 * hidden)
        tl.store(to, nothing, mask=inside)
        tl.store(to + hidden, nothing, mask=inside)
        tl.store(to + 2 * hidden, nothing, mask=inside)
        tl.store(to + 3 * hidden, nothing, mask=inside)


@triton.jit
def _position(step: tl.tensor, length: tl.tensor, direction: tl.tensor) -> tl.tensor:
    """The position in the context that a step reads: the second direction reads from the end.

    A step beyond the end is at the position of its number, where it writes zeros.
    """
    return tl.where(step < length, step + direction * (length - 1 - 2 * step), step)


@triton.jit
def _tile(row: tl.tensor, direction: tl.tensor, unit: tl.tensor, size: tl.constexpr) -> tl.tensor:
    """Offsets of a tile in a table whose rows hold `size` numbers per direction."""
    return row.to(tl.int64)[None, :] * (2 * size) + direction * size + unit[:, None]


@triton.jit
def _gate_weights(
    weight: tl.tensor, direction: tl.tensor, hidden: tl.constexpr, width: tl.constexpr
) -> tuple[tl.tensor, tl.tensor, tl.tensor, tl.tensor]:
    """W_hh of each gate, from the state's unit to the gate's."""
    source, target = tl.arange(0, width)[:, None], tl.arange(0, width)[None, :]
    first = weight + (direction * hidden + source) * (4 * hidden) + target
    inside = (source < hidden) & (target < hidden)
    return _four_gates(first, inside, hidden)


@triton.jit
def _four_gates(
    first: tl.tensor, inside: tl.tensor, hidden: tl.constexpr
) -> tuple[tl.tensor, tl.tensor, tl.tensor, tl.tensor]:
    """The four adjacent tiles of a row: i, f, g, o."""
    input_gate = tl.load(first, mask=inside, other=0.0)
    forget = tl.load(first + hidden, mask=inside, other=0.0)
    candidate = tl.load(first + 2 * hidden, mask=inside, other=0.0)
    out = tl.load(first + 3 * hidden, mask=inside, other=0.0)
    return input_gate, forget, candidate, out


@triton.jit
def _total(word_gate: tl.tensor, weight: tl.tensor, state: tl.tensor) -> tl.tensor:
    """A gate before its non-linearity: the word's part and the state's."""
    return word_gate.to(tl.float32) + tl.dot(tl.trans(weight), state)


@triton.jit
def _tanh(x: tl.tensor) -> tl.tensor:
    return 2 * tl.sigmoid(2 * x) - 1

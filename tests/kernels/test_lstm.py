"""The plain version of the fused BiLSTM's gradient against autograd's of the encoder.

The kernels are compared with it on a GPU: `benchmarks/lstm_kernels.py`.
"""

import pytest
import torch
from torch import Tensor

from pair2vec.encoders.context import ContextConfig, ContextEncoder
from pair2vec.kernels.lstm import bilstm_states, has_kernels
from pair2vec.kernels.rows import gather_rows

WORDS, LONGEST = 11, 8
TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5}

each_length = pytest.mark.parametrize("length", range(4, LONGEST + 1))
sizes = pytest.mark.parametrize("hidden", [3, 100])
counts = pytest.mark.parametrize("count", [1, 70])
dtypes = pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
orders = pytest.mark.parametrize("order", ["sorted", "shuffled"])


def make(hidden: int, dtype: torch.dtype = torch.float64) -> ContextEncoder:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(hidden)
        return ContextEncoder(ContextConfig(dimension=5, hidden=hidden)).to(dtype)


def random(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    generator = torch.Generator().manual_seed(shape[0])
    return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)


def contexts_of(count: int, length: int) -> Tensor:
    """So few words that most of them repeat, within a context too."""
    return torch.randint(WORDS, (count, length), generator=torch.Generator().manual_seed(length))


def equal_lengths(contexts: Tensor) -> Tensor:
    """The lengths of contexts without padding."""
    return torch.full((len(contexts),), contexts.shape[1])


def mixed_lengths(count: int, order: str) -> Tensor:
    """As many contexts of each length from 4 on, or nearly so."""
    lengths = (torch.arange(count) % 5 + 4).sort().values
    generator = torch.Generator().manual_seed(count)
    return lengths[torch.randperm(count, generator=generator)] if order == "shuffled" else lengths


def is_padding(lengths: Tensor) -> Tensor:
    """The mask of padding: (L, B)."""
    return torch.arange(LONGEST)[:, None] >= lengths


def plain_states(
    word_gates: Tensor, contexts: Tensor, lengths: Tensor, encoder: ContextEncoder
) -> Tensor:
    """The encoder's states of each length's contexts alone, and zeros for padding."""
    states = word_gates.new_zeros(*contexts.T.shape, 2 * encoder.state_weight.shape[1])
    for length in set(lengths.tolist()):
        rows = (lengths == length).nonzero().flatten()
        states[:length, rows] = encoder._states(gather_rows(word_gates, contexts[rows, :length]))
    return states


def assert_same_gradients(
    encoder: ContextEncoder, contexts: Tensor, lengths: Tensor, tolerance: float
) -> None:
    weight = encoder.state_weight
    word_gates = random(WORDS, 8 * weight.shape[1], dtype=weight.dtype).requires_grad_()
    d_states = random(*contexts.T.shape, 2 * weight.shape[1], dtype=weight.dtype)
    states = bilstm_states(word_gates, contexts, lengths, weight)
    actual = torch.autograd.grad(states, [word_gates, weight], d_states)
    plain = plain_states(word_gates, contexts, lengths, encoder)
    expected = torch.autograd.grad(plain, [word_gates, weight], d_states)
    for gradient, other in zip(actual, expected, strict=True):
        torch.testing.assert_close(gradient, other, rtol=tolerance, atol=tolerance)


@dtypes
@counts
@sizes
@each_length
def test_states_are_those_of_the_context_encoder(
    length: int, hidden: int, count: int, dtype: torch.dtype
) -> None:
    encoder, contexts = make(hidden, dtype), contexts_of(count, length)
    word_gates = random(WORDS, 8 * hidden, dtype=dtype)
    actual = bilstm_states(word_gates, contexts, equal_lengths(contexts), encoder.state_weight)
    expected = encoder._states(gather_rows(word_gates, contexts))
    assert actual.shape == (length, count, 2 * hidden)
    torch.testing.assert_close(actual, expected, rtol=0, atol=TOLERANCE[dtype])


@dtypes
@counts
@sizes
@each_length
def test_gradients_are_those_of_the_context_encoder(
    length: int, hidden: int, count: int, dtype: torch.dtype
) -> None:
    encoder, contexts = make(hidden, dtype), contexts_of(count, length)
    assert_same_gradients(encoder, contexts, equal_lengths(contexts), TOLERANCE[dtype])


@dtypes
@orders
@sizes
def test_states_of_mixed_lengths_are_those_of_each_length_alone(
    hidden: int, order: str, dtype: torch.dtype
) -> None:
    encoder, contexts = make(hidden, dtype), contexts_of(70, LONGEST)
    word_gates, lengths = random(WORDS, 8 * hidden, dtype=dtype), mixed_lengths(70, order)
    actual = bilstm_states(word_gates, contexts, lengths, encoder.state_weight)
    expected = plain_states(word_gates, contexts, lengths, encoder)
    torch.testing.assert_close(actual, expected, rtol=0, atol=TOLERANCE[dtype])
    assert not actual[is_padding(lengths)].any()


@dtypes
@orders
@sizes
def test_gradients_of_mixed_lengths_are_those_of_each_length_alone(
    hidden: int, order: str, dtype: torch.dtype
) -> None:
    """Whatever gradient the zeros of padding are given."""
    contexts, lengths = contexts_of(70, LONGEST), mixed_lengths(70, order)
    assert_same_gradients(make(hidden, dtype), contexts, lengths, TOLERANCE[dtype])


@orders
def test_padding_neither_changes_a_state_nor_gets_a_gradient(order: str) -> None:
    encoder, lengths = make(3), mixed_lengths(23, order)
    word_gates = random(WORDS + 2, 8 * 3).requires_grad_()
    some = contexts_of(23, LONGEST)
    others = torch.where(is_padding(lengths).T, WORDS + some % 2, some)
    assert bool((others >= WORDS).any())
    some_states, other_states = (
        bilstm_states(word_gates, contexts, lengths, encoder.state_weight)
        for contexts in (some, others)
    )
    assert torch.equal(some_states, other_states)
    weights = random(*some_states.shape)
    (d_word_gates,) = torch.autograd.grad((other_states * weights).sum(), word_gates)
    assert not d_word_gates[WORDS:].any()
    assert bool((d_word_gates[:WORDS] != 0).all())


def test_a_word_at_all_positions_gets_the_sum_of_their_gradients() -> None:
    contexts = torch.full((7, 5), 4)
    assert_same_gradients(make(3), contexts, equal_lengths(contexts), 1e-12)


@pytest.mark.parametrize("lengths", [[5, 5, 5], [4, 2, 5]], ids=["one length", "mixed lengths"])
def test_the_gradient_is_the_slope_of_the_states(lengths: list[int]) -> None:
    word_gates = random(4, 8 * 2).requires_grad_()
    weight = random(2, 2, 4 * 2).requires_grad_()
    contexts = torch.tensor([[0, 1, 2, 1, 0], [3, 3, 0, 2, 1], [2, 1, 1, 0, 3]])
    assert torch.autograd.gradcheck(
        lambda gates, weight: bilstm_states(gates, contexts, torch.tensor(lengths), weight),
        (word_gates, weight),
    )


@pytest.mark.parametrize("integers", [torch.int32, torch.int64], ids=str)
def test_tensors_need_not_be_contiguous_nor_ids_long(integers: torch.dtype) -> None:
    encoder, contexts, lengths = make(3), contexts_of(9, LONGEST), mixed_lengths(9, "shuffled")
    word_gates = random(WORDS, 8 * 3).requires_grad_()
    actual = bilstm_states(
        word_gates.T.contiguous().T,
        contexts.T.contiguous().T.to(integers),
        lengths.repeat_interleave(2)[::2].to(integers),
        encoder.state_weight,
    )
    expected = plain_states(word_gates, contexts, lengths, encoder)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-12)
    # The gradient of a sum comes as a view of one number.
    actual_gradients, expected_gradients = (
        torch.autograd.grad(states.sum(), word_gates)[0] for states in (actual, expected)
    )
    torch.testing.assert_close(actual_gradients, expected_gradients, rtol=0, atol=1e-12)


def test_states_have_the_precision_of_the_word_gates_and_gradients_that_of_their_tensor() -> None:
    encoder, contexts = make(100, torch.float32), contexts_of(70, LONGEST)
    lengths = mixed_lengths(70, "sorted")
    word_gates = random(WORDS, 800, dtype=torch.bfloat16).requires_grad_()
    states = bilstm_states(word_gates, contexts, lengths, encoder.state_weight)
    d_word_gates, d_weight = torch.autograd.grad(states.sum(), [word_gates, encoder.state_weight])
    assert states.dtype == d_word_gates.dtype == torch.bfloat16
    assert d_weight.dtype == torch.float32
    expected = plain_states(word_gates.detach().float(), contexts, lengths, encoder)
    torch.testing.assert_close(states.float(), expected, rtol=0, atol=0.03)


def test_without_a_gpu_there_are_no_kernels() -> None:
    assert not has_kernels(torch.zeros(1, 800, dtype=torch.bfloat16), 100)

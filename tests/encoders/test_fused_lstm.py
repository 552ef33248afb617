"""The fused BiLSTM's own gradient, as plain torch computes it, against autograd's of the encoder.

That the kernels equal it is for a GPU to say: `benchmarks/fused_lstm.py`.
"""

import pytest
import torch
from torch import Tensor

from pair2vec.encoders.context import ContextConfig, ContextEncoder
from pair2vec.encoders.fused_lstm import bilstm_states, has_kernels
from pair2vec.encoders.pair import take_rows

WORDS = 11
TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5}

lengths = pytest.mark.parametrize("length", range(4, 9))
sizes = pytest.mark.parametrize("hidden", [3, 100])
counts = pytest.mark.parametrize("count", [1, 70])
dtypes = pytest.mark.parametrize("dtype", TOLERANCE, ids=str)


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


def plain_states(part: Tensor, contexts: Tensor, encoder: ContextEncoder) -> Tensor:
    return encoder._states(take_rows(part, contexts))


def assert_same_gradients(encoder: ContextEncoder, contexts: Tensor, tolerance: float) -> None:
    weight = encoder.state_weight
    part = random(WORDS, 8 * weight.shape[1], dtype=weight.dtype).requires_grad_()
    d_states = random(*contexts.T.shape, 2 * weight.shape[1], dtype=weight.dtype)
    found = torch.autograd.grad(bilstm_states(part, contexts, weight), [part, weight], d_states)
    plain = plain_states(part, contexts, encoder)
    expected = torch.autograd.grad(plain, [part, weight], d_states)
    for gradient, other in zip(found, expected, strict=True):
        torch.testing.assert_close(gradient, other, rtol=tolerance, atol=tolerance)


@dtypes
@counts
@sizes
@lengths
def test_states_are_those_of_the_context_encoder(
    length: int, hidden: int, count: int, dtype: torch.dtype
) -> None:
    encoder, contexts = make(hidden, dtype), contexts_of(count, length)
    part = random(WORDS, 8 * hidden, dtype=dtype)
    found = bilstm_states(part, contexts, encoder.state_weight)
    expected = plain_states(part, contexts, encoder)
    assert found.shape == (length, count, 2 * hidden)
    torch.testing.assert_close(found, expected, rtol=0, atol=TOLERANCE[dtype])


@dtypes
@counts
@sizes
@lengths
def test_gradients_are_those_of_the_context_encoder(
    length: int, hidden: int, count: int, dtype: torch.dtype
) -> None:
    assert_same_gradients(make(hidden, dtype), contexts_of(count, length), TOLERANCE[dtype])


def test_a_word_that_stands_everywhere_gets_the_gradients_of_all_its_places() -> None:
    assert_same_gradients(make(3), torch.full((7, 5), 4), 1e-12)


def test_the_gradient_is_the_slope_of_the_states() -> None:
    part = random(4, 8 * 2).requires_grad_()
    weight = random(2, 2, 4 * 2).requires_grad_()
    contexts = torch.tensor([[0, 1, 2, 1], [3, 3, 0, 2]])
    assert torch.autograd.gradcheck(
        lambda *of: bilstm_states(of[0], contexts, of[1]), (part, weight)
    )


@pytest.mark.parametrize("integers", [torch.int32, torch.int64], ids=str)
def test_tensors_need_not_be_contiguous_nor_ids_long(integers: torch.dtype) -> None:
    encoder, contexts = make(3), contexts_of(9, 6)
    part = random(WORDS, 8 * 3).requires_grad_()
    found = bilstm_states(
        part.T.contiguous().T, contexts.T.contiguous().T.to(integers), encoder.state_weight
    )
    expected = plain_states(part, contexts, encoder)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
    # The gradient of a sum comes as a view of one number.
    of_found, of_expected = (
        torch.autograd.grad(states.sum(), part)[0] for states in (found, expected)
    )
    torch.testing.assert_close(of_found, of_expected, rtol=0, atol=1e-12)


def test_states_have_the_precision_of_the_part_and_gradients_that_of_their_tensor() -> None:
    encoder, contexts = make(100, torch.float32), contexts_of(70, 6)
    part = random(WORDS, 800, dtype=torch.bfloat16).requires_grad_()
    states = bilstm_states(part, contexts, encoder.state_weight)
    d_part, d_weight = torch.autograd.grad(states.sum(), [part, encoder.state_weight])
    assert states.dtype == d_part.dtype == torch.bfloat16
    assert d_weight.dtype == torch.float32
    expected = plain_states(part.detach().float(), contexts, encoder)
    torch.testing.assert_close(states.float(), expected, rtol=0, atol=0.03)


def test_without_a_gpu_there_are_no_kernels() -> None:
    assert not has_kernels(torch.zeros(1, 800, dtype=torch.bfloat16), 100)

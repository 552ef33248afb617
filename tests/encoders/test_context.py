"""The context encoder against torch's own LSTM and attention written plainly."""

from typing import NamedTuple

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from pair2vec.encoders.context import ContextConfig, ContextEncoder

WORDS, SIZE, HIDDEN, CONTEXTS = 11, 6, 5, 7


class Plain(NamedTuple):
    """The same encoder out of torch's parts."""

    lstm: nn.LSTM
    attention: Tensor
    value: Tensor

    def encode(self, words: Tensor, contexts: Tensor) -> Tensor:
        states, _ = self.lstm(words[contexts])
        encoded = []
        for context_states in states:
            scores = torch.stack([state @ self.attention for state in context_states])
            weights = scores.exp() / scores.exp().sum()
            values = torch.stack([self.value @ state for state in context_states])
            encoded.append((weights[:, None] * values).sum(dim=0))
        return torch.stack(encoded)


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def make() -> ContextEncoder:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return ContextEncoder(ContextConfig(dimension=SIZE, hidden=HIDDEN))


def contexts_of(length: int) -> Tensor:
    generator = torch.Generator().manual_seed(length)
    return torch.randint(WORDS, (CONTEXTS, length), generator=generator)


def plain_copy(encoder: ContextEncoder) -> Plain:
    """torch orders the gates i, f, g, o as well, but has a second bias, which is left at zero."""
    lstm = nn.LSTM(SIZE, HIDDEN, bidirectional=True, batch_first=True)
    inputs, biases = encoder.input_weight.chunk(2), encoder.bias.chunk(2)
    with torch.no_grad():
        for direction, suffix in enumerate(["l0", "l0_reverse"]):
            getattr(lstm, f"weight_ih_{suffix}").copy_(inputs[direction])
            getattr(lstm, f"weight_hh_{suffix}").copy_(encoder.state_weight[direction].T)
            getattr(lstm, f"bias_ih_{suffix}").copy_(biases[direction])
            getattr(lstm, f"bias_hh_{suffix}").zero_()
    attention, value = encoder.attention.weight[0], encoder.value.weight
    return Plain(
        lstm, attention.detach().clone().requires_grad_(), value.detach().clone().requires_grad_()
    )


@pytest.mark.parametrize("length", range(4, 9))
def test_contexts_are_encoded_as_by_an_lstm_with_attention(length: int) -> None:
    encoder, words, contexts = make(), random(WORDS, SIZE), contexts_of(length)
    actual = encoder.encode(encoder.word_gates(words), contexts)
    expected = plain_copy(encoder).encode(words, contexts)
    assert actual.shape == (CONTEXTS, SIZE)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("length", range(4, 9))
def test_gradients_are_those_of_an_lstm_with_attention(length: int) -> None:
    encoder, contexts = make(), contexts_of(length)
    plain = plain_copy(encoder)
    weights = random(CONTEXTS, SIZE, seed=2)

    words = random(WORDS, SIZE).requires_grad_()
    loss = (encoder.encode(encoder.word_gates(words), contexts) * weights).sum()
    actual = torch.autograd.grad(loss, [words, *encoder.parameters()])

    plain_words = random(WORDS, SIZE).requires_grad_()
    leaves = [plain_words, plain.attention, plain.value, *plain.lstm.parameters()]
    expected_loss = (plain.encode(plain_words, contexts) * weights).sum()
    d_words, attention, value, *d_lstm = torch.autograd.grad(expected_loss, leaves)
    names = [name for name, _ in plain.lstm.named_parameters()]
    lstm = dict(zip(names, d_lstm, strict=True))

    def both(name: str) -> list[Tensor]:
        return [lstm[f"{name}_l0"], lstm[f"{name}_l0_reverse"]]

    expected = {
        "words": d_words,
        "input_weight": torch.cat(both("weight_ih")),
        "state_weight": torch.stack([weight.T for weight in both("weight_hh")]),
        "bias": torch.cat(both("bias_ih")),
        "attention.weight": attention[None],
        "value.weight": value,
    }
    names = ["words", *(name for name, _ in encoder.named_parameters())]
    assert names == list(expected)
    for name, gradient in zip(names, actual, strict=True):
        torch.testing.assert_close(gradient, expected[name], rtol=0, atol=1e-5)


def test_a_context_does_not_depend_on_the_others_of_the_call() -> None:
    encoder, words, contexts = make(), random(WORDS, SIZE), contexts_of(5)
    word_gates = encoder.word_gates(words)
    together = encoder.encode(word_gates, contexts)
    for row in range(CONTEXTS):
        alone = encoder.encode(word_gates, contexts[row : row + 1])
        torch.testing.assert_close(alone[0], together[row], rtol=0, atol=1e-6)


@torch.no_grad()
def test_the_order_of_its_words_matters_to_a_context() -> None:
    encoder, words = make(), random(WORDS, SIZE)
    contexts = torch.tensor([[0, 1, 2, 3], [0, 2, 1, 3], [3, 2, 1, 0]])
    first, second, third = encoder.encode(encoder.word_gates(words), contexts)
    assert float((first - second).abs().max()) > 1e-3
    assert float((first - third).abs().max()) > 1e-3


@pytest.mark.parametrize("width", [SIZE, SIZE + 1, 2 * SIZE])
def test_padded_vectors_give_the_same_word_gates_and_gradients(width: int) -> None:
    encoder, words = make(), random(WORDS, SIZE).requires_grad_()
    wide = functional.pad(words, (0, width - SIZE))
    actual, expected = (encoder.word_gates(vectors) for vectors in (wide, words))
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-6)
    weights, leaves = random(*expected.shape, seed=2), [words, encoder.input_weight, encoder.bias]
    actual_gradients, expected_gradients = (
        torch.autograd.grad((gates * weights).sum(), leaves) for gates in (actual, expected)
    )
    for gradient, narrow in zip(actual_gradients, expected_gradients, strict=True):
        torch.testing.assert_close(gradient, narrow, rtol=0, atol=1e-5)


def test_pooling_takes_only_the_states_of_the_mask() -> None:
    encoder, lengths = make(), [4, 8, 5, 5, 7]
    states = random(8, len(lengths), 2 * HIDDEN).requires_grad_()
    inside = torch.arange(8)[:, None] < torch.tensor(lengths)
    actual = encoder.pool(states, inside[..., None])
    expected = torch.cat(
        [encoder.pool(states[:length, [row]]) for row, length in enumerate(lengths)]
    )
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-6)

    weights, leaves = random(*expected.shape, seed=2), [states, encoder.attention.weight]
    actual_gradients, expected_gradients = (
        torch.autograd.grad((pooled * weights).sum(), leaves) for pooled in (actual, expected)
    )
    for gradient, alone in zip(actual_gradients, expected_gradients, strict=True):
        torch.testing.assert_close(gradient, alone, rtol=0, atol=1e-5)
    assert not actual_gradients[0][~inside].any()

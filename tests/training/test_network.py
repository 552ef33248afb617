"""The network, which computes once per distinct word, against one that looks up every word."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from pair2vec.encoders.context import ContextConfig
from pair2vec.encoders.pair import MlpPair, PairConfig
from pair2vec.training.network import Network, TrainingBatch

WORDS, SIZE, HIDDEN = 12, 5, 3
LENGTHS = {4: 3, 5: 0, 6: 2, 7: 1, 8: 2}
"""How many contexts there are of each length; of one there are none."""
TRIPLES = sum(LENGTHS.values())


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def make_network(layers: int = 3) -> Network:
    """In double precision, so that only a wrong formula can differ."""
    network = Network(
        WORDS,
        PairConfig(dimension=SIZE, layers=layers),
        ContextConfig(dimension=SIZE, hidden=HIDDEN),
        generator(0),
    ).double()
    for seed, words in enumerate((network.pair_words, network.context_words)):
        words.copy_(torch.randn(WORDS, SIZE, generator=generator(seed)))
    return network


def make_batch(k_c: int, words: int) -> TrainingBatch:
    """Ids below ten only, so that two rows of the tables stay untouched."""
    draw = generator(5)

    def ids(*shape: int) -> Tensor:
        return torch.randint(10, shape, generator=draw)

    contexts = tuple(ids(count, length) for length, count in LENGTHS.items())
    shuffles = [torch.randperm(TRIPLES, generator=draw) for _ in range(k_c)]
    return TrainingBatch(
        ids(TRIPLES),
        ids(TRIPLES),
        contexts,
        ids(TRIPLES, words),
        ids(TRIPLES, words),
        torch.stack(shuffles, dim=1),
    )


class PlainModel:
    """The model a triple at a time, with a table for each kind of word."""

    def __init__(self, network: Network) -> None:
        self.pair_words = nn.Embedding(WORDS, SIZE, _weight=network.pair_words.clone())
        self.context_words = nn.Embedding(WORDS, SIZE, _weight=network.context_words.clone())
        self._network = network

    def pair(self, x: Tensor, y: Tensor) -> Tensor:
        encoder = self._network.pair
        assert isinstance(encoder, MlpPair)
        first, second = (functional.normalize(self.pair_words(word), dim=0) for word in (x, y))
        hidden: Tensor = encoder.first(torch.cat([first, second, first * second]))
        for layer in encoder.others:
            hidden = layer(hidden.relu())
        return hidden

    def context(self, context: Tensor) -> Tensor:
        words = self.context_words(context)
        forward = self._states(words, 0)
        backward = self._states(words.flip(0), 1).flip(0)
        states = torch.cat([forward, backward], dim=1)
        weights = (states @ self._network.context.attention.weight[0]).softmax(dim=0)
        values = states @ self._network.context.value.weight.T
        return (weights[:, None] * values).sum(dim=0)

    def _states(self, words: Tensor, direction: int) -> Tensor:
        encoder = self._network.context
        width = 4 * HIDDEN
        half = slice(direction * width, (direction + 1) * width)
        state = cell = torch.zeros(HIDDEN, dtype=torch.float64)
        states = []
        for word in words:
            gates = encoder.input_weight[half] @ word + encoder.bias[half]
            gates = gates + encoder.state_weight[direction].T @ state
            i, f, g, o = gates.view(4, HIDDEN)
            cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
            state = o.sigmoid() * cell.tanh()
            states.append(state)
        return torch.stack(states)

    def loss(self, batch: TrainingBatch) -> Tensor:
        """−J_3NS summed over the batch: for each comparison of each triple, −log σ."""
        contexts = [self.context(row) for group in batch.contexts for row in group]
        total = torch.zeros((), dtype=torch.float64)
        for row, context in enumerate(contexts):
            x, y = batch.x[row], batch.y[row]
            total = total - (self.pair(x, y) @ context).sigmoid().log()
            negatives = [self.pair(x, y) @ contexts[int(other)] for other in batch.shuffles[row]]
            negatives += [self.pair(other, y) @ context for other in batch.other_x[row]]
            negatives += [self.pair(x, other) @ context for other in batch.other_y[row]]
            total = total - torch.stack(negatives).neg().sigmoid().log().sum()
        return total


@pytest.mark.parametrize(("k_c", "words", "typed"), [(2, 3, 1), (2, 0, 0), (1, 2, 2)])
def test_loss_and_gradients_are_those_of_the_plain_model(k_c: int, words: int, typed: int) -> None:
    network, batch = make_network(), make_batch(k_c, words)
    outcome = network(batch, typed)
    plain = PlainModel(network)
    loss, plain_loss = outcome.losses.total().sum(), plain.loss(batch)
    torch.testing.assert_close(loss, plain_loss, rtol=0, atol=1e-9)

    weights = list(network.parameters())
    tables = ["pair_words", "context_words"]
    vectors = [outcome.touched[name].vectors for name in tables]
    plain_tables = [plain.pair_words.weight, plain.context_words.weight]
    actual = torch.autograd.grad(loss, [*weights, *vectors])
    expected = torch.autograd.grad(plain_loss, [*weights, *plain_tables])
    for gradient, plain_gradient in zip(actual[:-2], expected[:-2], strict=True):
        torch.testing.assert_close(gradient, plain_gradient, rtol=0, atol=1e-9)
    for name, row_gradients, dense in zip(tables, actual[-2:], expected[-2:], strict=True):
        scattered = torch.zeros(WORDS, SIZE, dtype=torch.float64)
        scattered[outcome.touched[name].rows] = row_gradients
        torch.testing.assert_close(scattered, dense, rtol=0, atol=1e-9)
        assert not scattered[10:].any()


def test_a_batch_touches_each_of_its_words_once() -> None:
    network, batch = make_network(), make_batch(2, 3)
    touched = network(batch, 1).touched
    pair_words = torch.cat([batch.x, batch.y, batch.other_x.flatten(), batch.other_y.flatten()])
    context_words = torch.cat([group.flatten() for group in batch.contexts])
    assert touched["pair_words"].rows.tolist() == sorted(set(pair_words.tolist()))
    assert touched["context_words"].rows.tolist() == sorted(set(context_words.tolist()))


def test_the_tables_take_no_part_in_autograd() -> None:
    network = make_network()
    assert not network.pair_words.requires_grad
    assert {name for name, _ in network.named_buffers()} == {"pair_words", "context_words"}


def test_a_network_is_drawn_from_its_generator_alone() -> None:
    torch.manual_seed(1)
    first = make_network().state_dict()
    state = torch.get_rng_state()
    torch.manual_seed(2)
    second = make_network().state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)
    torch.manual_seed(1)
    make_network()
    assert torch.equal(torch.get_rng_state(), state)

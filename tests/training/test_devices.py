"""Devices: what runs where gives the same result."""

import pytest
import torch

from pair2vec.encoders.context import ContextConfig
from pair2vec.encoders.pair import PairConfig
from pair2vec.errors import UsageError
from pair2vec.training.devices import compile_network, computing, find_device
from pair2vec.training.network import Batch, Network

WORDS, SIZE = 20, 6


def make_batch(sizes: tuple[int, ...], seed: int) -> Batch:
    """Triples with so many contexts of each of the five lengths."""
    draw, count = torch.Generator().manual_seed(seed), sum(sizes)

    def ids(*shape: int) -> torch.Tensor:
        return torch.randint(WORDS, shape, generator=draw)

    contexts = tuple(ids(size, length) for length, size in enumerate(sizes, start=4))
    shuffles = torch.randperm(count, generator=draw)[:, None]
    return Batch(ids(count), ids(count), contexts, ids(count, 2), ids(count, 2), shuffles)


# torch's tracer reads .grad of what it traces, and warns of itself.
@pytest.mark.filterwarnings("ignore:The .grad attribute")
def test_a_compiled_network_has_the_losses_and_gradients_of_the_plain_one() -> None:
    networks = []
    for _ in range(2):
        config = ContextConfig(dimension=SIZE, hidden=4)
        network = Network(
            WORDS, PairConfig(dimension=SIZE, layers=3), config, torch.Generator().manual_seed(0)
        )
        network.pair_words.normal_(generator=torch.Generator().manual_seed(1))
        network.context_words.normal_(generator=torch.Generator().manual_seed(2))
        networks.append(network)
    plain, compiled = networks
    compile_network(compiled, backend="eager")
    # Lengths with one context, with none, and with a new number of them each time.
    for seed, sizes in enumerate([(3, 2, 4, 2, 3), (1, 0, 5, 7, 2), (6, 3, 1, 4, 4)]):
        batch = make_batch(sizes, seed)
        losses = [network(batch, 1).losses.total() for network in (plain, compiled)]
        torch.testing.assert_close(losses[1], losses[0])
        for loss in losses:
            loss.sum().backward()
    expected = dict(plain.named_parameters())
    found = dict(compiled.named_parameters())
    assert found.keys() == expected.keys()
    for name, weight in expected.items():
        torch.testing.assert_close(found[name].grad, weight.grad)


def test_a_cpu_computes_in_float32() -> None:
    with computing(torch.device("cpu")):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32


def test_a_device_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match="no device 'abacus'; there are auto, cpu, cuda"):
        find_device("abacus")

"""What bfloat16 and compiling gain on a GPU: a step of training on random ids.

    python benchmarks/compile_gpu.py [--batch N...] [--words N] [--device cuda]

The paper's dimensions and negatives; ids are drawn by Zipf's law, contexts have all five lengths in
numbers that change from batch to batch. A step is forward, backward and update; making batches is
left out. The baseline is the network in float32 (with TF32 in the matrix products).
"""

import argparse
import time

import numpy as np
import torch

import machine
from pair2vec.encoders.context import ContextConfig
from pair2vec.encoders.pair import PairConfig
from pair2vec.text.patterns import DISTANCES
from pair2vec.text.vocabulary import SPECIAL_TOKENS, X, Y
from pair2vec.training.devices import compile_network
from pair2vec.training.negatives import NegativesConfig, WordSampler
from pair2vec.training.network import Batch, Network
from pair2vec.training.optimisers import Adam

BATCHES = 8
"""Different ones, over and over."""
NEGATIVES = NegativesConfig()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, nargs="+", default=[4096, 16384, 65536])
    parser.add_argument("--words", type=int, default=100_000)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=40)
    arguments = parser.parse_args()
    device = torch.device(arguments.device)
    torch.set_float32_matmul_precision("high")
    name = torch.cuda.get_device_name() if device.type == "cuda" else "no GPU"
    print(f"{name}, torch {torch.__version__}, {machine.describe()}\n")
    print("thousand triples/s     float32   bfloat16   compiled   ratio to float32   compiling")
    for size in arguments.batch:
        runs = [
            measure(make_network(arguments.words, device), size, arguments.steps, half=half)
            for half in (False, True)
        ]
        network = make_network(arguments.words, device)
        compile_network(network)
        start = time.perf_counter()
        measure(network, size, BATCHES, half=True)
        seconds = time.perf_counter() - start
        runs.append(measure(network, size, arguments.steps, half=True))
        figures = "".join(f"{run / 1e3:11.1f}" for run in runs)
        print(f"batch {size:<12,}{figures}{runs[-1] / runs[0]:15.2f}{seconds:16.1f} s", flush=True)


def make_network(words: int, device: torch.device) -> Network:
    """With random weights and words."""
    generator = torch.Generator().manual_seed(0)
    vocabulary = words + len(SPECIAL_TOKENS)
    network = Network(vocabulary, PairConfig(), ContextConfig(), generator).to(device)
    for table in (network.pair_words, network.context_words):
        table.normal_(0, 0.1)
    return network


def measure(network: Network, size: int, steps: int, *, half: bool) -> float:
    """Triples a second."""
    device = network.pair_words.device
    batches = [make_batch(len(network.pair_words), size, device, seed) for seed in range(BATCHES)]
    optimiser = Adam()
    for batch in batches[:3]:
        train_on(network, batch, optimiser, half=half)
    wait(device)
    start = time.perf_counter()
    for step in range(steps):
        train_on(network, batches[step % BATCHES], optimiser, half=half)
    wait(device)
    return steps * size / (time.perf_counter() - start)


def make_batch(vocabulary: int, size: int, device: torch.device, seed: int) -> Batch:
    """Random triples and negatives."""
    draw = torch.Generator(device).manual_seed(seed)
    counts = np.maximum(1e9 / np.arange(1, vocabulary + 1), 1).astype(np.int64)
    words = WordSampler.smoothed(counts, NEGATIVES.exponent, device)
    sizes = np.random.default_rng(seed).multinomial(size, np.full(len(DISTANCES), 0.2)).tolist()
    contexts = tuple(
        words.draw((n, distance + 3), draw) for n, distance in zip(sizes, DISTANCES, strict=True)
    )
    for group in contexts:
        group[:, 1], group[:, -2] = X, Y
    shuffles = [
        torch.randperm(size, generator=draw, device=device) for _ in range(NEGATIVES.contexts)
    ]
    return Batch(
        words.draw((size,), draw),
        words.draw((size,), draw),
        contexts,
        words.draw((size, NEGATIVES.words), draw),
        words.draw((size, NEGATIVES.words), draw),
        torch.stack(shuffles, dim=1),
    )


def train_on(network: Network, batch: Batch, optimiser: Adam, *, half: bool) -> None:
    """One step."""
    device_type = network.pair_words.device.type
    with torch.autocast(device_type, torch.bfloat16, enabled=half):
        outcome = network(batch, NEGATIVES.typed)
    outcome.losses.total().mean().backward()
    for name, weight in network.named_parameters():
        assert weight.grad is not None
        optimiser.update(name, weight, weight.grad, 1e-5)
        weight.grad = None
    for name, (rows, vectors) in outcome.touched.items():
        assert vectors.grad is not None
        optimiser.update(name, getattr(network, name), vectors.grad, 1e-5, rows)
    optimiser.steps += 1


def wait(device: torch.device) -> None:
    """For what the device has been told to do."""
    if device.type == "cuda":
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()

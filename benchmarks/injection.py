"""The cost of `PairAttention`, forward and backward, beside the naive formula.

    python benchmarks/injection.py [--model FOLDER] [--device cpu|cuda] [--seconds S] [--bfloat16]
        [--keep-parts]

The naive formula has the vectors of all pairs in memory: MLP([x; y; x∘y]) of each pair in both
directions, normalised, weighted and summed. Its R is frozen too, so its gradient is cheap, where
`PairAttention` recomputes the pair vectors. Both run on ids that are all
words, drawn by 1 / rank, with gradients for the attention. `--bfloat16` runs both under autocast,
and `--keep-parts` computes what depends on one word once for all words of the model, as our own
models are trained on a GPU.

Shapes: B batch, n and m words of the sequences a and b, D dimension.
"""

import argparse
import multiprocessing
import statistics
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

import gpu
from pair2vec.encoders.pair import MlpPair
from pair2vec.injection.pair_attention import PairAttention
from pair2vec.model.folder import load_model, save_model
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary

WORDS, DIMENSION, LAYERS = 100_000, 300, 4
"""Of the paper's model."""
LEAST_RUNS = 4
SHAPES = {"NLI": (32, 30, 30), "QA": (32, 400, 40)}


class Setup(NamedTuple):
    """What is measured."""

    model: Path
    device: str
    shape: tuple[int, int, int]
    seconds: float
    bfloat16: bool
    keep_parts: bool


class Cost(NamedTuple):
    """Of one implementation."""

    milliseconds: float
    """The median of its runs."""
    peak_mb: float
    """Above the memory in use before the first run."""


Pool = Callable[[PairAttention, Tensor, Tensor, Tensor], Tensor]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, help="one with an mlp; a random one otherwise")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seconds", type=float, default=5.0, help="for each figure, about")
    parser.add_argument("--bfloat16", action="store_true", help="under autocast")
    parser.add_argument("--keep-parts", action="store_true", help="of all words, on the device")
    arguments = parser.parse_args()
    precision = "bfloat16 autocast" if arguments.bfloat16 else "float32"
    print(f"{gpu.describe(torch.device(arguments.device))}; on {arguments.device}, {precision}\n")
    print("shape              method      ms forward + backward   peak MB")
    with tempfile.TemporaryDirectory() as scratch:
        model = arguments.model or random_model(Path(scratch) / "model")
        for name, shape in SHAPES.items():
            setup = Setup(
                model,
                arguments.device,
                shape,
                arguments.seconds,
                arguments.bfloat16,
                arguments.keep_parts,
            )
            compare(name, setup)
    print("\nPeak memory is above that of the model, the ids and the attention.")


def compare(name: str, setup: Setup) -> None:
    """Two lines of the table, and the ratio."""
    tiled, naive = (measure_apart(pool, setup) for pool in (pool_in_tiles, pool_naively))
    label = f"{name} {'×'.join(map(str, setup.shape))}"
    for method, cost in (("pair2vec", tiled), ("naive", naive)):
        print(f"{label:18} {method:10}{cost.milliseconds:23,.1f}{cost.peak_mb:10,.0f}")
    print(
        f"  naive to pair2vec: time {naive.milliseconds / tiled.milliseconds:.2f}, "
        f"memory {naive.peak_mb / tiled.peak_mb:.1f}",
        flush=True,
    )


def random_model(folder: Path) -> Path:
    """A model of the paper's size with random weights."""
    random = np.random.default_rng(0)
    vocabulary = Vocabulary((f"w{rank}", 1) for rank in range(WORDS))
    shapes: dict[str, tuple[int, ...]] = {
        "pair.words": (len(vocabulary), DIMENSION),
        "pair.first.weight": (DIMENSION, 3 * DIMENSION),
        "pair.first.bias": (DIMENSION,),
    }
    for layer in range(LAYERS - 1):
        shapes[f"pair.others.{layer}.weight"] = (DIMENSION, DIMENSION)
        shapes[f"pair.others.{layer}.bias"] = (DIMENSION,)
    tensors = {
        name: random.standard_normal(shape, np.float32) / np.float32(DIMENSION**0.5)
        for name, shape in shapes.items()
    }
    pair = {"composition": "mlp", "layers": LAYERS, "dimension": DIMENSION}
    save_model(folder, tensors, vocabulary, {"recipe": {"name": "random", "pair": pair}})
    return folder


def measure_apart(pool: Pool, setup: Setup) -> Cost:
    """On a CPU in a fresh process, to have its own peak of memory; a GPU can be cleared."""
    if setup.device != "cpu":
        return measure(pool, setup)
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=fresh) as executor:
        return executor.submit(measure, pool, setup).result()


def measure(pool: Pool, setup: Setup) -> Cost:
    """The median of runs until the time is up; the first warms up, and is not counted."""
    device = torch.device(setup.device)
    layer = PairAttention(load_model(setup.model), dropout=0, keep_parts=setup.keep_parts).to(
        device
    )
    (batch, n, m), random = setup.shape, torch.Generator().manual_seed(0)
    shares = 1 / torch.arange(1, len(layer.vocabulary) - len(SPECIAL_TOKENS) + 1)
    words = torch.multinomial(shares, batch * (n + m), replacement=True, generator=random)
    ids = (words + len(SPECIAL_TOKENS)).to(device).view(batch, n + m)
    a, b = ids[:, :n], ids[:, n:]
    alpha = torch.randn(batch, n, m, generator=random).softmax(-1).to(device).requires_grad_()

    def run() -> None:
        alpha.grad = None
        with torch.autocast(device.type, torch.bfloat16, setup.bfloat16):
            pooled = pool(layer, a, b, alpha)
        torch.autograd.backward(pooled.float().square().sum())

    gpu.clear(device)
    before = used_mb(device, "VmRSS:")
    times = [gpu.seconds(run, device)]
    # The peak of the first run: that of later ones depends on what the allocator has freed.
    peak = used_mb(device, "VmHWM:") - before
    while len(times) < LEAST_RUNS or sum(times[1:]) < setup.seconds:
        times.append(gpu.seconds(run, device))
    return Cost(1e3 * statistics.median(times[1:]), peak)


def used_mb(device: torch.device, name: str) -> float:
    """On a GPU that of tensors: now, right after `clear`, and their peak later."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 1e6
    status = Path("/proc/self/status").read_text()
    return int(status.partition(name)[2].split()[0]) * 1024 / 1e6


def pool_in_tiles(layer: PairAttention, a: Tensor, b: Tensor, alpha: Tensor) -> Tensor:
    pooled: Tensor = layer(a, b, alpha)
    return pooled


def pool_naively(layer: PairAttention, a: Tensor, b: Tensor, alpha: Tensor) -> Tensor:
    """The formula as in the paper."""
    x, y = (functional.normalize(layer.pair.words[ids], dim=-1) for ids in (a, b))
    x, y = x[:, :, None].expand(-1, -1, b.shape[1], -1), y[:, None].expand(-1, a.shape[1], -1, -1)
    vectors = torch.cat([naive_mlp(layer, x, y), naive_mlp(layer, y, x)], dim=-1)
    return torch.einsum("kij,kijd->kid", alpha, vectors)


def naive_mlp(layer: PairAttention, x: Tensor, y: Tensor) -> Tensor:
    """R of pairs, of unit norm: (B, n, m, D)."""
    encoder = layer.pair.encoder
    assert isinstance(encoder, MlpPair), "the naive formula is that of an mlp"
    hidden = encoder.first(torch.cat([x, y, x * y], dim=-1))
    for other in encoder.others:
        hidden = other(hidden.relu())
    return functional.normalize(hidden, dim=-1)


if __name__ == "__main__":
    main()

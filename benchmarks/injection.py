"""What pair vectors in attention cost, forward and backward, beside the naive formula.

    python benchmarks/injection.py [--model FOLDER] [--device cpu|cuda] [--seconds S] [--bfloat16]
        [--keep-parts]

The naive formula has the vectors of all pairs in memory: MLP([x; y; x∘y]) of each pair in both
directions, brought to length one, weighted and summed. Its R is frozen too, so its gradient is
cheap, where `PairAttention` makes the pair vectors a second time. Both run on ids that are all
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
LEAST = 4
"""Runs."""
SHAPES = {"NLI": (32, 30, 30), "QA": (32, 400, 40)}


class Task(NamedTuple):
    """What to measure on."""

    model: Path
    device: str
    shape: tuple[int, int, int]
    seconds: float
    bfloat16: bool
    keep_parts: bool


class Measured(NamedTuple):
    """One way."""

    milliseconds: float
    """The median of its runs."""
    peak_mb: float
    """Above what there was before the first run."""


Pool = Callable[[PairAttention, Tensor, Tensor, Tensor], Tensor]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, help="one with an mlp; a random one otherwise")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seconds", type=float, default=5.0, help="for each figure, about")
    parser.add_argument("--bfloat16", action="store_true", help="under autocast")
    parser.add_argument("--keep-parts", action="store_true", help="of all words, on the device")
    arguments = parser.parse_args()
    precision = "bfloat16 autocast" if arguments.bfloat16 else "float32"
    print(f"{gpu.describe(torch.device(arguments.device))}; on {arguments.device}, {precision}\n")
    print("shape              way         ms forward + backward   peak MB")
    with tempfile.TemporaryDirectory() as scratch:
        model = arguments.model or random_model(Path(scratch) / "model")
        for name, shape in SHAPES.items():
            task = Task(
                model,
                arguments.device,
                shape,
                arguments.seconds,
                arguments.bfloat16,
                arguments.keep_parts,
            )
            compare(name, task)
    print("\nPeak memory is above that of the model, the ids and the attention.")


def compare(name: str, task: Task) -> None:
    """Two lines of the table, and the ratio."""
    ours, plain = (measured(pool, task) for pool in (pool_in_tiles, pool_naively))
    label = f"{name} {'×'.join(map(str, task.shape))}"
    for way, found in (("pair2vec", ours), ("naive", plain)):
        print(f"{label:18} {way:10}{found.milliseconds:23,.1f}{found.peak_mb:10,.0f}")
    print(
        f"  naive to pair2vec: time {plain.milliseconds / ours.milliseconds:.2f}, "
        f"memory {plain.peak_mb / ours.peak_mb:.1f}",
        flush=True,
    )


def random_model(folder: Path) -> Path:
    """One of the paper's size."""
    random = np.random.default_rng(0)
    vocabulary = Vocabulary((f"w{rank}", 1) for rank in range(WORDS))
    shapes: dict[str, tuple[int, ...]] = {
        "pair.words": (len(vocabulary), DIMENSION),
        "pair.first.weight": (DIMENSION, 3 * DIMENSION),
        "pair.first.bias": (DIMENSION,),
    }
    for place in range(LAYERS - 1):
        shapes[f"pair.others.{place}.weight"] = (DIMENSION, DIMENSION)
        shapes[f"pair.others.{place}.bias"] = (DIMENSION,)
    tensors = {
        name: random.standard_normal(shape, np.float32) / np.float32(DIMENSION**0.5)
        for name, shape in shapes.items()
    }
    pair = {"composition": "mlp", "layers": LAYERS, "dimension": DIMENSION}
    save_model(folder, tensors, vocabulary, {"recipe": {"name": "random", "pair": pair}})
    return folder


def measured(pool: Pool, task: Task) -> Measured:
    """On a CPU in a fresh process, whose peak of memory is that way's own; a GPU can be cleared."""
    if task.device != "cpu":
        return measure(pool, task)
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=fresh) as executor:
        return executor.submit(measure, pool, task).result()


def measure(pool: Pool, task: Task) -> Measured:
    """Runs until the time is up; the first warms up, for a second or so, and is not counted."""
    device = torch.device(task.device)
    layer = PairAttention(load_model(task.model), dropout=0, keep_parts=task.keep_parts).to(device)
    (batch, n, m), random = task.shape, torch.Generator().manual_seed(0)
    shares = 1 / torch.arange(1, len(layer.vocabulary) - len(SPECIAL_TOKENS) + 1)
    words = torch.multinomial(shares, batch * (n + m), replacement=True, generator=random)
    ids = (words + len(SPECIAL_TOKENS)).to(device).view(batch, n + m)
    a, b = ids[:, :n], ids[:, n:]
    alpha = torch.randn(batch, n, m, generator=random).softmax(-1).to(device).requires_grad_()

    def run() -> None:
        alpha.grad = None
        with torch.autocast(device.type, torch.bfloat16, task.bfloat16):
            pooled = pool(layer, a, b, alpha)
        torch.autograd.backward(pooled.float().square().sum())

    gpu.clear(device)
    before = used_mb(device, "VmRSS:")
    times = [gpu.seconds(run, device)]
    # The peak of the first run: what later ones find depends on what the allocator gave back.
    peak = used_mb(device, "VmHWM:") - before
    while len(times) < LEAST or sum(times[1:]) < task.seconds:
        times.append(gpu.seconds(run, device))
    return Measured(1e3 * statistics.median(times[1:]), peak)


def used_mb(device: torch.device, name: str) -> float:
    """On a GPU that of tensors: now, right after `clear`, and their peak later."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 1e6
    status = Path("/proc/self/status").read_text()
    return int(status.partition(name)[2].split()[0]) * 1024 / 1e6


def pool_in_tiles(layer: PairAttention, a: Tensor, b: Tensor, alpha: Tensor) -> Tensor:
    """Our own."""
    pooled: Tensor = layer(a, b, alpha)
    return pooled


def pool_naively(layer: PairAttention, a: Tensor, b: Tensor, alpha: Tensor) -> Tensor:
    """The formula as the paper prints it."""
    x, y = (functional.normalize(layer.pair.words[ids], dim=-1) for ids in (a, b))
    x, y = x[:, :, None].expand(-1, -1, b.shape[1], -1), y[:, None].expand(-1, a.shape[1], -1, -1)
    vectors = torch.cat([naive_mlp(layer, x, y), naive_mlp(layer, y, x)], dim=-1)
    return torch.einsum("kij,kijd->kid", alpha, vectors)


def naive_mlp(layer: PairAttention, x: Tensor, y: Tensor) -> Tensor:
    """R of pairs, of length one: (B, n, m, D)."""
    encoder = layer.pair.encoder
    assert isinstance(encoder, MlpPair), "the naive formula is that of an mlp"
    hidden = encoder.first(torch.cat([x, y, x * y], dim=-1))
    for other in encoder.others:
        hidden = other(hidden.relu())
    return functional.normalize(hidden, dim=-1)


if __name__ == "__main__":
    main()

"""How fast training is on a GPU, and where its time goes.

    PYTHONPATH=src python3 benchmarks/train_gpu.py [--batch N...] [--words N] [--vocabularies N...]
        [--steps N] [--corpus FOLDER] [--seconds S] [--device cuda]

Recipe `fast`, at the dimensions and with the negatives of the paper, in three parts:

1. Steps on random ids that lie on the GPU already: the plain step under bfloat16 autocast, and the
   CUDA-graph step. For each batch size; and for the largest, with larger vocabularies. Memory
   is the most that tensors take at a time, tables and the state of Adam included. "capture" is
   the first CUDA-graph step, in which it is compiled; what is compiled for one line serves the next
   ones too, so that the first line says what a run of its own pays.
2. The parts of a CUDA-graph step, of the largest batch (`step_parts.py` says how).
3. End to end: the training loop as `pair2vec train` runs it, for `--seconds` after it has warmed
   up: subsampled positions, contexts gathered, negatives drawn, the step, metrics. Validation and
   checkpoints are left out. The corpus is drawn by Zipf's law unless one is given; word vectors and
   neighbours are random. `--seconds 0` leaves this part out.

On `--device cpu` all of it runs, for a test of the program: there, nothing is compiled or captured.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import torch

import gpu
from pair2vec.text.corpus import Corpus, open_corpus
from pair2vec.text.vocabulary import SPECIAL_TOKENS
from pair2vec.training.cuda_graph_step import CudaGraphStep
from pair2vec.training.network import Network, TrainingBatch
from pair2vec.training.optim import OPTIMISERS
from pair2vec.training.recipes import fast, resolve
from pair2vec.training.steps import PlainStep, Step, StepModel
from pair2vec.training.trainer import RunContext, Trainer
from random_batches import random_batches
from random_corpus import random_neighbours, start_vectors, write_corpus
from step_parts import PartTime, TimedStep, part_times, print_parts

TOKENS = 30_000_000
"""Of the random corpus."""
BATCHES = 8
"""Different ones, over and over."""
RATE = 1e-5
NEVER = 10**12
"""Steps, or epochs."""
RECIPE = fast()

StepKind = Callable[[StepModel], Step]


class Measured(NamedTuple):
    """One way to train."""

    speed: float
    """Triples a second."""
    peak_gb: float | None
    start_up: float
    """Seconds until the first step is done."""

    @property
    def memory(self) -> str:
        """As the tables have it."""
        return "–" if self.peak_gb is None else f"{self.peak_gb:.1f}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, nargs="+", default=[600, 4096, 16_384, 65_536])
    parser.add_argument("--words", type=int, default=100_000, help="in the vocabulary")
    parser.add_argument("--vocabularies", type=int, nargs="+", default=[1, 2, 4], help="times that")
    parser.add_argument("--steps", type=int, default=50, help="of each measurement on random ids")
    parser.add_argument("--corpus", type=Path, help="to measure end to end on")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="of the random corpus")
    parser.add_argument("--seconds", type=float, default=8.0, help="of each measurement end to end")
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    device = torch.device(arguments.device)
    gpu.compile_all_sizes()
    print(f"{gpu.describe(device)}\n", flush=True)
    batch, largest = arguments.batch, max(arguments.batch)
    rows = [(times, size) for times in arguments.vocabularies for size in batch]
    rows = [(times, size) for times, size in rows if times == 1 or size == largest]
    print_speeds([(times * arguments.words, size) for times, size in rows], arguments.steps, device)
    print(f"\nParts of a CUDA-graph step, batch {largest:,}, {arguments.words:,} words", flush=True)
    print_parts(times_of_parts(arguments.words, largest, device))
    if arguments.seconds:
        print_end_to_end(arguments, device)


def print_speeds(rows: Sequence[tuple[int, int]], steps: int, device: torch.device) -> None:
    """A line for each vocabulary and batch."""
    print(
        "random ids           thousand triples/s      ms a step           peak GB\n"
        "   words    batch     plain     graph   ratio     graph    plain   graph     capture",
        flush=True,
    )
    for words, size in rows:
        batches = random_batches(words, size, RECIPE.negatives, BATCHES, device)
        plain, graph = (measure(kind, words, batches, steps) for kind in (PlainStep, CudaGraphStep))
        print(
            f"{words:8,}{size:9,}{plain.speed / 1e3:10,.1f}{graph.speed / 1e3:10,.1f}"
            f"{graph.speed / plain.speed:8.1f}{1e3 * size / graph.speed:10.2f}"
            f"{plain.memory:>9}{graph.memory:>8}{graph.start_up:10.1f} s",
            flush=True,
        )


def measure(kind: StepKind, words: int, batches: Sequence[TrainingBatch], steps: int) -> Measured:
    """Steps over `batches`."""
    device = batches[0].x.device
    gpu.clear(device)
    step = kind(step_model(words, device))

    def train(count: int) -> None:
        for number in range(count):
            step(batches[number % len(batches)], RATE)

    start_up = gpu.seconds(lambda: train(1), device)
    train(len(batches))
    speed = steps * len(batches[0].x) / gpu.seconds(lambda: train(steps), device)
    return Measured(speed, gpu.peak_gb(device), start_up)


def times_of_parts(words: int, size: int, device: torch.device) -> list[PartTime]:
    gpu.clear(device)
    batches = random_batches(words, size, RECIPE.negatives, BATCHES, device)
    return part_times(TimedStep(step_model(words, device)), batches, RATE)


def step_model(words: int, device: torch.device) -> StepModel:
    """With random weights and words."""
    vocabulary, generator = words + len(SPECIAL_TOKENS), torch.Generator().manual_seed(0)
    network = Network(vocabulary, RECIPE.pair, RECIPE.context, generator).to(device)
    for table in (network.pair_words, network.context_words):
        table.normal_(0, 0.1)
    optimiser = OPTIMISERS[RECIPE.training.optimiser]()
    return StepModel(network, optimiser, RECIPE.training, RECIPE.negatives.typed)


def print_end_to_end(arguments: argparse.Namespace, device: torch.device) -> None:
    """A line for each batch."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.corpus or Path(scratch) / "corpus"
        if arguments.corpus is None:
            write_corpus(folder, arguments.words, arguments.tokens)
        corpus = open_corpus(folder)
        print(
            f"\nEnd to end, {arguments.corpus or 'a random corpus'}: "
            f"{corpus.manifest.tokens:,} tokens, {corpus.manifest.words:,} words"
        )
        print("   batch   thousand triples/s   peak GB     start-up", flush=True)
        for size in arguments.batch:
            measured = train(corpus, size, arguments.seconds, device)
            print(
                f"{size:8,}{measured.speed / 1e3:21,.1f}{measured.memory:>10}"
                f"{measured.start_up:11.1f} s",
                flush=True,
            )


class TimeIsUp(Exception):  # noqa: N818 - not an error
    """Enough has been measured."""


class Stopwatch:
    """Called after every step: lets a quarter of the time pass to warm up, then measures."""

    def __init__(self, seconds: float, device: torch.device) -> None:
        self._seconds = seconds
        self._device = device
        self._since = self._now()
        self._is_warm = False
        self.start_up = 0.0
        self.steps = 0
        self.elapsed = 0.0

    def _now(self) -> float:
        gpu.wait(self._device)
        return time.perf_counter()

    def __call__(self) -> bool:
        """False, to go on; the end is an exception, lest a checkpoint be written."""
        passed = time.perf_counter() - self._since
        self.steps += 1
        if not self.start_up:
            self.start_up = self._now() - self._since
            self._since = self._now()
        elif not self._is_warm and passed >= self._seconds / 4:
            self._is_warm, self.steps, self._since = True, 0, self._now()
        elif self._is_warm and passed >= self._seconds:
            self.elapsed = self._now() - self._since
            raise TimeIsUp
        return False


def train(corpus: Corpus, size: int, seconds: float, device: torch.device) -> Measured:
    """The training loop, until the time is up."""
    gpu.clear(device)
    settings = {"batch": size, "steps": 0, "epochs": NEVER}
    settings |= {"validation_steps": NEVER, "checkpoint_steps": NEVER}
    recipe = resolve("fast", None, [f"training.{key}={value}" for key, value in settings.items()])
    start, neighbours = start_vectors(corpus, recipe), random_neighbours(corpus, recipe)
    with tempfile.TemporaryDirectory() as folder:
        stopwatch = Stopwatch(seconds, device)
        run_context = RunContext(Path(folder), device, lambda _: None, stopwatch)
        with suppress(TimeIsUp):
            Trainer(corpus, recipe, start, neighbours, run_context).run()
    return Measured(
        stopwatch.steps * size / stopwatch.elapsed, gpu.peak_gb(device), stopwatch.start_up
    )


if __name__ == "__main__":
    main()

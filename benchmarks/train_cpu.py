"""How fast training is on one core, and how much memory it takes, beside a plain implementation.

    python benchmarks/train_cpu.py [--words N] [--batch N...] [--seconds S]

The recipe is `paper`, the corpus is drawn by Zipf's law, neighbours are random. Both sides train on
the same batches with the same negatives, and both pay for making them. The plain one has dense
gradients and a `torch.nn.LSTM` over padded contexts, and computes everything once an occurrence.

Shapes: B triples, K negative words a side, P = 1 + 2K pairs, L longest context, D dimension.
"""

import argparse
import logging
import multiprocessing
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

import machine
from pair2vec.text.corpus import open_corpus
from pair2vec.text.vocabulary import PADDING
from pair2vec.training.batches import NegativeSampler, TripleTensors
from pair2vec.training.network import TrainingBatch
from pair2vec.training.recipes import Recipe, paper
from pair2vec.training.trainer import RunContext, Trainer
from pair2vec.triples.epoch import TriplesConfig, TripleStream
from random_corpus import random_neighbours, start_vectors, write_corpus

TOKENS = 300_000
LONGEST_CONTEXT = 8
LEAST_STEPS = 3
CPU = torch.device("cpu")


class Task(NamedTuple):
    """What to measure on."""

    corpus: Path
    batch: int
    seconds: float


class Measured(NamedTuple):
    """One run."""

    triples: int
    cpu_seconds: float
    peak_mb: float

    @property
    def speed(self) -> float:
        """Triples a CPU-second."""
        return self.triples / self.cpu_seconds


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, default=100_000, help="in the vocabulary")
    parser.add_argument("--batch", type=int, nargs="+", default=[600, 2400])
    parser.add_argument("--seconds", type=float, default=7.0, help="of CPU time, for each figure")
    arguments = parser.parse_args()
    print(f"{machine.describe()}, torch {torch.__version__}; one core is used\n")
    words, (first, *others) = arguments.words, arguments.batch
    rows = [(size, first) for size in (words // 10, words, words * 4)]
    print("recipe paper        words   batch   triples/CPU s   µs/triple   peak MB")
    with tempfile.TemporaryDirectory() as scratch:
        for size, batch in [*rows, *((words, batch) for batch in others)]:
            folder = Path(scratch) / str(size)
            if not folder.exists():
                write_corpus(folder, size, TOKENS)
            compare(size, Task(folder, batch, arguments.seconds))
        idle = in_new_process(do_nothing, Task(folder, 1, 0))
    print(f"\nPeak memory is resident; Python and torch alone take {idle.peak_mb:.0f} MB of it.")


def compare(words: int, task: Task) -> None:
    """Two lines of the table, and the ratio."""
    ours, plain = (in_new_process(train, task) for train in (train_pair2vec, train_plain))
    for name, measured in (("pair2vec", ours), ("  plain", plain)):
        print(
            f"{name:16}{words:9,}{task.batch:8,}{measured.speed:16,.0f}"
            f"{1e6 / measured.speed:12,.0f}{measured.peak_mb:10,.0f}"
        )
    print(
        f"  ratio of speed: {ours.speed / plain.speed:.1f}; "
        f"of memory: {plain.peak_mb / ours.peak_mb:.1f}",
        flush=True,
    )


class TimeIsUp(Exception):  # noqa: N818 - not an error
    """Enough has been measured."""


class Stopwatch:
    """Called after every step; the first, which warms up, is not counted."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._start = 0.0
        self.steps = -1
        self.elapsed = 0.0

    def __call__(self) -> bool:
        """False, to go on; the end is an exception, lest a checkpoint be written."""
        now = time.process_time()
        self.steps += 1
        if not self.steps:
            self._start = now
        self.elapsed = now - self._start
        if self.steps >= LEAST_STEPS and self.elapsed >= self._seconds:
            raise TimeIsUp
        return False


Train = Callable[[Task, Stopwatch], None]


def in_new_process(train: Train, task: Task) -> Measured:
    """Run in a fresh process, so that peak memory is that run's own."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=fresh) as pool:
        return pool.submit(_measure, train, task).result()


def _measure(train: Train, task: Task) -> Measured:
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    stopwatch = Stopwatch(task.seconds)
    with suppress(TimeIsUp):
        train(task, stopwatch)
    status = Path("/proc/self/status").read_text()
    peak_kb = int(status.partition("VmHWM:")[2].split()[0])
    return Measured(stopwatch.steps * task.batch, stopwatch.elapsed, peak_kb * 1024 / 1e6)


def do_nothing(task: Task, stopwatch: Stopwatch) -> None:
    """For the memory that any run takes."""


def recipe_for(task: Task) -> Recipe:
    """The paper's; with small chunks, so that all that sampling costs falls among the steps."""
    training = replace(paper().training, batch=task.batch)
    return replace(paper(), triples=TriplesConfig(chunk_blocks=1), training=training)


def train_pair2vec(task: Task, stopwatch: Stopwatch) -> None:
    """Our own training loop."""
    corpus, recipe = open_corpus(task.corpus), recipe_for(task)
    with tempfile.TemporaryDirectory() as folder:
        run_context = RunContext(Path(folder), CPU, lambda _: None, stopwatch)
        neighbours = random_neighbours(corpus, recipe)
        start = start_vectors(corpus, recipe)
        Trainer(corpus, recipe, start, neighbours, run_context).run()


def train_plain(task: Task, stopwatch: Stopwatch) -> None:
    """The baseline: the same batches through modules and optimiser as torch has them."""
    corpus, recipe = open_corpus(task.corpus), recipe_for(task)
    neighbours = random_neighbours(corpus, recipe)
    negatives = NegativeSampler(recipe.negatives, corpus.vocabulary.counts, neighbours, CPU)
    network = PlainNetwork(start_vectors(corpus, recipe), recipe)
    optimiser = torch.optim.SGD(network.parameters(), recipe.training.rate)
    generator = torch.Generator().manual_seed(0)
    for triples, _ in TripleStream(corpus, recipe.triples).batches(task.batch):
        loss = network(negatives.complete(TripleTensors.from_numpy(triples), generator))
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), recipe.training.clip)
        optimiser.step()
        stopwatch()


class PlainNetwork(nn.Module):
    """The paper's network, written down as it is defined."""

    def __init__(self, vectors: Tensor, recipe: Recipe) -> None:
        super().__init__()
        (words, size), hidden = vectors.shape, recipe.context.hidden
        self.pair_words = nn.Embedding(words, size, _weight=vectors)
        self.context_words = nn.Embedding(words, size, _weight=vectors.clone())
        widths = [3 * size] + [size] * recipe.pair.layers
        layers: list[nn.Module] = []
        for width, next_width in pairwise(widths):
            layers += [nn.Linear(width, next_width), nn.ReLU()]
        self.mlp = nn.Sequential(*layers[:-1])
        self.lstm = nn.LSTM(size, hidden, batch_first=True, bidirectional=True)
        self.attention = nn.Linear(2 * hidden, 1, bias=False)
        self.value = nn.Linear(2 * hidden, size, bias=False)

    def forward(self, batch: TrainingBatch) -> Tensor:
        """The loss of a batch, summed."""
        pairs, contexts = self._encode_pairs(batch), self._encode_contexts(batch.contexts)
        by_context = (pairs * contexts[:, None]).sum(dim=-1)
        by_other_contexts = (pairs[:, :1] * contexts[batch.shuffles]).sum(dim=-1)
        negative = torch.cat([by_context[:, 1:], by_other_contexts], dim=1)
        observed = functional.logsigmoid(by_context[:, 0])
        return -observed.sum() - functional.logsigmoid(-negative).sum()

    def _encode_pairs(self, batch: TrainingBatch) -> Tensor:
        """R of (x, y), the (x', y) and the (x, y'): (B, P, D)."""
        x, y = self._words(batch.x[:, None]), self._words(batch.y[:, None])
        other_x, other_y = self._words(batch.other_x), self._words(batch.other_y)
        xs = torch.cat([x, other_x, x.expand_as(other_y)], dim=1)
        ys = torch.cat([y, y.expand_as(other_x), other_y], dim=1)
        encoded: Tensor = self.mlp(torch.cat([xs, ys, xs * ys], dim=-1))
        return encoded

    def _words(self, ids: Tensor) -> Tensor:
        return functional.normalize(self.pair_words(ids), dim=-1)

    def _encode_contexts(self, contexts: tuple[Tensor, ...]) -> Tensor:
        """C of all contexts, padded to (B, L): (B, D)."""
        padded = torch.cat(
            [
                functional.pad(group, (0, LONGEST_CONTEXT - group.shape[1]), value=PADDING)
                for group in contexts
            ]
        )
        states, _ = self.lstm(self.context_words(padded))
        is_padding = (padded == PADDING)[..., None]
        weights = self.attention(states).masked_fill(is_padding, -torch.inf).softmax(dim=1)
        encoded: Tensor = (weights * self.value(states)).sum(dim=1)
        return encoded


if __name__ == "__main__":
    main()

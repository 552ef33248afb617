"""What it costs to train on several ranks: the all-reduce of gradients, and triples a second.

    python benchmarks/train_ranks.py [--words N] [--batch N...] [--steps N] [--ranks N]

The recipe is `paper`, the corpus is drawn by Zipf's law, neighbours are random. Ranks are processes
of this machine, with one thread each, over gloo; `batch` is that of all of them together. The
all-reduce is timed alone, between ranks that have nothing else to do: once as training does it, of
the rows touched, and once of whole tables.
"""

import argparse
import logging
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import torch

import machine
from pair2vec.text.corpus import open_corpus
from pair2vec.training.batches import NegativeSampler, TripleTensors
from pair2vec.training.distributed import (
    ProcessGroup,
    SparseRows,
    all_reduce_rows,
    init_process_group,
)
from pair2vec.training.recipes import Recipe, paper
from pair2vec.training.trainer import RunContext, Trainer
from pair2vec.triples.epoch import TripleStream
from random_corpus import random_neighbours, start_vectors, write_corpus
from ranks import in_ranks

TOKENS = 2_000_000
CPU = torch.device("cpu")
Result = TypeVar("Result")


class Task(NamedTuple):
    """What to measure on."""

    corpus: Path
    batch: int
    steps: int


class AllReduce(NamedTuple):
    """Of one step, on rank 0."""

    rows: int
    """Touched on this rank, of both tables."""
    sparse: float
    """Seconds."""
    dense: float


class Speed(NamedTuple):
    """Of some steps, on one rank."""

    seconds: float
    cpu_seconds: float


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, default=100_000, help="in the vocabulary")
    parser.add_argument("--batch", type=int, nargs="+", default=[600, 8192])
    parser.add_argument("--steps", type=int, default=10, help="for each figure, after one more")
    parser.add_argument("--ranks", type=int, default=2)
    arguments = parser.parse_args()
    count = arguments.ranks
    print(f"{machine.describe()}, torch {torch.__version__}; recipe paper, {count} ranks, gloo\n")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "corpus"
        write_corpus(folder, arguments.words, TOKENS)
        tasks = [Task(folder, batch, arguments.steps) for batch in arguments.batch]
        print("all-reduce   batch   rows a rank   sparse ms    dense ms   dense/sparse")
        for task in tasks:
            print_all_reduce(
                task.batch, in_ranks(partial(joined, measure_all_reduce), task, count)[0]
            )
        print("\ntraining     batch   ranks   triples/s   CPU s/rank/1,000 triples   of ideal")
        for task in tasks:
            alone = None
            for ranks in (1, count):
                speeds = in_ranks(partial(joined, measure_training), task, ranks)
                alone = print_training(task, speeds, alone)


def print_all_reduce(batch: int, measured: AllReduce) -> None:
    """A line of the first table."""
    print(
        f"{batch:18,}{measured.rows:14,}{1e3 * measured.sparse:12.1f}{1e3 * measured.dense:12.1f}"
        f"{measured.dense / measured.sparse:15.1f}",
        flush=True,
    )


def print_training(task: Task, speeds: list[Speed], alone: float | None) -> float:
    """A line of the second table; returns triples a second of one rank."""
    triples = task.batch * task.steps
    speed = triples / max(rank.seconds for rank in speeds)
    cpu = 1e3 * sum(rank.cpu_seconds for rank in speeds) / len(speeds) / triples
    alone = speed if alone is None else alone
    share = speed / alone / len(speeds)
    print(
        f"{task.batch:18,}{len(speeds):8}{speed:12,.0f}{cpu:27.3f}{share:11.0%}",
        flush=True,
    )
    return alone


def joined(work: Callable[[ProcessGroup, Task], Result], task: Task) -> Result:
    """The result of `work` on this rank, with one thread."""
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    with init_process_group("cpu") as ranks:
        return work(ranks, task)


def recipe_for(task: Task) -> Recipe:
    """The paper's."""
    return replace(paper(), training=replace(paper().training, batch=task.batch))


def measure_all_reduce(ranks: ProcessGroup, task: Task) -> AllReduce:
    """The rows that a batch touches, sent as rows and in whole tables."""
    corpus, recipe = open_corpus(task.corpus), recipe_for(task)
    neighbours = random_neighbours(corpus, recipe)
    negatives = NegativeSampler(recipe.negatives, corpus.vocabulary.counts, neighbours, CPU)
    stream = TripleStream(corpus, recipe.triples)
    triples, _ = next(stream.batches(task.batch, rank=ranks.rank, ranks=ranks.world_size))
    batch = negatives.complete(
        TripleTensors.from_numpy(triples), torch.Generator().manual_seed(ranks.rank)
    )
    named = [
        torch.cat([batch.x, batch.y, batch.other_x.flatten(), batch.other_y.flatten()]),
        torch.cat([group.flatten() for group in batch.contexts]),
    ]
    words, size = len(corpus.vocabulary), recipe.pair.dimension
    touched = [
        SparseRows(words, rows, torch.ones(len(rows), size)) for rows in map(torch.unique, named)
    ]
    tables = [torch.zeros(words, size) for _ in named]

    def all_reduce_tables() -> None:
        for table in tables:
            ranks.all_reduce(table)

    sparse = mean_seconds(lambda: all_reduce_rows(ranks, touched), task.steps)
    dense = mean_seconds(all_reduce_tables, task.steps)
    return AllReduce(sum(len(table.rows) for table in touched), sparse, dense)


def mean_seconds(work: Callable[[], object], times: int) -> float:
    """Of a call, after one to warm up."""
    work()
    start = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - start) / times


class TimeIsUp(Exception):  # noqa: N818 - not an error
    """Enough has been measured."""


def measure_training(ranks: ProcessGroup, task: Task) -> Speed:
    """Our own training loop, without its first step."""
    corpus, recipe = open_corpus(task.corpus), recipe_for(task)
    begun: list[tuple[float, float]] = []

    def count_steps() -> bool:
        begun.append((time.perf_counter(), time.process_time()))
        if len(begun) > task.steps:
            raise TimeIsUp
        return False

    with tempfile.TemporaryDirectory() as folder, suppress(TimeIsUp):
        run_context = RunContext(Path(folder), CPU, lambda _: None, count_steps, ranks)
        neighbours, start = random_neighbours(corpus, recipe), start_vectors(corpus, recipe)
        Trainer(corpus, recipe, start, neighbours, run_context).run()
    return Speed(*(last - first for first, last in zip(begun[0], begun[-1], strict=True)))


if __name__ == "__main__":
    main()

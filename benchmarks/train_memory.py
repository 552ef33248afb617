"""Training from a corpus larger than memory: triples a second with and without a bound on memory.

    python benchmarks/train_memory.py [--corpus-mb N] [--bound-mb N] [--seconds S] [--rounds N]

Each figure is of a process of its own, which begins with none of the corpus in memory. `reading`
makes batches and does not train on them: it goes through the corpus as fast as it can, so that
under a bound pages have to be let go all the time. `training` trains, on one core, with the recipe
`fast` on 20,000 words, in small batches. The order of blocks and triples is that of every run. A
bound has to leave room for what training needs with any corpus, some 900 MB here: the network,
two chunks of positions, and Python and torch themselves.
"""

import argparse
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

import machine
from memory_bound import Bound, memory_bound, peak_mb
from pair2vec.text.corpus import CorpusWriter, open_corpus
from pair2vec.text.vocabulary import BOUNDARY, SPECIAL_TOKENS, Vocabulary, WordCount
from pair2vec.training.recipes import fast
from pair2vec.training.trainer import RunContext, Trainer
from pair2vec.triples.epoch import TripleStream
from pair2vec.version import __version__
from random_corpus import SENTENCE, random_neighbours, start_vectors

WORDS = 20_000
DRAWN = 1_000_000 // SENTENCE
"""Sentences drawn at a time."""
BATCH = 600
CPU = torch.device("cpu")


class Task(NamedTuple):
    """What to measure."""

    kind: str
    corpus: Path
    seconds: float


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus-mb", type=int, default=2_500, help="of ids")
    parser.add_argument("--bound-mb", type=int, default=1_100)
    parser.add_argument("--seconds", type=float, default=20.0, help="for each figure")
    parser.add_argument("--rounds", type=int, default=3, help="of which the best counts")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        kind, corpus = arguments.measure
        print(json.dumps(MEASURES[kind](Path(corpus), arguments.seconds)))
        return
    print(f"{machine.describe()}, torch {torch.__version__}; one core is used")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "corpus"
        write_large_corpus(folder, arguments.corpus_mb)
        print(f"corpus of {arguments.corpus_mb:,} MB of ids, bound of {arguments.bound_mb:,} MB\n")
        for kind in MEASURES:
            compare(Task(kind, folder, arguments.seconds), arguments.bound_mb, arguments.rounds)


def compare(task: Task, bound_mb: int, rounds: int) -> None:
    """A line without a bound, one with it, and the ratio."""
    free, held, peak = 0.0, 0.0, None
    for _ in range(rounds):
        free = max(free, measured(task, Bound([])))
        with memory_bound(bound_mb) as bound:
            if bound is None:
                sys.exit("no bound can be had: neither systemd for this user nor a control group")
            held = max(held, measured(task, bound))
            peak = peak_mb(bound)
    used = f"; at most {peak:,.0f} MB in use" if peak else ""
    print(f"{task.kind:10} unbounded  {free:14,.0f} triples/s")
    print(
        f"{task.kind:10} bounded    {held:14,.0f} triples/s, ×{held / free:.2f}{used}", flush=True
    )


def measured(task: Task, bound: Bound) -> float:
    """Triples a second, in a new process."""
    forget(task.corpus)
    command = [sys.executable, __file__, "--measure", task.kind, str(task.corpus)]
    command += ["--seconds", f"{task.seconds}"]
    done = subprocess.run([*bound.prefix, *command], stdout=subprocess.PIPE, check=False)
    if done.returncode == -signal.SIGKILL:
        sys.exit(f"{task.kind}: killed, as it needs more memory than that")
    return float(json.loads(done.stdout))


def forget(corpus: Path) -> None:
    """Drop a corpus from the page cache."""
    for path in corpus.iterdir():
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def write_large_corpus(folder: Path, megabytes: int) -> None:
    """Ids drawn by 1 / rank, some sentences at a time."""
    shares = 1 / np.arange(1, WORDS + 1)
    shares /= shares.sum()
    counts = np.maximum(1, shares * 1e9).astype(np.int64).tolist()
    vocabulary = Vocabulary([WordCount(f"w{rank}", count) for rank, count in enumerate(counts)])
    rng = np.random.default_rng(0)
    folder.mkdir()
    with closing(CorpusWriter(folder, vocabulary)) as writer:
        ranks = rng.choice(WORDS, (DRAWN, SENTENCE), p=shares) + len(SPECIAL_TOKENS)
        ids = np.pad(ranks, ((0, 0), (0, 1)), constant_values=BOUNDARY).astype(writer.dtype)
        while writer.tokens * writer.dtype.itemsize < megabytes * 1_000_000:
            writer.append(rng.permutation(ids).ravel())
        facts = {"documents": 1, "text_tokens": writer.tokens, "words": WORDS, "invalid_bytes": 0}
        writer.finish(version=__version__, dropped=[], settings={}, sources=[], **facts)


class TimeIsUp(Exception):  # noqa: N818 - not an error
    """Enough has been measured."""


class Clock:
    """Called after each step; the first, which warms up, is not counted."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._times: list[float] = []

    def __call__(self) -> bool:
        """False, to go on; the end is an exception, lest a checkpoint be written."""
        self._times.append(time.perf_counter())
        if self._times[-1] - self._times[0] >= self._seconds:
            raise TimeIsUp
        return False

    def triples_per_second(self) -> float:
        """Over all but the first."""
        return BATCH * (len(self._times) - 1) / (self._times[-1] - self._times[0])


def measure_reading(corpus: Path, seconds: float) -> float:
    """Batches, one after another."""
    clock = Clock(seconds)
    with suppress(TimeIsUp):
        for _ in TripleStream(open_corpus(corpus), fast().triples).batches(BATCH):
            clock()
    return clock.triples_per_second()


def measure_training(folder: Path, seconds: float) -> float:
    """Our own training loop."""
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    clock, corpus = Clock(seconds), open_corpus(folder)
    recipe = replace(fast(), training=replace(fast().training, batch=BATCH))
    with tempfile.TemporaryDirectory() as scratch, suppress(TimeIsUp):
        run_context = RunContext(Path(scratch), CPU, lambda _: None, clock)
        neighbours, start = random_neighbours(corpus, recipe), start_vectors(corpus, recipe)
        Trainer(corpus, recipe, start, neighbours, run_context).run()
    return clock.triples_per_second()


MEASURES = {"reading": measure_reading, "training": measure_training}

if __name__ == "__main__":
    main()

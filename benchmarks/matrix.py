"""A matrix of runs that share their data: pairs × word inputs × seeds, several at a time.

A run whose result is there already is skipped, and one that was stopped goes on. Runs of a process
share what it has read.
"""

import argparse
import itertools
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple, TypeVar

import torch

from pair2vec.errors import Pair2vecError
from pair2vec.supervised.inputs import InputPlaces
from pair2vec.training.train import Interrupted

Ground = TypeVar("Ground")
"""What all runs share; another process is given a copy."""
Work = TypeVar("Work")


class Run(NamedTuple):
    """One network."""

    pairs: str
    """As its result calls them: those of its places, or the name of a pair model."""
    places: InputPlaces
    seed: int
    settings: tuple[str, ...]
    out: Path

    def is_done(self, results: Path) -> bool:
        """Whether its result is there."""
        return self._mark.exists() and (results / self._mark.read_text()).exists()

    def mark_done(self, result: Path) -> None:
        """Remember, beside the network, the file of its result."""
        self._mark.write_text(result.name)

    @property
    def _mark(self) -> Path:
        return self.out / "result.txt"


def add_options(parser: argparse.ArgumentParser, pairs: Sequence[str]) -> None:
    """Those of every matrix."""
    parser.add_argument("data", type=Path)
    parser.add_argument("--words", nargs="+", required=True)
    parser.add_argument("--pairs", nargs="*", choices=pairs, default=list(pairs))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--models", type=Path, required=True, help="for the networks")
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--pair-model", action="append", default=[], metavar="[NAME=]MODEL")
    parser.add_argument("--pair-vectors", help="of pair_distance, where the words are no file")
    parser.add_argument("--wordnet")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--minutes", type=float, help="stop then, with checkpoints")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")


def runs_of(arguments: argparse.Namespace, settings: Sequence[str]) -> Iterator[Run]:
    """Seed by seed, so that a matrix that is cut short has whole seeds."""
    models = dict(_named_model(text) for text in arguments.pair_model)
    rows = dict.fromkeys([*arguments.pairs, *models])
    for seed, words, pairs in itertools.product(arguments.seeds, arguments.words, rows):
        kind = "pair2vec" if pairs in models else pairs
        own = arguments.pair_vectors if Path(words).is_dir() else None
        places = InputPlaces(
            words=words,
            pairs=kind,  # type: ignore[arg-type]
            pair_model=models.get(pairs),
            wordnet=arguments.wordnet if kind == "wordnet" else None,
            pair_vectors=own if kind == "pair_distance" else None,
        )
        name = f"{pairs}-{Path(words).name}-seed{seed}"
        changes = (*settings, *arguments.settings)
        yield Run(pairs, places, seed, changes, arguments.models / name)


def _named_model(text: str) -> tuple[str, str]:
    name, equals, model = text.partition("=")
    return (name, model) if equals else ("pair2vec", text)


def matching(folder: Path, patterns: Sequence[str]) -> list[str]:
    """The files of a folder that patterns name."""
    found = [str(path) for pattern in patterns for path in sorted(folder.glob(pattern))]
    if not found:
        raise SystemExit(f"{folder}: has no file {' or '.join(patterns)}")
    return found


def threads_each(device: str, parallel: int) -> int:
    """Of torch in each process; 0 leaves it to torch."""
    cores = len(os.sched_getaffinity(0))
    return 0 if device != "cpu" else max(1, cores // parallel)


class Clock(NamedTuple):
    """When to stop, the same for all processes."""

    end: float

    @classmethod
    def of(cls, minutes: float | None) -> "Clock":
        """From now on."""
        return cls(float("inf") if minutes is None else time.time() + 60 * minutes)

    def is_over(self) -> bool:
        """Whether it is time."""
        return time.time() >= self.end


def attempted(carry_out: Callable[[], str], name: str, clock: Clock) -> str:
    """What a run says of itself, or why it did not end."""
    if clock.is_over():
        return f"{name}: not begun, or gone on with, in this time"
    try:
        return carry_out()
    except Interrupted:
        return f"{name}: stopped with a checkpoint; run the same again to go on"
    except Pair2vecError as error:
        return f"{name}: {error}"
    except torch.OutOfMemoryError:
        # The others can go on, with more room than before.
        return f"{name}: no GPU memory left; run the same again, with a lower --parallel"


def finished(
    work: Sequence[Work],
    carry_out: Callable[[Work], str],
    settle: Callable[[Ground], None],
    ground: Ground,
    parallel: int,
) -> Iterator[str]:
    """A line for each piece of work that is over; a process keeps `ground` for its next one."""
    if parallel == 1:
        settle(ground)
        yield from map(carry_out, work)
        return
    # Processes that each take all cores for a few sentences wait for each other most of the time.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    # A GPU that this process had touched could not be used in a fork of it.
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(parallel, fresh, settle, (ground,)) as pool:
        for done in as_completed([pool.submit(carry_out, one) for one in work]):
            yield done.result()


def report(lines: Iterator[str]) -> None:
    """Print lines as they come, with the time since the first was asked for."""
    start = time.perf_counter()
    for line in lines:
        print(f"{time.perf_counter() - start:7.0f} s  {line}", flush=True)

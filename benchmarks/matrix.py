"""A matrix of runs that share their data: pairs × word inputs × seeds, several at a time.

A run whose result is there already is skipped, and one that was stopped goes on. Data are read
once, and every process keeps what it has read for its next run.
"""

import argparse
import itertools
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch

from pair2vec.errors import Pair2vecError
from pair2vec.experiments.evaluation.results import RunResult
from pair2vec.experiments.tasks.inputs import InputPaths
from pair2vec.training.train import Interrupted

Work = TypeVar("Work")


class Task(NamedTuple):
    """What is learnt and measured; functions of modules, so that other processes find them."""

    train: Callable[..., Any]
    """As `train_classifier`."""
    settings_of: Callable[[Sequence[str], int], Any]
    """From assignments and a seed."""
    words_of: Callable[[Mapping[str, Any]], list[str]]
    """Those of the sets that a network is asked about."""
    ask: Callable[[Any, Mapping[str, Any]], Mapping[str, Any]]
    """What a trained network scores on sets."""
    result: Callable[[Mapping[str, Any], Any, Mapping[str, str]], RunResult]
    """Of a config, scores, and the files of the sets."""
    write: Callable[[Path, RunResult], Path]
    spell: Callable[[Any], str]
    """A set's score, in short."""


class Ground(NamedTuple):
    """What all runs share; another process is given a copy."""

    task: Task
    data: Any
    """To learn from, and to choose by."""
    sets: Mapping[str, Any]
    """To be asked about."""
    files: Mapping[str, str]
    """By set."""
    results: Path
    device: str
    threads: int
    """Of torch in each process; 0 leaves it to torch."""
    clock: "Clock"


class Run(NamedTuple):
    """One network."""

    pairs: str
    """As its result calls them: those of its places, or the name of a pair model."""
    places: InputPaths
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
    parser.add_argument("--pairs", nargs="*", type=_known_pairs, default=list(pairs))
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


def _known_pairs(text: str) -> str:
    """The same, if networks take such pairs."""
    try:
        return InputPaths(words="any", pairs=text).pairs
    except Pair2vecError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def runs_of(arguments: argparse.Namespace, settings: Sequence[str]) -> Iterator[Run]:
    """Seed by seed, so that a matrix that is cut short has whole seeds."""
    models = dict(_named_model(text) for text in arguments.pair_model)
    rows = dict.fromkeys([*arguments.pairs, *models])
    for seed, words, pairs in itertools.product(arguments.seeds, arguments.words, rows):
        kind = "pair2vec" if pairs in models else pairs
        own = arguments.pair_vectors if Path(words).is_dir() else None
        places = InputPaths(
            words=words,
            pairs=kind,
            pair_model=models.get(pairs),
            wordnet=arguments.wordnet if "wordnet" in kind else None,
            pair_vectors=own if "pair_distance" in kind else None,
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


def attempted(run: Callable[[], str], name: str, clock: Clock) -> str:
    """What a run says of itself, or why it did not end."""
    if clock.is_over():
        return f"{name}: not begun, or gone on with, in this time"
    try:
        return run()
    except Interrupted:
        return f"{name}: stopped with a checkpoint; run the same again to go on"
    except Pair2vecError as error:
        return f"{name}: {error}"
    except torch.OutOfMemoryError:
        # The others can go on, with more room than before.
        return f"{name}: no GPU memory left; run the same again, with a lower --parallel"


def finished(
    work: Sequence[Work], carry_out: Callable[[Work], str], ground: Ground, parallel: int
) -> Iterator[str]:
    """A line for each piece of work that is over."""
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


_ground: Ground | None = None


def settle(ground: Ground) -> None:
    """Keep what all runs of a process share."""
    global _ground
    _ground = ground


def settled() -> Ground:
    """What was kept."""
    assert _ground is not None
    return _ground


@cache
def asked_words() -> list[str]:
    """All words that a network is asked about."""
    return settled().task.words_of(settled().sets)


def carry_out(run: Run) -> str:
    """Train, ask, write; says how it went."""
    return attempted(lambda: _train_and_ask(run, settled()), run.out.name, settled().clock)


def _train_and_ask(run: Run, ground: Ground) -> str:
    start, task = time.perf_counter(), ground.task
    if ground.threads:
        torch.set_num_threads(ground.threads)
    trained = task.train(
        run.out,
        ground.data,
        run.places,
        task.settings_of(run.settings, run.seed),
        more_words=asked_words(),
        device=ground.device,
        resume=True,
        should_stop=ground.clock.is_over,
    )
    seconds = time.perf_counter() - start
    scores = task.ask(trained, ground.sets)
    result = task.result(trained.config, scores, ground.files)
    run.mark_done(task.write(ground.results, {**result, "pairs": run.pairs}))
    figures = ", ".join(f"{name} {task.spell(score)}" for name, score in scores.items())
    return (
        f"{run.out.name}: dev {trained.config['dev_score']:.2f}, {figures}; "
        f"{trained.config['epochs']} epochs in {seconds:.0f} s"
    )


def report(lines: Iterator[str]) -> None:
    """Print lines as they come, with the time since the first was asked for."""
    start = time.perf_counter()
    for line in lines:
        print(f"{time.perf_counter() - start:7.0f} s  {line}", flush=True)

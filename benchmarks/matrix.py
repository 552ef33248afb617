"""A matrix of training runs that share their data: pair sources × word inputs × seeds.

For `nli.py` and `qa_matrix.py`.

A run whose result is there already is skipped, and one that was stopped is resumed. Data are read
once, and every worker process keeps what it has read for its next run.
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
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import torch
from rich.console import Console, RenderableType

import gpu
from pair2vec.errors import Pair2vecError
from pair2vec.experiments.evaluation.results import RunResult, write_result
from pair2vec.experiments.tasks.inputs import InputPaths
from pair2vec.runtime.devices import find_device
from pair2vec.training.train import Interrupted

Work = TypeVar("Work")

_WHITENING = "pairs.whitening"


class Task(NamedTuple):
    """A supervised task; functions of modules, so that they can be sent to other processes."""

    train: Callable[..., Any]
    """As `train_classifier`."""
    settings: Callable[[Sequence[str], int], Any]
    """From assignments and a seed."""
    words: Callable[[Mapping[str, Any]], list[str]]
    """Those of the test sets."""
    evaluate: Callable[[Any, Mapping[str, Any]], Mapping[str, Any]]
    """A trained network's scores on the test sets."""
    result: Callable[[Mapping[str, Any], Any, Mapping[str, str]], RunResult]
    """From a config, scores, and the files of the test sets."""
    format_score: Callable[[Any], str]
    """A test set's score, in short."""


class Shared(NamedTuple):
    """What all runs share; other processes get a copy."""

    task: Task
    data: Any
    """To train on, and to select weights by."""
    sets: Mapping[str, Any]
    """Test sets."""
    files: Mapping[str, str]
    """By test set."""
    results: Path
    device: str
    threads: int
    """Of torch in each process; 0 leaves it to torch."""
    deadline: float
    """In the time of `time.time`, the same for all processes."""

    def is_over(self) -> bool:
        return time.time() >= self.deadline


class Row(NamedTuple):
    """A row of its own in the tables, which is more than a source of pairs."""

    pairs: str
    """The source."""
    settings: tuple[str, ...]


class Run(NamedTuple):
    """One network."""

    pairs: str
    """In its result: those of its paths, or the name of a pair model."""
    paths: InputPaths
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


def parser(
    description: str | None,
    pairs: Sequence[str],
    data: Mapping[str, Sequence[str]],
    rows: Mapping[str, Row] = MappingProxyType({}),
) -> argparse.ArgumentParser:
    """The options of every matrix.

    Args:
        description: Of the program.
        pairs: The pair sources and rows of the matrix, unless others are given.
        data: By ``train``, ``dev`` and ``test``, the files in the data folder.
        rows: By name, those that ``--pairs`` takes beside sources.
    """

    def known(text: str) -> str:
        try:
            return text if text in rows else InputPaths(words="any", pairs=text).pairs
        except Pair2vecError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    options = argparse.ArgumentParser(description=description)
    options.set_defaults(rows=rows)
    options.add_argument("data", type=Path)
    options.add_argument("--words", nargs="+", required=True)
    options.add_argument("--pairs", nargs="*", type=known, default=list(pairs))
    options.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    options.add_argument("--models", type=Path, required=True, help="for the networks")
    options.add_argument("--results", type=Path, required=True)
    options.add_argument("--parallel", type=int, default=1)
    options.add_argument("--pair-model", action="append", default=[], metavar="[NAME=]MODEL")
    options.add_argument("--pair-vectors", help="of pair_distance: what pair2vec was trained from")
    options.add_argument(
        "--whitening", nargs="+", type=float, help="of pair vectors: a run with each"
    )
    options.add_argument("--wordnet")
    options.add_argument("--device", default="auto")
    options.add_argument("--minutes", type=float, help="stop then, with checkpoints")
    options.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    for name, patterns in data.items():
        options.add_argument(f"--{name}", nargs="+", default=list(patterns), metavar="PATTERN")
    return options


def run_matrix(
    arguments: argparse.Namespace,
    task: Task,
    read: Callable[[Sequence[str], Sequence[str], Sequence[str]], tuple[Any, Mapping[str, Any]]],
    settings: Sequence[str],
    more_work: Callable[[Shared], Sequence[Any]] = lambda _: (),
    execute: Callable[[Any], str] | None = None,
) -> Shared:
    """Run what is missing, and print how each run went.

    Args:
        arguments: As `parser` parses them.
        task: What is trained.
        read: From the files of train, dev and test to the data and the test sets.
        settings: Of all runs, before those of the arguments.
        more_work: Other work for `execute`.
        execute: Does a run or other work, and returns a line on it.
    """
    deadline = float("inf") if arguments.minutes is None else time.time() + 60 * arguments.minutes
    device = find_device(arguments.device)
    print(gpu.describe(device), flush=True)
    names = (arguments.train, arguments.dev, arguments.test)
    train, dev, test = (_matching(arguments.data, patterns) for patterns in names)
    data, sets = read(train, dev, test)
    files = dict(zip(sets, test, strict=True))
    threads = _threads_each(str(device), arguments.parallel)
    shared = Shared(task, data, sets, files, arguments.results, str(device), threads, deadline)
    runs = [run for run in _runs(arguments, settings) if not run.is_done(shared.results)]
    print(f"{len(runs)} runs to do, {arguments.parallel} at a time", flush=True)
    work = [*runs, *more_work(shared)]
    start = time.perf_counter()
    for line in _finished(work, execute or train_and_evaluate, shared, arguments.parallel):
        print(f"{time.perf_counter() - start:7.0f} s  {line}", flush=True)
    return shared


def print_tables(tables: Sequence[RenderableType]) -> None:
    """Tables of all results, as wide as $COLUMNS."""
    console = Console(highlight=False, width=int(os.environ.get("COLUMNS", "160")))
    for table in tables:
        console.print(table)


def _runs(arguments: argparse.Namespace, settings: Sequence[str]) -> Iterator[Run]:
    """Seed by seed, so that a matrix that is cut short has whole seeds."""
    models = dict(_named_model(text) for text in arguments.pair_model)
    rows = dict.fromkeys([*arguments.pairs, *models])
    for seed, words, pairs in itertools.product(arguments.seeds, arguments.words, rows):
        source, own = arguments.rows.get(pairs, Row("pair2vec" if pairs in models else pairs, ()))
        paths = InputPaths(
            words=words,
            pairs=source,
            pair_model=models.get(pairs),
            wordnet=arguments.wordnet if "wordnet" in source else None,
            pair_vectors=arguments.pair_vectors if "pair_distance" in source else None,
        )
        for whitening in _whitenings(arguments, paths):
            chosen = [] if whitening is None else [f"{_WHITENING}={whitening}"]
            changes = (*settings, *own, *arguments.settings, *chosen)
            end = "" if whitening is None else f"-whitening{whitening:g}"
            name = f"{pairs}-{Path(words).name}-seed{seed}{end}"
            yield Run(pairs, paths, seed, changes, arguments.models / name)


def _whitenings(arguments: argparse.Namespace, paths: InputPaths) -> list[float | None]:
    """Those of a row: none where there are no pair vectors to whiten."""
    has_vectors = {"pair2vec", "pair_distance"} & set(paths.pair_sources)
    return arguments.whitening or [None] if has_vectors else [None]


def _named_model(text: str) -> tuple[str, str]:
    name, equals, model = text.partition("=")
    return (name, model) if equals else ("pair2vec", text)


def _matching(folder: Path, patterns: Sequence[str]) -> list[str]:
    """The file of a folder that each pattern names.

    One pattern for several files might train on the same examples twice.
    """
    paths = [sorted(folder.glob(pattern)) for pattern in patterns]
    for pattern, found in zip(patterns, paths, strict=True):
        if len(found) != 1:
            names = ", ".join(path.name for path in found) or "no file"
            raise SystemExit(f"{folder}: {pattern} names {names}; name one file by each pattern")
    return [str(path) for (path,) in paths]


def _threads_each(device: str, parallel: int) -> int:
    """Of torch in each process; 0 leaves it to torch."""
    cores = len(os.sched_getaffinity(0))
    return 0 if device != "cpu" else max(1, cores // parallel)


def _finished(
    work: Sequence[Work], execute: Callable[[Work], str], shared: Shared, parallel: int
) -> Iterator[str]:
    """A line for each run that has ended."""
    if parallel == 1:
        _set_shared(shared)
        yield from map(execute, work)
        return
    # Tokenisers that each use all cores for a few sentences wait for each other most of the time.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    # A GPU that this process had touched could not be used in a fork of it.
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(parallel, spawn, _set_shared, (shared,)) as pool:
        for done in as_completed([pool.submit(execute, item) for item in work]):
            yield done.result()


_shared: Shared | None = None


def _set_shared(shared: Shared) -> None:
    global _shared
    _shared = shared


def get_shared() -> Shared:
    """What this process shares with all others."""
    assert _shared is not None
    return _shared


@cache
def _test_words() -> list[str]:
    return get_shared().task.words(get_shared().sets)


def train_and_evaluate(run: Run) -> str:
    """Train a network, evaluate it, write its result; returns a line on it, or why it failed."""
    shared, name = get_shared(), run.out.name
    if shared.is_over():
        return f"{name}: not started, or not resumed, in this time"
    try:
        return _train_and_evaluate(run, shared)
    except Interrupted:
        return f"{name}: stopped with a checkpoint; run the same again to resume"
    except Pair2vecError as error:
        return f"{name}: {error}"
    except torch.OutOfMemoryError:
        # The others can go on, with more memory than before.
        return f"{name}: out of GPU memory; run the same again, with a lower --parallel"


def _train_and_evaluate(run: Run, shared: Shared) -> str:
    start, task = time.perf_counter(), shared.task
    if shared.threads:
        torch.set_num_threads(shared.threads)
    trained = task.train(
        run.out,
        shared.data,
        run.paths,
        task.settings(run.settings, run.seed),
        more_words=_test_words(),
        device=shared.device,
        resume=True,
        should_stop=shared.is_over,
    )
    seconds = time.perf_counter() - start
    scores = task.evaluate(trained, shared.sets)
    result = {**task.result(trained.config, scores, shared.files), "pairs": run.pairs}
    run.mark_done(write_result(shared.results, result))
    figures = ", ".join(f"{name} {task.format_score(score)}" for name, score in scores.items())
    return (
        f"{run.out.name}: dev {trained.config['dev_score']:.2f}, {figures}; "
        f"{trained.config['epochs']} epochs in {seconds:.0f} s"
    )

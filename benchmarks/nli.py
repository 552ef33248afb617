"""What pairs of words are worth to NLI: all combinations of pairs, word inputs and seeds.

    PYTHONPATH=src python3 benchmarks/nli.py DATA --words GLOVE [ENCODER...] --models FOLDER
        --results FOLDER [--pairs none wordnet pair_distance pair2vec] [--seeds 0 1 2]
        [--parallel 4] [--pair-model NAME] [--pair-vectors FILE] [--wordnet FOLDER]
        [--set KEY=VALUE]... [--train PATTERN...] [--dev PATTERN...] [--test PATTERN...]

DATA is a folder of jsonl files, compressed or not. Each run trains a classifier under `--models`,
asks it about the test sets, and leaves a file in `--results`; a run whose file is there already is
skipped, and one that was stopped goes on. `--parallel` runs share a GPU, or the cores of a CPU. The
rule that asks WordNet alone is one more run, on Breaking NLI. The tables of all results are printed
at the end.

Files are read once, and every process keeps what it has read for its next run.
"""

import argparse
import itertools
import multiprocessing
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from typing import NamedTuple

import torch
from rich.console import Console

import gpu
from pair2vec.display.nli_table import summary_tables
from pair2vec.errors import Pair2vecError
from pair2vec.evaluation.nli import examine, read_sets, wordnet_labeller
from pair2vec.evaluation.nli_results import (
    read_results,
    result_of_classifier,
    result_of_rule,
    write_result,
)
from pair2vec.evaluation.nli_summary import PAIRS, summaries
from pair2vec.nli.data import NliData
from pair2vec.nli.examples import NliSet, distinct_words
from pair2vec.supervised.inputs import InputPlaces
from pair2vec.nli.settings import settings_of
from pair2vec.nli.training import train_classifier
from pair2vec.training.devices import find_device
from pair2vec.wordnet.dictionary import WordNet

FAST = ("training.batch=256", "training.checkpoint_epochs=0")
"""For a GPU; what `--set` says prevails."""


class Ground(NamedTuple):
    """What all runs share."""

    data: NliData
    sets: dict[str, NliSet]
    files: dict[str, str]
    results: Path
    device: str
    threads: int
    """Of torch in each process."""


class Run(NamedTuple):
    """One classifier."""

    places: InputPlaces
    seed: int
    settings: tuple[str, ...]
    out: Path

    @property
    def mark(self) -> Path:
        """Beside the classifier: names the result file of a run that is over."""
        return self.out / "result.txt"


class Rule(NamedTuple):
    """WordNet alone, which takes no GPU; asked about Breaking NLI, as in the paper."""

    wordnet: str | None


_ground: Ground | None = None


def main() -> None:
    """Run what is missing, and print the tables."""
    arguments = parse()
    device = find_device(arguments.device)
    print(gpu.describe(device), flush=True)
    ground = open_ground(arguments, str(device))
    runs = [run for run in runs_of(arguments) if not is_done(run, ground.results)]
    print(f"{len(runs)} runs to do, {arguments.parallel} at a time", flush=True)
    start = time.perf_counter()
    for line in finished([*runs, Rule(arguments.wordnet)], ground, arguments.parallel):
        print(f"{time.perf_counter() - start:7.0f} s  {line}", flush=True)
    console = Console(highlight=False, width=int(os.environ.get("COLUMNS", "160")))
    for summary in summaries(read_results(ground.results)):
        console.print(summary_tables(summary))


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--words", nargs="+", required=True)
    parser.add_argument("--pairs", nargs="+", choices=PAIRS, default=list(PAIRS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--models", type=Path, required=True, help="for classifiers")
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--pair-model")
    parser.add_argument("--pair-vectors", help="of pair_distance, where the words are no file")
    parser.add_argument("--wordnet")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--train", nargs="+", default=["snli_train*", "multinli_train*"])
    parser.add_argument("--dev", nargs="+", default=["snli_dev*"])
    parser.add_argument(
        "--test", nargs="+", default=["snli_test*", "multinli_dev_matched*", "breaking_nli*"]
    )
    parser.add_argument("--limit", type=int, help="learn from this many examples only, to try out")
    return parser.parse_args()


def open_ground(arguments: argparse.Namespace, device: str) -> Ground:
    """Read all examples."""
    start = time.perf_counter()
    train, dev, test = (
        matching(arguments.data, patterns)
        for patterns in (arguments.train, arguments.dev, arguments.test)
    )
    data, sets = NliData.read(train, dev), read_sets(test)
    if arguments.limit:
        # Every so many, to have some of each file.
        step = max(1, len(data.train.examples) // arguments.limit)
        names = ", ".join(data.train.files)
        data.train.examples[:] = data.train.examples[::step]
        data.train.files.clear()
        data.train.files[f"one in {step} of {names}"] = len(data.train.examples)
    files = dict(zip(sets, test, strict=True))
    print(
        f"{len(data.train.examples):,} examples to learn from, {len(data.dev.examples):,} to "
        f"choose by, read in {time.perf_counter() - start:.1f} s"
    )
    cores = len(os.sched_getaffinity(0))
    threads = 0 if device != "cpu" else max(1, cores // arguments.parallel)
    return Ground(data, sets, files, arguments.results, device, threads)


def matching(folder: Path, patterns: Sequence[str]) -> list[str]:
    """The files of a folder that patterns name."""
    found = [str(path) for pattern in patterns for path in sorted(folder.glob(pattern))]
    if not found:
        raise SystemExit(f"{folder}: has no file {' or '.join(patterns)}")
    return found


def runs_of(arguments: argparse.Namespace) -> Iterator[Run]:
    """Seed by seed, so that a matrix that is cut short has whole seeds."""
    settings = (*FAST, *arguments.settings)
    combinations = itertools.product(arguments.seeds, arguments.words, arguments.pairs)
    for seed, words, pairs in combinations:
        own = arguments.pair_vectors if Path(words).is_dir() else None
        places = InputPlaces(
            words=words,
            pairs=pairs,
            pair_model=arguments.pair_model if pairs == "pair2vec" else None,
            wordnet=arguments.wordnet if pairs == "wordnet" else None,
            pair_vectors=own if pairs == "pair_distance" else None,
        )
        name = f"{pairs}-{Path(words).name}-seed{seed}"
        yield Run(places, seed, settings, arguments.models / name)


def is_done(run: Run, results: Path) -> bool:
    """Whether its result is there."""
    return run.mark.exists() and (results / run.mark.read_text()).exists()


def ask_rule(ground: Ground, wordnet: str | None) -> str:
    """Says how it went."""
    names = [name for name in ground.sets if name == "breaking_nli"]
    try:
        labeller = wordnet_labeller(WordNet.open(wordnet))
    except Pair2vecError as error:
        return f"the WordNet rule is left out: {error}"
    scores = examine({name: ground.sets[name] for name in names}, labeller)
    files = {name: ground.files[name] for name in names}
    write_result(ground.results, result_of_rule(scores, files))
    return f"WordNet rule: {', '.join(f'{n} {s.whole.right:.2f}' for n, s in scores.items())}"


def finished(runs: Sequence[Run | Rule], ground: Ground, parallel: int) -> Iterator[str]:
    """A line for each run that is over."""
    if parallel == 1:
        settle(ground)
        yield from map(carry_out, runs)
        return
    # A GPU that this process had touched could not be used in a fork of it.
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(parallel, fresh, settle, (ground,)) as pool:
        for done in as_completed([pool.submit(carry_out, run) for run in runs]):
            yield done.result()


def settle(ground: Ground) -> None:
    """Keep what all runs of a process share."""
    global _ground
    _ground = ground


@cache
def asked_words() -> list[str]:
    """All words that a classifier is asked about."""
    assert _ground is not None
    return distinct_words(*(found.examples for found in _ground.sets.values()))


def carry_out(run: Run | Rule) -> str:
    """Train, ask, write; says how it went."""
    assert _ground is not None
    if isinstance(run, Rule):
        return ask_rule(_ground, run.wordnet)
    start = time.perf_counter()
    if _ground.threads:
        torch.set_num_threads(_ground.threads)
    try:
        classifier = train_classifier(
            run.out,
            _ground.data,
            run.places,
            settings_of(run.settings, run.seed),
            more_words=asked_words(),
            device=_ground.device,
            resume=True,
        )
    except Pair2vecError as error:
        return f"{run.out.name}: {error}"
    trained = time.perf_counter() - start
    scores = examine(_ground.sets, lambda examples: classifier.predict(examples).labels)
    result = result_of_classifier(classifier.config, scores, _ground.files)
    run.mark.write_text(write_result(_ground.results, result).name)
    figures = ", ".join(f"{name} {score.whole.right:.2f}" for name, score in scores.items())
    return (
        f"{run.out.name}: dev {classifier.config['dev_score']:.2f}, {figures}; "
        f"{classifier.config['epochs']} epochs in {trained:.0f} s"
    )


if __name__ == "__main__":
    main()

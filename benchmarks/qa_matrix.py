"""What pairs of words are worth to question answering: all combinations of pairs, words and seeds.

    PYTHONPATH=src python3 benchmarks/qa_matrix.py DATA --words GLOVE [ENCODER...] --models FOLDER
        --results FOLDER [--pairs none pair2vec pair_distance wordnet] [--seeds 0 1]
        [--pair-model NAME=FOLDER]... [--parallel 2] [--minutes 8] [--set KEY=VALUE]...
        [--train PATTERN...] [--dev PATTERN...] [--test PATTERN...]

DATA is a folder with SQuAD 2.0 and the adversarial sets, compressed or not. Each run trains an
answerer under `--models`, asks it about the test sets, and leaves a file in `--results`; a run
whose file is there already is skipped. `--minutes` stops all runs with checkpoints: the same
command goes on with them. A pair model that is given a name, as in ``multiply=models/multiply``, is
a row of its own, whose results have the name as their pairs; without one, it is that of pair2vec.

The tables of all results are printed at the end.
"""

import argparse
import os
import time
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

import torch
from rich.console import Console

import gpu
import matrix
from pair2vec.display.squad_table import squad_tables
from pair2vec.evaluation.results import read_results
from pair2vec.evaluation.squad_results import TASK, result_of_reader, write_result
from pair2vec.evaluation.squad_sets import examine, read_sets
from pair2vec.evaluation.squad_summary import summaries
from pair2vec.qa.data import QaData, words_of
from pair2vec.qa.examples import QaSet
from pair2vec.qa.settings import QaSettings, settings_of
from pair2vec.qa.training import train_answerer
from pair2vec.training.devices import find_device

PAIRS = ("none", "pair2vec", "pair_distance", "wordnet")
FAST = ("training.checkpoint_epochs=0",)
"""A run that is stopped writes a checkpoint anyway; what `--set` says prevails."""


class Ground(NamedTuple):
    """What all runs share."""

    data: QaData
    sets: dict[str, QaSet]
    files: dict[str, str]
    results: Path
    device: str
    threads: int
    clock: matrix.Clock


_ground: Ground | None = None


def main() -> None:
    """Run what is missing, and print the tables."""
    arguments = parse()
    device = find_device(arguments.device)
    print(gpu.describe(device), flush=True)
    ground = open_ground(arguments, str(device))
    runs = [run for run in matrix.runs_of(arguments, FAST) if not run.is_done(ground.results)]
    print(f"{len(runs)} runs to do, {arguments.parallel} at a time", flush=True)
    matrix.report(matrix.finished(runs, carry_out, settle, ground, arguments.parallel))
    if not ground.results.is_dir():
        return
    console = Console(highlight=False, width=int(os.environ.get("COLUMNS", "160")))
    for summary in summaries(read_results(ground.results, TASK)):
        console.print(squad_tables(summary))


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__)
    matrix.add_options(parser, PAIRS)
    parser.set_defaults(pairs=["none", "pair2vec"], seeds=[0, 1])
    parser.add_argument("--train", nargs="+", default=["train-v2.0*"])
    parser.add_argument("--dev", nargs="+", default=["dev-v2.0*"])
    parser.add_argument("--test", nargs="+", default=["dev-v2.0*", "add_sent*", "add_one_sent*"])
    return parser.parse_args()


def open_ground(arguments: argparse.Namespace, device: str) -> Ground:
    """Read all questions."""
    start, clock = time.perf_counter(), matrix.Clock.of(arguments.minutes)
    train, dev, test = (
        matrix.matching(arguments.data, patterns)
        for patterns in (arguments.train, arguments.dev, arguments.test)
    )
    data, sets = QaData.read(train, dev), read_sets([Path(path) for path in test])
    print(
        f"{len(data.train):,} questions to learn from, {len(data.dev.questions):,} to choose by, "
        f"read in {time.perf_counter() - start:.1f} s"
    )
    files = dict(zip(sets, test, strict=True))
    threads = matrix.threads_each(device, arguments.parallel)
    return Ground(data, sets, files, arguments.results, device, threads, clock)


def settle(ground: Ground) -> None:
    """Keep what all runs of a process share."""
    global _ground
    _ground = ground


@cache
def asked_words() -> list[str]:
    """All words that an answerer is asked about."""
    assert _ground is not None
    return words_of(*_ground.sets.values())


def carry_out(run: matrix.Run) -> str:
    """Train, ask, write; says how it went."""
    ground = _ground
    assert ground is not None
    return matrix.attempted(lambda: train_and_ask(run, ground), run.out.name, ground.clock)


def train_and_ask(run: matrix.Run, ground: Ground) -> str:
    """Says how it went."""
    start = time.perf_counter()
    if ground.threads:
        torch.set_num_threads(ground.threads)
    answerer = train_answerer(
        run.out,
        ground.data,
        run.places,
        settings_of(run.settings, run.seed),
        more_words=asked_words(),
        device=ground.device,
        resume=True,
        should_stop=ground.clock.is_over,
    )
    trained = time.perf_counter() - start
    scores = examine(ground.sets, answerer.predict)
    result = result_of_reader(answerer.config, asdict(QaSettings()), scores, ground.files)
    run.mark_done(write_result(ground.results, {**result, "pairs": run.pairs}))
    figures = ", ".join(f"{name} {score.em:.2f}/{score.f1:.2f}" for name, score in scores.items())
    return (
        f"{run.out.name}: dev {answerer.config['dev_score']:.2f}, {figures}; "
        f"{answerer.config['epochs']} epochs in {trained:.0f} s"
    )


if __name__ == "__main__":
    main()

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
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

import gpu
import matrix
from pair2vec.experiments.evaluation.results import RunResult, read_results
from pair2vec.experiments.qa.answerer import Answerer, QaSettings, qa_settings
from pair2vec.experiments.qa.examples import QaSet
from pair2vec.experiments.qa.results import QA_TASK, result_of_reader, write_squad_result
from pair2vec.experiments.qa.squad import SetScores, evaluate_squad, read_squad_sets
from pair2vec.experiments.qa.tables import qa_summaries, squad_tables
from pair2vec.experiments.qa.train import QaData, question_words, train_answerer
from pair2vec.runtime.devices import find_device

PAIRS = ("none", "pair2vec", "pair_distance", "wordnet")
FAST = ("training.checkpoint_epochs=0",)
"""A run that is stopped writes a checkpoint anyway; what `--set` says prevails."""


def main() -> None:
    """Run what is missing, and print the tables."""
    arguments = parse()
    device = find_device(arguments.device)
    print(gpu.describe(device), flush=True)
    ground = open_ground(arguments, str(device))
    runs = [run for run in matrix.runs_of(arguments, FAST) if not run.is_done(ground.results)]
    print(f"{len(runs)} runs to do, {arguments.parallel} at a time", flush=True)
    matrix.report(matrix.finished(runs, matrix.carry_out, ground, arguments.parallel))
    if not ground.results.is_dir():
        return
    console = Console(highlight=False, width=int(os.environ.get("COLUMNS", "160")))
    for summary in qa_summaries(read_results(ground.results, QA_TASK)):
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


def open_ground(arguments: argparse.Namespace, device: str) -> matrix.Ground:
    """Read all questions."""
    start, clock = time.perf_counter(), matrix.Clock.of(arguments.minutes)
    train, dev, test = (
        matrix.matching(arguments.data, patterns)
        for patterns in (arguments.train, arguments.dev, arguments.test)
    )
    data, sets = QaData.read(train, dev), read_squad_sets([Path(path) for path in test])
    print(
        f"{len(data.train):,} questions to learn from, {len(data.dev.questions):,} to choose by, "
        f"read in {time.perf_counter() - start:.1f} s"
    )
    files = dict(zip(sets, test, strict=True))
    threads = matrix.threads_each(device, arguments.parallel)
    task = matrix.Task(train_answerer, qa_settings, words, ask, result, write_squad_result, spell)
    return matrix.Ground(task, data, sets, files, arguments.results, device, threads, clock)


def words(sets: Mapping[str, QaSet]) -> list[str]:
    """All that occur."""
    return question_words(*sets.values())


def ask(answerer: Answerer, sets: Mapping[str, QaSet]) -> Mapping[str, SetScores]:
    """What it scores."""
    return evaluate_squad(sets, answerer.predict)


def result(
    config: Mapping[str, Any], scores: Mapping[str, SetScores], files: Mapping[str, str]
) -> RunResult:
    """What is kept of a run."""
    return result_of_reader(config, asdict(QaSettings()), scores, files)


def spell(score: SetScores) -> str:
    """EM and F1."""
    return f"{score.em:.2f}/{score.f1:.2f}"


if __name__ == "__main__":
    main()

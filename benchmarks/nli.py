"""What pairs of words are worth to NLI: all combinations of pairs, word inputs and seeds.

    PYTHONPATH=src python3 benchmarks/nli.py DATA --words GLOVE [ENCODER...] --models FOLDER
        --results FOLDER [--pairs none wordnet pair_distance pair2vec pair2vec+wordnet]
        [--seeds 0 1 2] [--parallel 4] [--pair-model [NAME=]MODEL]... [--pair-vectors FILE]
        [--wordnet FOLDER] [--minutes N] [--set KEY=VALUE]... [--train PATTERN...]
        [--dev PATTERN...] [--test PATTERN...]

DATA is a folder of jsonl files, compressed or not. Each run trains a classifier under `--models`,
asks it about the test sets, and leaves a file in `--results`; a run whose file is there already is
skipped, and one that was stopped goes on. `--parallel` runs share a GPU, or the cores of a CPU. The
rule that asks WordNet alone is one more run, on Breaking NLI. The tables of all results are printed
at the end.
"""

import argparse
import os
import time
from collections.abc import Mapping
from typing import NamedTuple

from rich.console import Console

import gpu
import matrix
from pair2vec.errors import Pair2vecError
from pair2vec.experiments.nli.classifier import Classifier, nli_settings
from pair2vec.experiments.nli.evaluate import (
    SetAccuracy,
    evaluate_nli,
    read_nli_sets,
    wordnet_labeller,
)
from pair2vec.experiments.nli.examples import NliSet, distinct_words
from pair2vec.experiments.nli.results import (
    read_nli_results,
    result_of_classifier,
    result_of_rule,
    write_nli_result,
)
from pair2vec.experiments.nli.tables import BEYOND, PAIRS, nli_summaries, summary_tables
from pair2vec.experiments.nli.train import NliData, train_classifier
from pair2vec.runtime.devices import find_device
from pair2vec.wordnet.dictionary import WordNet

FAST = ("training.batch=256", "training.checkpoint_epochs=0")
"""For a GPU; what `--set` says prevails."""


_SET_OF_THE_RULE = "breaking_nli"
"""The one set that the paper has of it."""


class Rule(NamedTuple):
    """WordNet alone, which takes no GPU."""

    wordnet: str | None


def main() -> None:
    """Run what is missing, and print the tables."""
    arguments = parse()
    device = find_device(arguments.device)
    print(gpu.describe(device), flush=True)
    ground = open_ground(arguments, str(device))
    runs = [run for run in matrix.runs_of(arguments, FAST) if not run.is_done(ground.results)]
    print(f"{len(runs)} runs to do, {arguments.parallel} at a time", flush=True)
    rules = [Rule(arguments.wordnet)] if _SET_OF_THE_RULE in ground.sets else []
    work: list[matrix.Run | Rule] = [*runs, *rules]
    matrix.report(matrix.finished(work, carry_out, ground, arguments.parallel))
    console = Console(highlight=False, width=int(os.environ.get("COLUMNS", "160")))
    for summary in nli_summaries(read_nli_results(ground.results)):
        console.print(summary_tables(summary))


def parse() -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__)
    matrix.add_options(parser, (*PAIRS, *BEYOND))
    parser.add_argument("--train", nargs="+", default=["snli_train*", "multinli_train*"])
    parser.add_argument("--dev", nargs="+", default=["snli_dev*"])
    parser.add_argument(
        "--test", nargs="+", default=["snli_test*", "multinli_dev_matched*", "breaking_nli*"]
    )
    parser.add_argument("--limit", type=int, help="learn from this many examples only, to try out")
    return parser.parse_args()


def open_ground(arguments: argparse.Namespace, device: str) -> matrix.Ground:
    """Read all examples."""
    start, clock = time.perf_counter(), matrix.Clock.of(arguments.minutes)
    train, dev, test = (
        matrix.matching(arguments.data, patterns)
        for patterns in (arguments.train, arguments.dev, arguments.test)
    )
    data, sets = NliData.read(train, dev), read_nli_sets(test)
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
    threads = matrix.threads_each(device, arguments.parallel)
    task = matrix.Task(
        train_classifier, nli_settings, words, ask, result_of_classifier, write_nli_result, spell
    )
    return matrix.Ground(task, data, sets, files, arguments.results, device, threads, clock)


def carry_out(run: matrix.Run | Rule) -> str:
    """Says how it went."""
    if isinstance(run, Rule):
        return ask_rule(matrix.settled(), run.wordnet)
    return matrix.carry_out(run)


def ask_rule(ground: matrix.Ground, wordnet: str | None) -> str:
    """Says how it went."""
    try:
        labeller = wordnet_labeller(WordNet.open(wordnet))
    except Pair2vecError as error:
        return f"the WordNet rule is left out: {error}"
    name = _SET_OF_THE_RULE
    scores = evaluate_nli({name: ground.sets[name]}, labeller)
    write_nli_result(ground.results, result_of_rule(scores, {name: ground.files[name]}))
    return f"WordNet rule: {name} {spell(scores[name])}"


def words(sets: Mapping[str, NliSet]) -> list[str]:
    """All that occur."""
    return distinct_words(*(found.examples for found in sets.values()))


def ask(classifier: Classifier, sets: Mapping[str, NliSet]) -> Mapping[str, SetAccuracy]:
    """What it scores."""
    return evaluate_nli(sets, lambda examples: classifier.predict(examples).labels)


def spell(score: SetAccuracy) -> str:
    """Right labels in percent."""
    return f"{score.whole.right:.2f}"


if __name__ == "__main__":
    main()

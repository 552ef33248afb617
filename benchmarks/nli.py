"""What relation vectors of word pairs are worth to NLI: pair sources × word inputs × seeds.

    PYTHONPATH=src python3 benchmarks/nli.py DATA --words GLOVE [ENCODER...] --models FOLDER
        --results FOLDER [--pairs none wordnet kim pair_distance pair2vec pair2vec+wordnet]
        [--seeds 0 1 2] [--parallel 4] [--pair-model [NAME=]MODEL]... [--pair-vectors FILE]
        [--wordnet FOLDER] [--minutes N] [--set KEY=VALUE]... [--train PATTERN...]
        [--dev PATTERN...] [--test PATTERN...]

DATA is a folder of jsonl files, compressed or not, of which each pattern names one. The control on
class-balanced examples, which `balance_nli.py` makes, is

    benchmarks/nli.py DATA ... --train snli_train.balanced* multinli_train.balanced*
        --pairs none wordnet pair2vec

Each run trains a classifier under `--models`,
evaluates it on the test sets, and leaves a file in `--results`; a run whose file is there already
is skipped, and one that was stopped is resumed. `--parallel` runs share a GPU, or the cores of a
CPU. The WordNet rule is one more run, on Breaking NLI. The tables of all results are printed at the
end.
"""

import argparse
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matrix
from pair2vec.errors import Pair2vecError
from pair2vec.experiments.evaluation.results import write_result
from pair2vec.experiments.nli.classifier import Classifier, nli_settings
from pair2vec.experiments.nli.evaluate import (
    KIM,
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
)
from pair2vec.experiments.nli.tables import (
    EXTRA_PAIRS,
    PAPER_PAIRS,
    nli_summaries,
    summary_tables,
)
from pair2vec.experiments.nli.train import NliData, train_classifier
from pair2vec.wordnet.dictionary import WordNet

FAST = ("training.batch=256", "training.checkpoint_epochs=0")
"""For a GPU; what `--set` says prevails."""

FILES = {
    "train": ["snli_train.union.jsonl*", "multinli_train.union.jsonl*"],
    "dev": ["snli_dev*"],
    "test": ["snli_test*", "multinli_dev_matched*", "multinli_dev_mismatched*", "breaking_nli*"],
}

ROWS = {KIM: matrix.Row("wordnet", (f"model={KIM}",))}

_RULE_SET = "breaking_nli"
"""The one set on which the paper has the WordNet rule."""


class Rule(NamedTuple):
    """The WordNet rule, which takes no GPU."""

    wordnet: str | None


def main() -> None:
    """Run what is missing, and print the tables."""
    parser = matrix.parser(__doc__, (*PAPER_PAIRS, *EXTRA_PAIRS), FILES, ROWS)
    parser.add_argument("--limit", type=int, help="train on this many examples only, to try out")
    arguments = parser.parse_args()
    task = matrix.Task(
        train_classifier, nli_settings, words, evaluate, result_of_classifier, format_score
    )

    def read(
        train: Sequence[str], dev: Sequence[str], test: Sequence[str]
    ) -> tuple[NliData, dict[str, NliSet]]:
        return read_data(arguments, train, dev), read_nli_sets(test)

    def rules(shared: matrix.Shared) -> list[Rule]:
        return [Rule(arguments.wordnet)] if _RULE_SET in shared.sets else []

    shared = matrix.run_matrix(arguments, task, read, FAST, rules, execute)
    summaries = nli_summaries(read_nli_results(shared.results))
    matrix.print_tables([summary_tables(summary) for summary in summaries])


def read_data(arguments: argparse.Namespace, train: Sequence[str], dev: Sequence[str]) -> NliData:
    """Read all examples, or as many as `--limit` allows."""
    start = time.perf_counter()
    data = NliData.read(train, dev)
    if arguments.limit:
        # Evenly spaced, to have some of each file.
        step = max(1, len(data.train.examples) // arguments.limit)
        names = ", ".join(data.train.files)
        data.train.examples[:] = data.train.examples[::step]
        data.train.files.clear()
        data.train.files[f"one in {step} of {names}"] = len(data.train.examples)
    print(
        f"{len(data.train.examples):,} training examples, {len(data.dev.examples):,} dev examples, "
        f"read in {time.perf_counter() - start:.1f} s"
    )
    return data


def execute(work: matrix.Run | Rule) -> str:
    """Do a run or the rule, and return a line on it."""
    if isinstance(work, Rule):
        return evaluate_rule(matrix.get_shared(), work.wordnet)
    return matrix.train_and_evaluate(work)


def evaluate_rule(shared: matrix.Shared, wordnet: str | None) -> str:
    """Evaluate the WordNet rule, and return a line on it."""
    try:
        labeller = wordnet_labeller(WordNet.open(wordnet))
    except Pair2vecError as error:
        return f"the WordNet rule is left out: {error}"
    scores = evaluate_nli({_RULE_SET: shared.sets[_RULE_SET]}, labeller)
    result = result_of_rule(scores, {_RULE_SET: shared.files[_RULE_SET]})
    write_result(shared.results, result)
    return f"WordNet rule: {_RULE_SET} {format_score(scores[_RULE_SET])}"


def words(sets: Mapping[str, NliSet]) -> list[str]:
    """All words of the test sets."""
    return distinct_words(*(nli.examples for nli in sets.values()))


def evaluate(classifier: Classifier, sets: Mapping[str, NliSet]) -> Mapping[str, SetAccuracy]:
    """The accuracy on each test set."""
    return evaluate_nli(sets, lambda examples: classifier.predict(examples).labels)


def format_score(score: SetAccuracy) -> str:
    """Accuracy in percent."""
    return f"{score.overall.accuracy:.2f}"


if __name__ == "__main__":
    main()

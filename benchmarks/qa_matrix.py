"""What relation vectors of word pairs are worth to QA: pair sources × word inputs × seeds.

    PYTHONPATH=src python3 benchmarks/qa_matrix.py DATA --words GLOVE [ENCODER...] --models FOLDER
        --results FOLDER [--pairs none pair2vec pair_distance wordnet] [--seeds 0 1]
        [--pair-model NAME=FOLDER]... [--parallel 2] [--minutes 8] [--set KEY=VALUE]...
        [--train PATTERN...] [--dev PATTERN...] [--test PATTERN...]

DATA is a folder with SQuAD 2.0 and the adversarial sets, compressed or not, of which each pattern
names one file. Each run trains an
answerer under `--models`, evaluates it on the test sets, and leaves a file in `--results`; a run
whose file is there already is skipped. `--minutes` stops all runs with checkpoints, from which the
same command resumes. A pair model with a name, as in ``multiply=models/multiply``, is a row of its
own, whose results have the name as their pairs; without one, it is that of pair2vec.

The tables of all results are printed at the end.
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import matrix
from pair2vec.experiments.evaluation.results import read_results
from pair2vec.experiments.qa.answerer import Answerer, qa_settings
from pair2vec.experiments.qa.examples import QaSet
from pair2vec.experiments.qa.results import QA_TASK, result_of_answerer
from pair2vec.experiments.qa.squad import SetScores, evaluate_squad, read_squad_sets
from pair2vec.experiments.qa.tables import qa_summaries, squad_tables
from pair2vec.experiments.qa.train import QaData, question_words, train_answerer

FAST = ("training.checkpoint_epochs=0",)
"""A run that is stopped writes a checkpoint anyway; what `--set` says prevails."""

FILES = {
    "train": ["train-v2.0.aligned*"],
    "dev": ["dev-v2.0*"],
    "test": ["dev-v2.0*", "add_sent*", "add_one_sent*"],
}


def main() -> None:
    """Run what is missing, and print the tables."""
    parser = matrix.parser(__doc__, ("none", "pair2vec"), FILES)
    parser.set_defaults(seeds=[0, 1])
    task = matrix.Task(
        train_answerer, qa_settings, words, evaluate, result_of_answerer, format_score
    )
    shared = matrix.run_matrix(parser.parse_args(), task, read, FAST)
    if shared.results.is_dir():
        summaries = qa_summaries(read_results(shared.results, QA_TASK))
        matrix.print_tables([squad_tables(summary) for summary in summaries])


def read(
    train: Sequence[str], dev: Sequence[str], test: Sequence[str]
) -> tuple[QaData, dict[str, QaSet]]:
    """Read all questions."""
    start = time.perf_counter()
    data, sets = QaData.read(train, dev), read_squad_sets([Path(path) for path in test])
    print(
        f"{len(data.train):,} training questions, {len(data.dev.questions):,} dev questions, read "
        f"in {time.perf_counter() - start:.1f} s"
    )
    return data, sets


def words(sets: Mapping[str, QaSet]) -> list[str]:
    """All words of the test sets."""
    return question_words(*sets.values())


def evaluate(answerer: Answerer, sets: Mapping[str, QaSet]) -> Mapping[str, SetScores]:
    """The scores on each test set."""
    return evaluate_squad(sets, answerer.predict)


def format_score(score: SetScores) -> str:
    """EM and F1."""
    return f"{score.em:.2f}/{score.f1:.2f}"


if __name__ == "__main__":
    main()

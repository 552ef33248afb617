"""Results of NLI runs: one file a run."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pair2vec.errors import UsageError
from pair2vec.experiments.evaluation import results
from pair2vec.experiments.evaluation.results import (
    RunResult,
    eval_command,
    network_file,
    result_of_network,
    today,
)
from pair2vec.experiments.nli.classifier import NliSettings
from pair2vec.experiments.nli.evaluate import RULE, SetAccuracy

NLI_TASK = "nli"


def result_of_classifier(
    config: Mapping[str, Any], scores: Mapping[str, SetAccuracy], data: Mapping[str, str]
) -> RunResult:
    """What is kept of a classifier's run; paths are named without their folders.

    Args:
        config: The classifier's.
        scores: By set.
        data: By set, the file it is from.
    """
    return result_of_network(
        NLI_TASK,
        config,
        asdict(NliSettings()),
        metrics=_metrics(scores),
        protocol=_protocol(scores),
        data=data,
        options=["--model", config["model"]],
    )


def result_of_rule(scores: Mapping[str, SetAccuracy], data: Mapping[str, str]) -> RunResult:
    """What is kept of the baseline that asks WordNet alone."""
    return {
        "task": NLI_TASK,
        "model": RULE,
        "pairs": "wordnet",
        "words": None,
        "seed": None,
        "date": today(),
        "train": {},
        "metrics": _metrics(scores),
        "protocol": {**_protocol(scores), "settings": [], "variant": []},
        "command": eval_command(NLI_TASK, "wordnet", data),
    }


def _metrics(scores: Mapping[str, SetAccuracy]) -> dict[str, Any]:
    """Accuracies in percent, by set, and by category where a set has them."""
    found: dict[str, Any] = {name: score.whole.right for name, score in scores.items()}
    for name, score in scores.items():
        if score.categories:
            found[f"{name}_by_category"] = {c: one.right for c, one in score.categories.items()}
    return found


def _protocol(scores: Mapping[str, SetAccuracy]) -> dict[str, Any]:
    return {
        "examples": {name: score.whole.n for name, score in scores.items()},
        "intervals": {name: [score.whole.low, score.whole.high] for name, score in scores.items()},
        "answered": {name: score.answered for name, score in scores.items()},
        "category_examples": {
            name: {category: one.n for category, one in score.categories.items()}
            for name, score in scores.items()
            if score.categories
        },
    }


def write_nli_result(folder: Path, result: Mapping[str, Any]) -> Path:
    """One file, over an earlier one of the same run."""
    return results.write_result(folder, network_file(result), result)


def read_nli_results(folder: Path) -> list[RunResult]:
    """All results of NLI in a folder; those of other tasks are left alone.

    Raises:
        UsageError: there is no such folder, or nothing in it.
        InputError: a file is damaged.
    """
    found = results.read_results(folder, NLI_TASK)
    if not found:
        raise UsageError(f"{folder}: has no results of NLI; write some with --results {folder}")
    return found

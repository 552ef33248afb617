"""Result records of NLI runs."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pair2vec.errors import UsageError
from pair2vec.experiments.evaluation.results import (
    RunResult,
    eval_command,
    read_results,
    result_of_network,
    today,
)
from pair2vec.experiments.nli.classifier import NliSettings
from pair2vec.experiments.nli.evaluate import KIM, RULE, SetAccuracy

NLI_TASK = "nli"


def result_of_classifier(
    config: Mapping[str, Any], scores: Mapping[str, SetAccuracy], data: Mapping[str, str]
) -> RunResult:
    """The record of a classifier's evaluation.

    Args:
        config: The classifier's.
        scores: By test set.
        data: By test set, the file it is from.
    """
    model = config["model"]
    result = result_of_network(
        NLI_TASK,
        config,
        asdict(NliSettings(model=model)),
        metrics=_metrics(scores),
        protocol=_protocol(scores),
        data=data,
        options=["--model", model],
    )
    return {**result, "pairs": KIM} if model == KIM else result


def result_of_rule(scores: Mapping[str, SetAccuracy], data: Mapping[str, str]) -> RunResult:
    """The record of the WordNet rule's evaluation."""
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
    """Accuracies in percent by test set, and by category where a set has them."""
    metrics: dict[str, Any] = {name: score.overall.accuracy for name, score in scores.items()}
    for name, score in scores.items():
        if score.categories:
            by_category = {name: figure.accuracy for name, figure in score.categories.items()}
            metrics[f"{name}_by_category"] = by_category
    return metrics


def _protocol(scores: Mapping[str, SetAccuracy]) -> dict[str, Any]:
    return {
        "examples": {name: score.overall.n for name, score in scores.items()},
        "intervals": {
            name: [score.overall.low, score.overall.high] for name, score in scores.items()
        },
        "answered": {name: score.answered for name, score in scores.items()},
        "category_examples": {
            name: {category: figure.n for category, figure in score.categories.items()}
            for name, score in scores.items()
            if score.categories
        },
    }


def read_nli_results(folder: Path) -> list[RunResult]:
    """All results of NLI in a folder.

    Raises:
        UsageError: there is no such folder, or nothing in it.
        InputError: a file is damaged.
    """
    results = read_results(folder, NLI_TASK)
    if not results:
        raise UsageError(f"{folder}: has no results of NLI; write some with --results {folder}")
    return results

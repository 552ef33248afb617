"""Results of runs in question answering: one file a run."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pair2vec.experiments.evaluation import results
from pair2vec.experiments.evaluation.results import (
    RunResult,
    network_file,
    result_of_network,
)
from pair2vec.experiments.qa.squad import SetScores, SquadScores

QA_TASK = "qa"

ABLATIONS = ("2_layers", "multiply", "bivariate")
"""Of the pair vectors themselves, by the ends of their recipes' names."""


def result_of_reader(
    config: Mapping[str, Any],
    defaults: Mapping[str, Any],
    scores: Mapping[str, SetScores],
    data: Mapping[str, str],
    threshold: float = 0.0,
) -> RunResult:
    """What is kept of a run; paths are named without their folders.

    Args:
        config: Of the network.
        defaults: Of its settings.
        scores: By set.
        data: By set, the file it is from.
        threshold: Above which nothing was said, on SQuAD 2.0.
    """
    found = result_of_network(
        QA_TASK,
        config,
        defaults,
        metrics=_metrics(scores),
        protocol=_protocol(scores, threshold),
        data=data,
    )
    if threshold:
        # It sets the run apart, and makes the command another.
        found["protocol"]["variant"].append(f"threshold={threshold:g}")
        found["command"] += f" --threshold {threshold:g}"
    return {**found, "pairs": pairs_of(config)}


def pairs_of(config: Mapping[str, Any]) -> str:
    """What is known of pairs: as in the inputs, or the ablation that the pair model is."""
    pairs, source = str(config["inputs"]["pairs"]), config["pair_source"]
    if pairs != "pair2vec":
        return pairs
    recipe = str(source.get("recipe") or source.get("name"))
    return next((ablation for ablation in ABLATIONS if recipe.endswith(ablation)), pairs)


def _metrics(scores: Mapping[str, SetScores]) -> dict[str, float]:
    """In percent: EM and F1 by set, and of SQuAD 2.0 what they are made of."""
    found: dict[str, float] = {}
    for name, one in scores.items():
        found |= {f"{name}_em": one.em, f"{name}_f1": one.f1}
        if isinstance(one, SquadScores) and one.no_answer_em is not None:
            parts = {
                "best_em": one.best_em.value,
                "best_f1": one.best_f1.value,
                "has_answer_em": one.has_answer_em,
                "has_answer_f1": one.has_answer_f1,
                "no_answer_em": one.no_answer_em,
            }
            found |= {f"{name}_{part}": value for part, value in parts.items() if value is not None}
    return found


def _protocol(scores: Mapping[str, SetScores], threshold: float) -> dict[str, Any]:
    best = {
        name: {"em": _finite(one.best_em.threshold), "f1": _finite(one.best_f1.threshold)}
        for name, one in scores.items()
        if isinstance(one, SquadScores) and one.no_answer_em is not None
    }
    return {
        "examples": {name: one.n for name, one in scores.items()},
        "threshold": threshold,
        "best_thresholds": best,
    }


def _finite(threshold: float) -> float | None:
    """JSON has no infinity; None is the threshold of those that never answer."""
    return round(threshold, 4) if math.isfinite(threshold) else None


def write_squad_result(folder: Path, result: Mapping[str, Any]) -> Path:
    """One file, over an earlier one of the same run."""
    return results.write_result(folder, network_file(result), result)

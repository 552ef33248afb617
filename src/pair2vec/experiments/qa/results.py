"""Result records of question answering runs."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pair2vec.experiments.evaluation.results import RunResult, result_of_network
from pair2vec.experiments.qa.squad import SetScores, SquadScores

QA_TASK = "qa"

ABLATIONS = ("2_layers", "multiply", "bivariate", "pair_distance")
"""Of the pair model, by the suffixes of their recipes' names."""


def result_of_answerer(
    config: Mapping[str, Any],
    scores: Mapping[str, SetScores],
    data: Mapping[str, str],
    threshold: float = 0.0,
) -> RunResult:
    """The record of an answerer's evaluation.

    Args:
        config: The answerer's.
        scores: By test set.
        data: By test set, the file it is from.
        threshold: Of the score of no answer, on SQuAD 2.0.
    """
    # Here, because it loads torch, which the report does without.
    from pair2vec.experiments.qa.answerer import QaSettings

    result = result_of_network(
        QA_TASK,
        config,
        asdict(QaSettings()),
        metrics=_metrics(scores),
        protocol=_protocol(scores, threshold),
        data=data,
    )
    if threshold:
        result["protocol"]["variant"].append(f"threshold={threshold:g}")
        result["command"] += f" --threshold {threshold:g}"
    return {**result, "pairs": pairs_of(config)}


def pairs_of(config: Mapping[str, Any]) -> str:
    """The pair source: as in the inputs, or the ablation if the pair model is one."""
    pairs, source = str(config["inputs"]["pairs"]), config["pair_source"]
    if pairs != "pair2vec":
        return pairs
    return ablation_of(str(source.get("recipe") or source.get("name"))) or pairs


def ablation_of(name: str) -> str | None:
    """The ablation that a recipe's name ends with: ``paper_multiply`` is ``multiply``."""
    return next((ablation for ablation in ABLATIONS if name.endswith(ablation)), None)


def _metrics(scores: Mapping[str, SetScores]) -> dict[str, float]:
    """In percent: EM and F1 by test set, and the parts of SQuAD 2.0."""
    metrics: dict[str, float] = {}
    for name, score in scores.items():
        metrics |= {f"{name}_em": score.em, f"{name}_f1": score.f1}
        if isinstance(score, SquadScores) and score.no_answer_em is not None:
            parts = {
                "best_em": score.best_em.value,
                "best_f1": score.best_f1.value,
                "has_answer_em": score.has_answer_em,
                "has_answer_f1": score.has_answer_f1,
                "no_answer_em": score.no_answer_em,
            }
            metrics |= {f"{name}_{key}": value for key, value in parts.items() if value is not None}
    return metrics


def _protocol(scores: Mapping[str, SetScores], threshold: float) -> dict[str, Any]:
    best = {
        name: {"em": _finite(score.best_em.threshold), "f1": _finite(score.best_f1.threshold)}
        for name, score in scores.items()
        if isinstance(score, SquadScores) and score.no_answer_em is not None
    }
    return {
        "examples": {name: score.n for name, score in scores.items()},
        "threshold": threshold,
        "best_thresholds": best,
    }


def _finite(threshold: float) -> float | None:
    """JSON has no infinity; None is the threshold that never answers."""
    return round(threshold, 4) if math.isfinite(threshold) else None

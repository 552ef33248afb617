"""Accuracy on analogies, by relation and by group, with bootstrap intervals.

Shapes: Q questions, A values of α.

Four scores, which differ in how α is chosen: 0 (`three_cos_add`), 1 (`pair2vec`), the best one for
the very questions that are scored (`oracle_alpha`, the paper's), and the best one for the other
relations of the group (`heldout_alpha`), which is the one to expect on a relation of one's own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import IntArray
from pair2vec.experiments.evaluation.alpha_sweep import ALPHAS

SCORES = ("three_cos_add", "pair2vec", "oracle_alpha", "heldout_alpha")

BOOTSTRAP_DRAWS = 1_000
BOOTSTRAP_SEED = 0


class RelationOutcome(NamedTuple):
    """Which questions of a relation were answered correctly."""

    name: str
    group: str
    total: int
    """Questions, with those dropped because of an unknown word."""
    x: IntArray
    """The x of each question, (Q,)."""
    correct: NDArray[np.bool_]
    """(Q, A)"""


class Interval(NamedTuple):
    """Of 95 %, in percent."""

    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class AnalogyAccuracy:
    """Of a relation or a group, in percent; scores without questions to choose α by are missing."""

    scores: Mapping[str, float]
    intervals: Mapping[str, Interval]
    by_alpha: Sequence[float]
    n: int
    """Questions scored."""
    dropped: float
    """The share of questions that were not, because of an unknown word."""
    alphas: Mapping[str, float] = field(default_factory=dict)
    """Of a relation, those behind `oracle_alpha` and `heldout_alpha`."""

    def to_json(self) -> dict[str, object]:
        """As ``--json`` prints it; a missing score is null."""
        intervals = {name: list(interval) for name, interval in self.intervals.items()}
        return {
            **{name: self.scores.get(name) for name in SCORES},
            "n": self.n,
            "dropped": self.dropped,
            "intervals": intervals,
            **({"alphas": dict(self.alphas)} if self.alphas else {}),
            "by_alpha": list(self.by_alpha),
        }


class AnalogyAccuracies(NamedTuple):
    """By name."""

    groups: dict[str, AnalogyAccuracy]
    relations: dict[str, AnalogyAccuracy]


class _ScoredRelation(NamedTuple):
    outcome: RelationOutcome
    alpha_indices: dict[str, int]
    """By score, which α it takes."""


def analogy_accuracies(outcomes: Sequence[RelationOutcome]) -> AnalogyAccuracies:
    """Of each relation, and of each group with its questions pooled."""
    scored = [_ScoredRelation(outcome, _choose_alphas(outcome, outcomes)) for outcome in outcomes]
    groups = dict.fromkeys(outcome.group for outcome in outcomes)
    return AnalogyAccuracies(
        {group: _accuracy([s for s in scored if s.outcome.group == group]) for group in groups},
        {s.outcome.name: replace(_accuracy([s]), alphas=_tuned_alphas(s)) for s in scored},
    )


def _choose_alphas(outcome: RelationOutcome, outcomes: Sequence[RelationOutcome]) -> dict[str, int]:
    """By score the index of its α; {} without a question to choose it by."""
    if not len(outcome.x):
        return {}
    indices = {
        "three_cos_add": 0,
        "pair2vec": len(ALPHAS) - 1,
        "oracle_alpha": _best_alpha(outcome.correct),
    }
    others = [o.correct for o in outcomes if o.group == outcome.group and o.name != outcome.name]
    if sum(map(len, others)):
        indices["heldout_alpha"] = _best_alpha(np.concatenate(others))
    return indices


def _best_alpha(correct: NDArray[np.bool_]) -> int:
    """The index of the α that answers most questions; of equals the lowest."""
    return int(correct.sum(axis=0).argmax())


def _accuracy(scored: Sequence[_ScoredRelation]) -> AnalogyAccuracy:
    """Over the questions of several relations, each scored with the α of its relation."""
    outcomes = [relation.outcome for relation in scored]
    total = sum(outcome.total for outcome in outcomes)
    x = np.concatenate([outcome.x for outcome in outcomes])
    correct = _correct_by_score([relation for relation in scored if relation.alpha_indices])
    return AnalogyAccuracy(
        n=len(x),
        dropped=_percent(1 - len(x) / total if total else 0.0),
        scores={name: _percent(column.mean()) for name, column in correct.items()},
        intervals={name: _bootstrap(x, column) for name, column in correct.items()},
        by_alpha=_curve(outcomes) if len(x) else [],
    )


def _tuned_alphas(scored: _ScoredRelation) -> dict[str, float]:
    """Of the scores whose α is not fixed."""
    indices = scored.alpha_indices
    return {name: float(ALPHAS[indices[name]]) for name in SCORES[2:] if name in indices}


def _correct_by_score(scored: Sequence[_ScoredRelation]) -> dict[str, NDArray[np.bool_]]:
    """By score that all relations have, which questions are answered correctly: (Q,) each."""
    return {
        name: np.concatenate([outcome.correct[:, indices[name]] for outcome, indices in scored])
        for name in SCORES
        if scored and all(name in indices for _, indices in scored)
    }


def _curve(outcomes: Sequence[RelationOutcome]) -> list[float]:
    """Accuracy at each α, the same for all relations: a line of the paper's `fig:dlie`."""
    correct = np.concatenate([outcome.correct for outcome in outcomes])
    return [_percent(share) for share in correct.mean(axis=0)]


def _bootstrap(x: IntArray, correct: NDArray[np.bool_]) -> Interval:
    """The interval of the accuracy at a given α.

    Words x are resampled, each with all its questions: answers to questions that share an x are
    correlated, so that resampling single questions would give too narrow an interval.
    """
    _, word = np.unique(x, return_inverse=True)
    counts = np.bincount(word)
    sums = np.stack([np.bincount(word, weights=correct), counts])
    words = len(counts)
    generator = np.random.default_rng(BOOTSTRAP_SEED)
    draws = generator.multinomial(words, np.full(words, 1 / words), BOOTSTRAP_DRAWS)
    hits, questions = sums @ draws.T
    low, high = np.quantile(hits / questions, [0.025, 0.975])
    return Interval(_percent(low), _percent(high))


def _percent(share: float) -> float:
    return round(100 * float(share), 2)

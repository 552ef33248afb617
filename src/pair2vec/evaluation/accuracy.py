"""Accuracy of answers to analogies, by relation and by group, with intervals.

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

from pair2vec.evaluation.contest import ALPHAS
from pair2vec.query.pair_vectors import Numbers

SCORES = ("three_cos_add", "pair2vec", "oracle_alpha", "heldout_alpha")

DRAWS = 1_000
SEED = 0
"""Of the bootstrap."""


class Outcome(NamedTuple):
    """How the questions of one relation were answered."""

    name: str
    group: str
    asked: int
    """With those that were dropped because of an unknown word."""
    x: Numbers
    """The word each question asks about, (Q,)."""
    right: NDArray[np.bool_]
    """(Q, A)"""


class Interval(NamedTuple):
    """Of 95 %, in percent."""

    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """Of a relation or a group, in percent; a score is missing where there is nothing to go by."""

    n: int
    """Questions scored."""
    dropped: float
    """The share of questions that were not, because of an unknown word."""
    scores: Mapping[str, float]
    intervals: Mapping[str, Interval]
    by_alpha: Sequence[float]
    alphas: Mapping[str, float] = field(default_factory=dict)
    """Of a relation, those behind `oracle_alpha` and `heldout_alpha`."""

    def to_json(self) -> dict[str, object]:
        """As ``--json`` prints it; a missing score is null."""
        return {
            **{name: self.scores.get(name) for name in SCORES},
            "n": self.n,
            "dropped": self.dropped,
            "intervals": {name: list(interval) for name, interval in self.intervals.items()},
            **({"alphas": dict(self.alphas)} if self.alphas else {}),
            "by_alpha": list(self.by_alpha),
        }


class Accuracies(NamedTuple):
    """By name."""

    groups: dict[str, Accuracy]
    relations: dict[str, Accuracy]


class _Scored(NamedTuple):
    """A relation, and which α each of its scores takes, by its number."""

    outcome: Outcome
    choices: dict[str, int]


def accuracies(outcomes: Sequence[Outcome]) -> Accuracies:
    """Of each relation, and of each group with its questions pooled."""
    scored = [_Scored(outcome, _choices(outcome, outcomes)) for outcome in outcomes]
    groups = dict.fromkeys(outcome.group for outcome in outcomes)
    return Accuracies(
        {name: _accuracy([one for one in scored if one.outcome.group == name]) for name in groups},
        {one.outcome.name: replace(_accuracy([one]), alphas=_chosen_alphas(one)) for one in scored},
    )


def _choices(outcome: Outcome, outcomes: Sequence[Outcome]) -> dict[str, int]:
    """By the name of a score the number of its α; {} without a question to choose it by."""
    if not len(outcome.x):
        return {}
    chosen = {"three_cos_add": 0, "pair2vec": len(ALPHAS) - 1, "oracle_alpha": _best(outcome.right)}
    others = [o.right for o in outcomes if o.group == outcome.group and o.name != outcome.name]
    if sum(map(len, others)):
        chosen["heldout_alpha"] = _best(np.concatenate(others))
    return chosen


def _best(right: NDArray[np.bool_]) -> int:
    """The number of the α that answers most questions; of equals the lowest."""
    return int(right.sum(axis=0).argmax())


def _accuracy(scored: Sequence[_Scored]) -> Accuracy:
    """Of the questions of several relations, each scored with the α of its relation."""
    outcomes = [one.outcome for one in scored]
    asked = sum(outcome.asked for outcome in outcomes)
    x = np.concatenate([outcome.x for outcome in outcomes])
    right = _right_by_score([one for one in scored if one.choices])
    return Accuracy(
        n=len(x),
        dropped=_percent(1 - len(x) / asked if asked else 0.0),
        scores={name: _percent(column.mean()) for name, column in right.items()},
        intervals={name: _interval(x, column) for name, column in right.items()},
        by_alpha=_curve(outcomes) if len(x) else [],
    )


def _chosen_alphas(scored: _Scored) -> dict[str, float]:
    """Those that were not given but found."""
    numbers = {name: scored.choices[name] for name in SCORES[2:] if name in scored.choices}
    return {name: float(ALPHAS[number]) for name, number in numbers.items()}


def _right_by_score(scored: Sequence[_Scored]) -> dict[str, NDArray[np.bool_]]:
    """By the name of a score that all relations have, which questions are right: (Q,) each."""
    return {
        name: np.concatenate([outcome.right[:, choices[name]] for outcome, choices in scored])
        for name in SCORES
        if scored and all(name in choices for _, choices in scored)
    }


def _curve(outcomes: Sequence[Outcome]) -> list[float]:
    """Accuracy at each α, the same for all relations: a line of the paper's `fig:dlie`."""
    right = np.concatenate([outcome.right for outcome in outcomes])
    return [_percent(share) for share in right.mean(axis=0)]


def _interval(x: Numbers, right: NDArray[np.bool_]) -> Interval:
    """Of the accuracy at a given α, by the bootstrap.

    Words x are drawn, each with all its questions: those that share an x are right or wrong
    together, so that drawing single questions would promise too much.
    """
    _, word = np.unique(x, return_inverse=True)
    counts = np.bincount(word)
    sums = np.stack([np.bincount(word, weights=right), counts])
    words = len(counts)
    draws = np.random.default_rng(SEED).multinomial(words, np.full(words, 1 / words), DRAWS)
    hits, questions = sums @ draws.T
    low, high = np.quantile(hits / questions, [0.025, 0.975])
    return Interval(_percent(low), _percent(high))


def _percent(share: float) -> float:
    return round(100 * float(share), 2)

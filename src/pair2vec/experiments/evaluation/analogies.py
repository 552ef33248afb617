"""Accuracy of answers to analogies, by relation and by group, with intervals.

Shapes: Q questions, A values of α.

Four scores, which differ in how α is chosen: 0 (`three_cos_add`), 1 (`pair2vec`), the best one for
the very questions that are scored (`oracle_alpha`, the paper's), and the best one for the other
relations of the group (`heldout_alpha`), which is the one to expect on a relation of one's own.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import IntArray
from pair2vec.errors import InputError, Pair2vecError, UsageError
from pair2vec.experiments.evaluation.alpha_sweep import (
    ALPHAS,
    AlphaSweep,
    AnalogyBatch,
    cached_alpha_sweep,
)
from pair2vec.experiments.evaluation.analogy_sets import (
    AnalogyRelation,
    AnswerVocabulary,
    Half,
    KnownQuestion,
    KnownRelation,
    known_relations,
)
from pair2vec.model.folder import SavedModel
from pair2vec.query.analogies import Direction, roles
from pair2vec.query.whitening import check_whitening
from pair2vec.text.engines import OrderedMap, local_engine

SCORES = ("three_cos_add", "pair2vec", "oracle_alpha", "heldout_alpha")

DRAWS = 1_000
SEED = 0
"""Of the bootstrap."""


class RelationOutcome(NamedTuple):
    """How the questions of one relation were answered."""

    name: str
    group: str
    asked: int
    """With those that were dropped because of an unknown word."""
    x: IntArray
    """The word each question asks about, (Q,)."""
    right: NDArray[np.bool_]
    """(Q, A)"""


class Interval(NamedTuple):
    """Of 95 %, in percent."""

    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class AnalogyAccuracy:
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


class AnalogyAccuracies(NamedTuple):
    """By name."""

    groups: dict[str, AnalogyAccuracy]
    relations: dict[str, AnalogyAccuracy]


class _Scored(NamedTuple):
    """A relation, and which α each of its scores takes, by its number."""

    outcome: RelationOutcome
    choices: dict[str, int]


def analogy_accuracies(outcomes: Sequence[RelationOutcome]) -> AnalogyAccuracies:
    """Of each relation, and of each group with its questions pooled."""
    scored = [_Scored(outcome, _choices(outcome, outcomes)) for outcome in outcomes]
    groups = dict.fromkeys(outcome.group for outcome in outcomes)
    return AnalogyAccuracies(
        {name: _accuracy([one for one in scored if one.outcome.group == name]) for name in groups},
        {one.outcome.name: replace(_accuracy([one]), alphas=_chosen_alphas(one)) for one in scored},
    )


def _choices(outcome: RelationOutcome, outcomes: Sequence[RelationOutcome]) -> dict[str, int]:
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


def _accuracy(scored: Sequence[_Scored]) -> AnalogyAccuracy:
    """Of the questions of several relations, each scored with the α of its relation."""
    outcomes = [one.outcome for one in scored]
    asked = sum(outcome.asked for outcome in outcomes)
    x = np.concatenate([outcome.x for outcome in outcomes])
    right = _right_by_score([one for one in scored if one.choices])
    return AnalogyAccuracy(
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


def _curve(outcomes: Sequence[RelationOutcome]) -> list[float]:
    """Accuracy at each α, the same for all relations: a line of the paper's `fig:dlie`."""
    right = np.concatenate([outcome.right for outcome in outcomes])
    return [_percent(share) for share in right.mean(axis=0)]


def _interval(x: IntArray, right: NDArray[np.bool_]) -> Interval:
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


# == Answers to analogies: which of the questions are right, for every α.
#
# Shapes: Q questions, A values of α.


Report = Callable[[int, int], None]
"""Is told how many questions of how many are answered."""

_MOST_QUESTIONS = 512
"""Of a batch: each has a row of scores for all words in memory."""


def right_answers(
    questions: Sequence[KnownQuestion],
    contest: AlphaSweep,
    ordered_map: OrderedMap = map,
    report: Report = lambda done, total: None,
) -> NDArray[np.bool_]:
    """Of each question and α whether the best word is right: (Q, A).

    Args:
        questions: Of any relations: R(x, ·) is computed once for all that ask about the same x.
        contest: Finds the best words.
        ordered_map: Spreads the batches over processes.
        report: Is told of the progress.
    """
    rows = list(_rows_of_batches(questions))
    won = np.empty((len(questions), len(ALPHAS)), np.intp)
    done = 0
    batches = (_batch([questions[row] for row in batch]) for batch in rows)
    for batch, places in zip(rows, ordered_map(contest, batches), strict=True):
        won[batch] = places
        done += len(batch)
        report(done, len(questions))
    return _are_right(won, questions)


def _rows_of_batches(questions: Sequence[KnownQuestion]) -> Iterator[list[int]]:
    """The numbers of questions that go together, as they ask about one x."""
    by_x: defaultdict[int, list[int]] = defaultdict(list)
    for row, question in enumerate(questions):
        by_x[question.x].append(row)
    for rows in by_x.values():
        for start in range(0, len(rows), _MOST_QUESTIONS):
            yield rows[start : start + _MOST_QUESTIONS]


def _batch(questions: Sequence[KnownQuestion]) -> AnalogyBatch:
    a, b = (np.array([q[column] for q in questions], np.intp) for column in (0, 1))
    return AnalogyBatch(questions[0].x, a, b)


def _are_right(won: IntArray, questions: Sequence[KnownQuestion]) -> NDArray[np.bool_]:
    rows = zip(won.tolist(), questions, strict=True)
    right = [[place in question.answers for place in row] for row, question in rows]
    return np.array(right, np.bool_).reshape(won.shape)


# == An exam in analogies: questions, a model and word vectors in, accuracies out.


@dataclass(frozen=True, kw_only=True)
class AnalogyExam:
    """What is asked."""

    relations: Sequence[AnalogyRelation]
    candidates: AnswerVocabulary
    """The words to choose from."""
    data: str
    """Where the questions are from."""
    half: Half | None = None
    """Which half of the relations there they are of; None where they are not halved."""
    vectors: str
    """Where the vectors of single words are from."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AnalogyConfig:
    """How analogies are answered."""

    direction: Direction = "both"
    """Of the pair vectors."""
    whitening: float | None = None
    """Of the pair vectors, before they are compared (`query.whitening`)."""
    device: str = "cpu"
    """"cpu", which is numpy; or torch's name of another, as `find_analogy_device` gives it."""
    workers: int = 1
    """Processes on a CPU."""

    def __post_init__(self) -> None:
        roles(self.direction)
        check_whitening(self.whitening)
        if self.workers < 1:
            raise UsageError(f"workers is {self.workers}; it must be 1 or more")


@dataclass(frozen=True, kw_only=True)
class AnalogyProtocol:
    """What the figures depend on."""

    model: str
    vectors: str
    data: str
    half: Half | None = None
    direction: Direction
    whitening: float
    vocabulary: int
    """Words to choose from."""
    relations: int
    questions: int
    dropped: float
    """The share of them that were not asked because of an unknown word, in percent."""
    alphas: tuple[float, ...]
    bootstrap_draws: int = DRAWS
    bootstrap_seed: int = SEED
    device: str
    workers: int
    seconds: float


class AnalogyResult(NamedTuple):
    """Accuracies, and how they came about."""

    accuracies: AnalogyAccuracies
    protocol: AnalogyProtocol

    def metrics(self) -> dict[str, object]:
        """The figures of each group, and what they depend on, in short."""
        kept = ("vocabulary", "half", "direction", "whitening", "dropped")
        return {
            **{name: dict(group.scores) for name, group in self.accuracies.groups.items()},
            "protocol": {name: getattr(self.protocol, name) for name in kept},
        }

    def to_json(self) -> dict[str, object]:
        """As ``--json`` prints it."""
        groups, relations = (
            {name: accuracy.to_json() for name, accuracy in by_name.items()}
            for by_name in self.accuracies
        )
        return {"groups": groups, "relations": relations, "protocol": asdict(self.protocol)}


def evaluate_analogies(
    saved: SavedModel,
    exam: AnalogyExam,
    config: AnalogyConfig | None = None,
    report: Report = lambda done, total: None,
) -> AnalogyResult:
    """Answer all questions of which the words are known, for every α.

    Args:
        saved: The model.
        exam: What is asked.
        config: How it is answered.
        report: Is told how many questions of how many are answered.

    Raises:
        InputError: no question has words that are known.
    """
    config = config or AnalogyConfig()
    start = time.monotonic()
    known = known_relations(exam.relations, exam.candidates)
    questions = [question for relation in known for question in relation.questions]
    asked = sum(relation.asked for relation in known)
    if not questions:
        raise InputError(f"{saved.folder}: knows the words of none of the {asked:,} questions")
    with _contest(saved, exam.candidates, config) as (contest, ordered_map):
        right = right_answers(questions, contest, ordered_map, report)
    found = analogy_accuracies(_outcomes(known, right))
    protocol = AnalogyProtocol(
        model=str(saved.folder),
        vectors=exam.vectors,
        data=exam.data,
        half=exam.half,
        direction=config.direction,
        whitening=check_whitening(config.whitening),
        vocabulary=len(exam.candidates),
        relations=len(known),
        questions=asked,
        dropped=round(100 * (1 - len(questions) / asked), 2),
        alphas=tuple(ALPHAS.tolist()),
        device=config.device,
        workers=config.workers,
        seconds=round(time.monotonic() - start, 1),
    )
    return AnalogyResult(found, protocol)


def find_analogy_device(name: str) -> str:
    """The device of this name; "auto" is a GPU if torch finds one, and else the CPU."""
    if name == "cpu":
        return name
    try:
        from pair2vec.runtime.devices import find_device
    except ImportError as error:
        if name == "auto":
            return "cpu"
        raise Pair2vecError(
            f"device {name!r} needs torch: pip install 'pair2vec[train]'"
        ) from error
    return str(find_device(name))


@contextmanager
def _contest(
    saved: SavedModel, candidates: AnswerVocabulary, config: AnalogyConfig
) -> Iterator[tuple[AlphaSweep, OrderedMap]]:
    """A contest, and how to spread its batches."""
    whitening = check_whitening(config.whitening)
    if config.device == "cpu":
        with (
            cached_alpha_sweep(saved, candidates, config.direction, whitening) as stored,
            local_engine(config.workers) as ordered_map,
        ):
            yield stored, ordered_map
        return
    # Here, because numpy alone is enough on a CPU.
    import torch

    from pair2vec.experiments.evaluation.alpha_sweep_torch import TorchAlphaSweep

    device = torch.device(config.device)
    yield TorchAlphaSweep(saved, candidates, config.direction, whitening, device), map


def _outcomes(known: Sequence[KnownRelation], right: NDArray[np.bool_]) -> list[RelationOutcome]:
    """The answers by relation."""
    ends = np.cumsum([len(relation.questions) for relation in known])[:-1]
    return [
        RelationOutcome(name, group, asked, np.array([q.x for q in questions], np.intp), answers)
        for (name, group, questions, asked), answers in zip(
            known, np.split(right, ends), strict=True
        )
    ]

"""An exam in analogies: questions, a model and word vectors in, accuracies out."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import InputError, Pair2vecError, UsageError
from pair2vec.evaluation.accuracy import DRAWS, SEED, Accuracies, Outcome, accuracies
from pair2vec.evaluation.analogies import Relation
from pair2vec.evaluation.analogy_answers import Report, right_answers
from pair2vec.evaluation.analogy_sets import Half
from pair2vec.evaluation.candidates import Candidates
from pair2vec.evaluation.contest import ALPHAS, Contest
from pair2vec.evaluation.known_questions import KnownRelation, known_relations
from pair2vec.evaluation.numpy_contest import storing_contest
from pair2vec.model.folder import SavedModel
from pair2vec.query.analogies import Direction, roles
from pair2vec.query.comparison import check_whitening
from pair2vec.text.engine import local_engine
from pair2vec.text.sources import OrderedMap


@dataclass(frozen=True, kw_only=True)
class Exam:
    """What is asked."""

    relations: Sequence[Relation]
    candidates: Candidates
    """The words to choose from."""
    data: str
    """Where the questions are from."""
    half: Half | None = None
    """Which half of the relations there they are of; None where they are not halved."""
    vectors: str
    """Where the vectors of single words are from."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExamConfig:
    """How analogies are answered."""

    direction: Direction = "both"
    """Of the pair vectors."""
    whitening: float | None = None
    """Of the pair vectors, before they are compared (`query.comparison`)."""
    device: str = "cpu"
    """"cpu", which is numpy; or torch's name of another, as `find_exam_device` gives it."""
    workers: int = 1
    """Processes on a CPU."""

    def __post_init__(self) -> None:
        roles(self.direction)
        check_whitening(self.whitening)
        if self.workers < 1:
            raise UsageError(f"workers is {self.workers}; it must be 1 or more")


@dataclass(frozen=True, kw_only=True)
class Protocol:
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


class ExamResult(NamedTuple):
    """Accuracies, and how they came about."""

    accuracies: Accuracies
    protocol: Protocol

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


def sit_exam(
    saved: SavedModel,
    exam: Exam,
    config: ExamConfig | None = None,
    report: Report = lambda done, total: None,
) -> ExamResult:
    """Answer all questions of which the words are known, for every α.

    Args:
        saved: The model.
        exam: What is asked.
        config: How it is answered.
        report: Is told how many questions of how many are answered.

    Raises:
        InputError: no question has words that are known.
    """
    config = config or ExamConfig()
    start = time.monotonic()
    known = known_relations(exam.relations, exam.candidates)
    questions = [question for relation in known for question in relation.questions]
    asked = sum(relation.asked for relation in known)
    if not questions:
        raise InputError(f"{saved.folder}: knows the words of none of the {asked:,} questions")
    with _contest(saved, exam.candidates, config) as (contest, ordered_map):
        right = right_answers(questions, contest, ordered_map, report)
    found = accuracies(_outcomes(known, right))
    protocol = Protocol(
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
    return ExamResult(found, protocol)


def find_exam_device(name: str) -> str:
    """The device of this name; "auto" is a GPU if torch finds one, and else the CPU."""
    if name == "cpu":
        return name
    try:
        from pair2vec.training.devices import find_device
    except ImportError as error:
        if name == "auto":
            return "cpu"
        raise Pair2vecError(
            f"device {name!r} needs torch: pip install 'pair2vec[train]'"
        ) from error
    return str(find_device(name))


@contextmanager
def _contest(
    saved: SavedModel, candidates: Candidates, config: ExamConfig
) -> Iterator[tuple[Contest, OrderedMap]]:
    """A contest, and how to spread its batches."""
    whitening = check_whitening(config.whitening)
    if config.device == "cpu":
        with (
            storing_contest(saved, candidates, config.direction, whitening) as stored,
            local_engine(config.workers) as ordered_map,
        ):
            yield stored, ordered_map
        return
    # Here, because numpy alone is enough on a CPU.
    import torch

    from pair2vec.evaluation.torch_contest import TorchContest

    device = torch.device(config.device)
    yield TorchContest(saved, candidates, config.direction, whitening, device), map


def _outcomes(known: Sequence[KnownRelation], right: NDArray[np.bool_]) -> list[Outcome]:
    """The answers by relation."""
    ends = np.cumsum([len(relation.questions) for relation in known])[:-1]
    return [
        Outcome(name, group, asked, np.array([q.x for q in questions], np.intp), answers)
        for (name, group, questions, asked), answers in zip(
            known, np.split(right, ends), strict=True
        )
    ]

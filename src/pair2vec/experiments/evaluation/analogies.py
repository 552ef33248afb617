"""The analogy benchmarks (BATS, Google's): evaluate a model, and show and record its accuracies.

Shapes: Q questions, A values of α.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from pair2vec.arrays import IntArray
from pair2vec.errors import InputError, Pair2vecError, UsageError
from pair2vec.experiments.evaluation.alpha_sweep import (
    ALPHAS,
    AlphaSweep,
    AnalogyBatch,
    shared_alpha_sweep,
)
from pair2vec.experiments.evaluation.analogy_accuracy import (
    BOOTSTRAP_DRAWS,
    BOOTSTRAP_SEED,
    SCORES,
    AnalogyAccuracies,
    AnalogyAccuracy,
    RelationOutcome,
    analogy_accuracies,
)
from pair2vec.experiments.evaluation.analogy_sets import (
    AnalogyRelation,
    AnswerVocabulary,
    EncodedQuestion,
    EncodedRelation,
    Half,
    encode_relations,
)
from pair2vec.experiments.evaluation.results import (
    RunResult,
    command_line,
    model_provenance,
    vectors_option,
)
from pair2vec.model.folder import SavedModel
from pair2vec.query.pair_encoder import Direction, roles
from pair2vec.query.space import check_whitening
from pair2vec.text.engines import OrderedMap, process_map

_Progress = Callable[[int, int], None]
"""Called with how many questions of how many are answered."""

_BATCH = 512
"""Questions at most: each has a row of scores for all words in memory."""

_SCORE_NAMES = ("3CosAdd", "pair2vec", "oracle α", "held-out α")
"""The headings of `SCORES`."""

_NO_SCORE = "–"


@dataclass(frozen=True, kw_only=True)
class AnalogyBenchmark:
    """Questions, and the words to choose from."""

    relations: Sequence[AnalogyRelation]
    candidates: AnswerVocabulary
    data: str
    """Where the questions are from."""
    half: Half | None = None
    """Which half of the relations there they are of; None where they are not halved."""
    vectors: str
    """Where the vectors of single words are from; `OWN_VECTORS` where they are the model's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AnalogyConfig:
    """How analogies are answered."""

    direction: Direction = "both"
    """Of the pair vectors."""
    whitening: float | None = None
    """Of the pair vectors, before they are compared (`query.space`)."""
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
    """What the accuracies depend on."""

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
    """The share of them that were dropped because of an unknown word, in percent."""
    alphas: tuple[float, ...]
    bootstrap_draws: int = BOOTSTRAP_DRAWS
    bootstrap_seed: int = BOOTSTRAP_SEED
    device: str
    workers: int
    seconds: float


class AnalogyResult(NamedTuple):
    """Accuracies, and how they were measured."""

    accuracies: AnalogyAccuracies
    protocol: AnalogyProtocol

    def metrics(self) -> dict[str, object]:
        """The scores of each group and the protocol in short, for a model's config."""
        kept = ("vocabulary", "half", "direction", "whitening", "dropped")
        protocol = {name: getattr(self.protocol, name) for name in kept}
        protocol["vectors"] = Path(self.protocol.vectors).name
        return {**self._group_scores(), "protocol": protocol}

    def to_json(self) -> dict[str, object]:
        """As ``--json`` prints it."""
        groups, relations = (
            {name: accuracy.to_json() for name, accuracy in by_name.items()}
            for by_name in self.accuracies
        )
        return {"groups": groups, "relations": relations, "protocol": asdict(self.protocol)}

    def to_run_result(self, saved: SavedModel) -> RunResult:
        """The record of the run."""
        protocol = asdict(self.protocol)
        protocol |= {name: Path(protocol[name]).name for name in ("model", "vectors", "data")}
        options = {
            "--model": saved.folder.resolve().name,
            "--data": protocol["data"],
            **vectors_option(protocol["vectors"]),
            "--vocab": f"{self.protocol.vocabulary}",
            "--direction": self.protocol.direction,
            "--whitening": f"{self.protocol.whitening:g}",
            **({"--half": self.protocol.half} if self.protocol.half else {}),
        }
        return {
            "task": "bats",
            **model_provenance(saved),
            "data": Path(self.protocol.data).stem,
            "metrics": self._group_scores(),
            **self.to_json(),
            "protocol": protocol,
            "command": command_line(["eval", "bats"], options),
        }

    def _group_scores(self) -> dict[str, dict[str, float]]:
        return {name: dict(group.scores) for name, group in self.accuracies.groups.items()}


def evaluate_analogies(
    saved: SavedModel,
    benchmark: AnalogyBenchmark,
    config: AnalogyConfig | None = None,
    report: _Progress = lambda done, total: None,
) -> AnalogyResult:
    """Answer all questions of which the words are known, for every α.

    Args:
        saved: The model.
        benchmark: The questions.
        config: How they are answered.
        report: Called with how many questions of how many are answered.

    Raises:
        InputError: no question has words that are known.
    """
    config = config or AnalogyConfig()
    start = time.monotonic()
    relations = encode_relations(benchmark.relations, benchmark.candidates)
    questions = [question for relation in relations for question in relation.questions]
    total = sum(relation.total for relation in relations)
    if not questions:
        raise InputError(f"{saved.folder}: knows the words of none of the {total:,} questions")
    with _alpha_sweep(saved, benchmark.candidates, config) as (sweep, ordered_map):
        correct = _are_correct(_best_words(questions, sweep, ordered_map, report), questions)
    accuracies = analogy_accuracies(_outcomes(relations, correct))
    protocol = AnalogyProtocol(
        model=str(saved.folder),
        vectors=benchmark.vectors,
        data=benchmark.data,
        half=benchmark.half,
        direction=config.direction,
        whitening=check_whitening(config.whitening),
        vocabulary=len(benchmark.candidates),
        relations=len(relations),
        questions=total,
        dropped=round(100 * (1 - len(questions) / total), 2),
        alphas=tuple(ALPHAS.tolist()),
        device=config.device,
        workers=config.workers,
        seconds=round(time.monotonic() - start, 1),
    )
    return AnalogyResult(accuracies, protocol)


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
def _alpha_sweep(
    saved: SavedModel, candidates: AnswerVocabulary, config: AnalogyConfig
) -> Iterator[tuple[AlphaSweep, OrderedMap]]:
    """A sweep, and a map that spreads its batches."""
    whitening = check_whitening(config.whitening)
    if config.device == "cpu":
        with (
            shared_alpha_sweep(saved, candidates, config.direction, whitening) as shared,
            process_map(config.workers) as ordered_map,
        ):
            yield shared, ordered_map
        return
    # Here, because numpy alone is enough on a CPU.
    import torch

    from pair2vec.experiments.evaluation.alpha_sweep_torch import TorchAlphaSweep

    device = torch.device(config.device)
    yield TorchAlphaSweep(saved, candidates, config.direction, whitening, device), map


def _best_words(
    questions: Sequence[EncodedQuestion],
    sweep: AlphaSweep,
    ordered_map: OrderedMap,
    report: _Progress,
) -> IntArray:
    """The best word for each question and α: (Q, A).

    R(x, ·) is computed once for all questions of a batch, of whatever relation.
    """
    rows = list(_rows_by_x(questions))
    best = np.empty((len(questions), len(ALPHAS)), np.intp)
    done = 0
    batches = (_batch([questions[row] for row in batch]) for batch in rows)
    for batch, words in zip(rows, ordered_map(sweep, batches), strict=True):
        best[batch] = words
        done += len(batch)
        report(done, len(questions))
    return best


def _rows_by_x(questions: Sequence[EncodedQuestion]) -> Iterator[list[int]]:
    """The rows of questions that make a batch, as they share an x."""
    by_x: defaultdict[int, list[int]] = defaultdict(list)
    for row, question in enumerate(questions):
        by_x[question.x].append(row)
    for rows in by_x.values():
        for start in range(0, len(rows), _BATCH):
            yield rows[start : start + _BATCH]


def _batch(questions: Sequence[EncodedQuestion]) -> AnalogyBatch:
    a, b = (np.array([q[column] for q in questions], np.intp) for column in (0, 1))
    return AnalogyBatch(questions[0].x, a, b)


def _are_correct(best: IntArray, questions: Sequence[EncodedQuestion]) -> NDArray[np.bool_]:
    rows = zip(best.tolist(), questions, strict=True)
    correct = [[word in question.answers for word in row] for row, question in rows]
    return np.array(correct, np.bool_).reshape(best.shape)


def _outcomes(
    relations: Sequence[EncodedRelation], correct: NDArray[np.bool_]
) -> list[RelationOutcome]:
    ends = np.cumsum([len(relation.questions) for relation in relations])[:-1]
    return [
        RelationOutcome(name, group, total, np.array([q.x for q in questions], np.intp), rows)
        for (name, group, questions, total), rows in zip(
            relations, np.split(correct, ends), strict=True
        )
    ]


def analogy_tables(result: AnalogyResult) -> Group:
    """For a terminal: groups with intervals, then relations with their α."""
    caption = Text(
        "Right answers in percent, ± half of a 95 % interval over the words asked about. Oracle α "
        "is the best for the very questions of a relation (the paper's), held-out α the best for "
        "the other relations of its group.",
        style="dim",
    )
    groups, relations = result.accuracies
    return Group(
        _table("group", groups, _with_interval),
        _table("relation", relations, _with_alpha),
        caption,
        protocol_lines(result.protocol),
    )


def protocol_lines(protocol: AnalogyProtocol) -> Text:
    """What the accuracies depend on, in two lines."""
    workers = f", {protocol.workers} processes" if protocol.device == "cpu" else ""
    half = f" of the half “{protocol.half}”" if protocol.half else ""
    return Text(
        f"{protocol.questions:,} questions{half}, {protocol.dropped:.1f} % dropped as unknown; "
        f"{protocol.vocabulary:,} words to choose from; direction {protocol.direction}, "
        f"whitening {protocol.whitening:g}.\n"
        f"Model {protocol.model}, 3CosAdd on {protocol.vectors}; "
        f"{protocol.seconds:,.1f} s on {protocol.device}{workers}."
    )


def _table(
    first_column: str,
    accuracies: dict[str, AnalogyAccuracy],
    cell: Callable[[AnalogyAccuracy, str], str],
) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=0)
    table.add_column(first_column, overflow="fold")
    for name in ("n", "dropped", *_SCORE_NAMES):
        table.add_column(name, justify="right", no_wrap=True)
    for name, accuracy in accuracies.items():
        cells = [cell(accuracy, s) if s in accuracy.scores else _NO_SCORE for s in SCORES]
        # As Text, because BATS has brackets in its names.
        table.add_row(Text(name), f"{accuracy.n:,}", f"{accuracy.dropped:.1f}", *cells)
    return table


def _with_interval(accuracy: AnalogyAccuracy, score: str) -> str:
    low, high = accuracy.intervals[score]
    return f"{accuracy.scores[score]:.1f} ±{(high - low) / 2:.1f}"


def _with_alpha(accuracy: AnalogyAccuracy, score: str) -> str:
    alpha = f" {accuracy.alphas[score]:.2f}" if score in accuracy.alphas else ""
    return f"{accuracy.scores[score]:.1f}{alpha}"

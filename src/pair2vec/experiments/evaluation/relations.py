"""Relation classification on labelled word pairs (BLESS, EVALution), beside words alone.

Each view of a pair is the input of the same ensemble of small networks; the validation split
decides how strongly they are regularised. No pair is dropped: an unknown word is represented by
its word vector, as another word, or by zero, and the pair is classified all the same.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from pair2vec.api import Pair2vec
from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.evaluation.analogy_sets import non_blank_lines
from pair2vec.experiments.evaluation.classification import (
    CalibrationScores,
    ClassificationScores,
    calibration,
    f1_scores,
)
from pair2vec.experiments.evaluation.results import (
    RunResult,
    command_line,
    model_name,
    today,
    vectors_option,
)
from pair2vec.model.folder import SavedModel
from pair2vec.relations.classifier import (
    PairViews,
    RelationClassifier,
    View,
    WordTable,
)
from pair2vec.relations.mlp import MlpConfig
from pair2vec.relations.word_forms import spelling_variants
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary
from pair2vec.word_vectors.formats import read_word_vectors

SPLITS = ("train", "val", "test")
ENSEMBLE = 3
"""Networks for each view."""
CLASSIFIERS: Mapping[str, tuple[View, ...]] = {
    "concatenation": ("words",),
    "difference": ("difference",),
    "pair2vec": ("pairs",),
    "pair2vec and words": ("words", "both"),
}
"""The views of a pair that each averages."""
MLP_CONFIGS = (MlpConfig(), MlpConfig(steps=1_000, input_dropout=0.5))
"""To choose from: for many examples, and for few."""


class LabelledPair(NamedTuple):
    """Two words and what the second is to the first."""

    x: str
    y: str
    relation: str

    @property
    def words(self) -> tuple[str, str]:
        """Without the label."""
        return self.x, self.y


@dataclass(frozen=True)
class RelationSet:
    """Labelled pairs in three splits; `val` is to choose settings by."""

    name: str
    train: tuple[LabelledPair, ...]
    val: tuple[LabelledPair, ...]
    test: tuple[LabelledPair, ...]

    @property
    def words(self) -> set[str]:
        """All that occur."""
        splits = (self.train, self.val, self.test)
        return {word for split in splits for pair in split for word in pair.words}


def read_relation_set(folder: Path) -> RelationSet:
    """A folder of ``train.tsv``, ``val.tsv`` and ``test.tsv``: word, tab, word, tab, relation.

    Raises:
        UsageError: there is no such folder.
        InputError: a split is missing or empty, a line is malformed, or a relation has no training
            pair.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; give one with {_file_names()}")
    splits = [_read_split(folder / f"{name}.tsv") for name in SPLITS]
    trained = {pair.relation for pair in splits[0]}
    for name, split in zip(SPLITS[1:], splits[1:], strict=True):
        if unseen := sorted({pair.relation for pair in split} - trained):
            raise InputError(f"{folder / name}.tsv: relation {unseen[0]!r} is not in train.tsv")
    return RelationSet(folder.name, *splits)


def _file_names() -> str:
    return ", ".join(f"{name}.tsv" for name in SPLITS)


def _read_split(path: Path) -> tuple[LabelledPair, ...]:
    if not path.is_file():
        raise InputError(f"{path}: no such file; a set of relations has {_file_names()}")
    pairs = tuple(_read_pair(location, line) for location, line in non_blank_lines(path))
    if not pairs:
        raise InputError(f"{path}: has no pairs")
    return pairs


def _read_pair(location: str, line: str) -> LabelledPair:
    parts = [part.strip() for part in line.split("\t")]
    if len(parts) != 3 or not all(parts):
        raise InputError(f"{location}: expected word, tab, word, tab, relation, got {line!r}")
    return LabelledPair(*parts)


def read_word_table(model: Pair2vec, relation_set: RelationSet, path: Path | None) -> WordTable:
    """The word vectors of a file, or those that the pair vectors are made of."""
    special = len(SPECIAL_TOKENS)
    if path is None:
        return WordTable(model.vocabulary.words[special:], model.unit_words[special:])
    # Words of the set that the model lacks may be in the file.
    words = dict.fromkeys(model.vocabulary.words[special:])
    for word in sorted(relation_set.words):
        words |= dict.fromkeys(filter(None, spelling_variants(word)))
    table = read_word_vectors(path, Vocabulary((word, 1) for word in words))
    return WordTable(table.vocabulary.words, table.vectors)


class RelationRow(NamedTuple):
    """The scores of one kind of classifier."""

    name: str
    views: tuple[str, ...]
    val: ClassificationScores
    test: ClassificationScores
    calibration: CalibrationScores | None
    """On the test split."""

    def to_json(self) -> dict[str, object]:
        """As ``--json`` prints it."""
        return {
            "views": list(self.views),
            "val": self.val.to_json(),
            "test": self.test.to_json(),
            "calibration": self.calibration and self.calibration._asdict(),
        }


@dataclass(frozen=True, kw_only=True)
class RelationProtocol:
    """What the scores depend on."""

    data: str
    model: str
    vectors: str
    train: int
    val: int
    test: int
    unknown: float
    """The share of test pairs with a word that the model does not know, in percent."""
    read_as_others: float
    """Of all test pairs, those of which an unknown word has a word vector or is read as another."""
    zero: float
    """Of all test pairs, those with a word that is zero."""
    networks: int
    steps: int
    """Of training; chosen on the validation split, as the next."""
    input_dropout: float
    seed: int
    seconds: float


@dataclass(frozen=True)
class RelationResult:
    """The scores of all classifiers, and how they were measured."""

    rows: tuple[RelationRow, ...]
    protocol: RelationProtocol

    def to_json(self) -> dict[str, object]:
        """As ``--json`` prints it."""
        return {
            "rows": {row.name: row.to_json() for row in self.rows},
            "protocol": asdict(self.protocol),
        }

    def to_run_result(self, saved: SavedModel) -> RunResult:
        """The record of the run."""
        protocol = asdict(self.protocol)
        protocol |= {name: Path(protocol[name]).name for name in ("model", "vectors")}
        options = {
            "--data": self.protocol.data,
            **vectors_option(protocol["vectors"]),
            "--model": protocol["model"],
            "--seed": f"{self.protocol.seed}",
        }
        return {
            "task": "relations",
            "model": model_name(saved),
            "data": self.protocol.data,
            "seed": self.protocol.seed,
            "date": today(),
            "metrics": {row.name: round(100 * row.test.weighted_f1, 2) for row in self.rows},
            **self.to_json(),
            "protocol": protocol,
            "command": command_line(["eval", "relations"], options),
        }


def evaluate_relations(
    model: Pair2vec,
    relation_set: RelationSet,
    words: WordTable,
    *,
    vectors: str,
    configs: Sequence[MlpConfig] = MLP_CONFIGS,
    seed: int = 0,
    report: Callable[[str], None] = lambda _: None,
) -> RelationResult:
    """Train on the training split, choose by the validation split, evaluate on the test split.

    Args:
        model: Whose pair vectors to use.
        relation_set: The pairs.
        words: Vectors of single words.
        vectors: What they are called.
        configs: Of the networks, to choose from.
        seed: Of the networks.
        report: Called with what is being trained.
    """
    start = time.perf_counter()
    training = _Training(model, relation_set, words, seed, report)
    config = training.choose_config(configs)
    rows = [training.majority(), *(training.row(name, config) for name in CLASSIFIERS)]
    views = PairViews(model.space, words)
    test_pairs = [pair.words for pair in relation_set.test]
    known, has_vectors = views.known(test_pairs), views.has_vectors(test_pairs)
    protocol = RelationProtocol(
        data=relation_set.name,
        model=str(model.saved.folder),
        vectors=vectors,
        train=len(relation_set.train),
        val=len(relation_set.val),
        test=len(relation_set.test),
        unknown=_percent(~known),
        read_as_others=_percent(~known & has_vectors),
        zero=_percent(~has_vectors),
        networks=ENSEMBLE,
        steps=config.steps,
        input_dropout=config.input_dropout,
        seed=seed,
        seconds=round(time.perf_counter() - start, 1),
    )
    return RelationResult(tuple(rows), protocol)


_SplitProbabilities = tuple[NDArray[np.float32], NDArray[np.float32]]
"""On val and test."""


class _Training:
    """Rows of one set; each view is trained once, however many rows it is in."""

    def __init__(
        self,
        model: Pair2vec,
        relation_set: RelationSet,
        words: WordTable,
        seed: int,
        report: Callable[[str], None],
    ) -> None:
        self._set = relation_set
        self._classifier = partial(RelationClassifier, model, words, unknown="zero", seed=seed)
        self._report = report
        self._classes = np.unique([pair.relation for pair in relation_set.train])
        self._probabilities: dict[View, _SplitProbabilities] = {}

    def choose_config(self, configs: Sequence[MlpConfig]) -> MlpConfig:
        """The config with the lowest log loss of words alone on the validation split."""
        if len(configs) == 1:
            return configs[0]
        self._report(f"{self._set.name}: choosing the training settings")
        losses = []
        for config in configs:
            val, _ = self._fit("words", config, networks=1)
            losses.append(calibration(val, self._label_ids(self._set.val)).log_loss)
        return configs[int(np.argmin(losses))]

    def majority(self) -> RelationRow:
        """The most frequent relation of the training split for every pair."""
        majority = Counter(pair.relation for pair in self._set.train).most_common(1)[0][0]
        val, test = (
            f1_scores(_labels(split), [majority] * len(split))
            for split in (self._set.val, self._set.test)
        )
        return RelationRow("majority", (), val, test, None)

    def row(self, name: str, config: MlpConfig) -> RelationRow:
        """The scores of the mean probabilities of some views' networks."""
        for view in CLASSIFIERS[name]:
            if view not in self._probabilities:
                self._report(f"{self._set.name}: training on {view}")
                self._probabilities[view] = self._fit(view, config, networks=ENSEMBLE)
        by_view = [self._probabilities[view] for view in CLASSIFIERS[name]]
        val, test = (np.mean(split, axis=0) for split in zip(*by_view, strict=True))
        return RelationRow(
            name,
            CLASSIFIERS[name],
            f1_scores(_labels(self._set.val), self._classes[val.argmax(axis=1)].tolist()),
            f1_scores(_labels(self._set.test), self._classes[test.argmax(axis=1)].tolist()),
            calibration(test, self._label_ids(self._set.test)),
        )

    def _fit(self, view: View, config: MlpConfig, *, networks: int) -> _SplitProbabilities:
        classifier = self._classifier(views=[view], config=config, networks=networks)
        classifier.fit([pair.words for pair in self._set.train], _labels(self._set.train))
        val, test = (
            classifier.predict_proba([pair.words for pair in split])
            for split in (self._set.val, self._set.test)
        )
        return val, test

    def _label_ids(self, pairs: Sequence[LabelledPair]) -> list[int]:
        ids: list[int] = np.searchsorted(self._classes, _labels(pairs)).tolist()
        return ids


def _labels(pairs: Sequence[LabelledPair]) -> list[str]:
    return [pair.relation for pair in pairs]


def _percent(chosen: NDArray[np.bool_]) -> float:
    return round(100 * float(chosen.mean()), 2)


def relation_tables(result: RelationResult) -> Group:
    """For a terminal: a row a classifier, weighted F1 on both splits, then F1 by class."""
    classes = result.rows[0].test.classes
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("F1")
    for name in ("val", "test", *classes):
        table.add_column(Text(name), justify="right", no_wrap=True)
    for row in result.rows:
        scores = [row.val.weighted_f1, row.test.weighted_f1]
        scores += [row.test.classes[name].f1 for name in classes]
        table.add_row(row.name, *(f"{100 * score:.1f}" for score in scores))
    counts = [f"{score.n:,}" for score in classes.values()]
    table.add_row("pairs", f"{result.protocol.val:,}", f"{result.protocol.test:,}", *counts)
    caption = Text(
        "F1 in percent, the mean weighted by the pairs of each class; classes are of the test "
        "split. Concatenation and difference are of word vectors.",
        style="dim",
    )
    return Group(table, caption, Text(_protocol_lines(result.protocol)))


def _protocol_lines(protocol: RelationProtocol) -> str:
    return (
        f"{protocol.data}: trained on {protocol.train:,} pairs with {protocol.networks} networks a "
        f"view, {protocol.steps:,} steps and {protocol.input_dropout:g} of the features dropped "
        f"(chosen on val), seed {protocol.seed}. Of the test pairs {protocol.unknown:.1f} % have a "
        f"word that the model does not know: {protocol.read_as_others:.1f} % are read by its word "
        f"vector or as another word, {protocol.zero:.1f} % have a zero; none is dropped.\n"
        f"Model {protocol.model}, word vectors {protocol.vectors}; {protocol.seconds:,.0f} s."
    )

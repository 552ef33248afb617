"""Sets of labelled word pairs, such as BLESS and EVALution, with their splits.

A folder of ``train.tsv``, ``val.tsv`` and ``test.tsv``; in each one example a line: word, tab,
word, tab, relation.
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

from pair2vec.api import Pair2vec
from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.evaluation.analogy_sets import numbered_lines
from pair2vec.relations.classifier import PairViews, RelationClassifier, View, WordTable
from pair2vec.relations.mlp import MlpConfig

SPLITS = ("train", "val", "test")


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
    """A set and its splits."""

    name: str
    train: tuple[LabelledPair, ...]
    val: tuple[LabelledPair, ...]
    """To choose settings by."""
    test: tuple[LabelledPair, ...]

    @property
    def words(self) -> set[str]:
        """All that occur."""
        splits = (self.train, self.val, self.test)
        return {word for split in splits for pair in split for word in pair.words}


def read_relation_set(folder: Path) -> RelationSet:
    """A set in its folder.

    Raises:
        UsageError: there is no such folder.
        InputError: a split is missing or empty, or a line is malformed.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; give one with {_names()}")
    return RelationSet(folder.name, *(_read_split(folder / f"{name}.tsv") for name in SPLITS))


def _names() -> str:
    return ", ".join(f"{name}.tsv" for name in SPLITS)


def _read_split(path: Path) -> tuple[LabelledPair, ...]:
    if not path.is_file():
        raise InputError(f"{path}: no such file; a set of relations has {_names()}")
    pairs = tuple(_pair(place, line) for place, line in numbered_lines(path))
    if not pairs:
        raise InputError(f"{path}: has no pairs")
    return pairs


def _pair(place: str, line: str) -> LabelledPair:
    parts = [part.strip() for part in line.split("\t")]
    if len(parts) != 3 or not all(parts):
        raise InputError(f"{place}: expected word, tab, word, tab, relation, got {line!r}")
    return LabelledPair(*parts)


# == F1 by class, and its mean weighted by how often each class occurs.


class ClassScore(NamedTuple):
    """How well one class is found."""

    n: int
    """How many pairs are in it."""
    precision: float
    recall: float
    f1: float


class ClassificationScores(NamedTuple):
    """How well all are."""

    weighted_f1: float
    accuracy: float
    classes: dict[str, ClassScore]

    def to_json(self) -> dict[str, object]:
        """As JSON."""
        classes = {name: score._asdict() for name, score in self.classes.items()}
        return {**self._asdict(), "classes": classes}


def f1_scores(gold: Sequence[str], predicted: Sequence[str]) -> ClassificationScores:
    """The scores of predictions, in shares of one, by the classes of `gold`.

    A class that is never predicted has precision 0, and so F1 0.
    """
    right = Counter(g for g, p in zip(gold, predicted, strict=True) if g == p)
    counts, guesses = Counter(gold), Counter(predicted)
    classes = {
        name: _class_score(counts[name], right[name], guesses[name]) for name in sorted(counts)
    }
    weighted = sum(score.n * score.f1 for score in classes.values()) / max(1, len(gold))
    return ClassificationScores(weighted, right.total() / max(1, len(gold)), classes)


def _class_score(n: int, right: int, guessed: int) -> ClassScore:
    return ClassScore(n, right / guessed if guessed else 0.0, right / n, 2 * right / (n + guessed))


# == Whether probabilities mean what they say.
#
# Shapes: N pairs, K classes.


_BINS = 10
_SMALLEST = 1e-9
"""A probability of 0 for what is true would cost an infinity."""


class Calibration(NamedTuple):
    """How probabilities compare with what is true."""

    n: int
    accuracy: float
    """Of the most probable class."""
    confidence: float
    """The mean probability of the most probable class; as large as the accuracy if it is true."""
    expected_error: float
    """The expected calibration error: the mean difference of the two in ten bins of confidence."""
    log_loss: float


def calibration(probabilities: NDArray[np.floating], labels: Sequence[int]) -> Calibration:
    """Of the probabilities of classes, (N, K), and which class is true."""
    truth = np.asarray(labels, np.intp)
    confidence = probabilities.max(axis=1).astype(np.float64)
    right = probabilities.argmax(axis=1) == truth
    bins = np.minimum((confidence * _BINS).astype(np.intp), _BINS - 1)
    # In each bin the sums differ by as much as the means times the share of the bin.
    differences = np.bincount(bins, confidence - right, _BINS)
    true_ones = probabilities[np.arange(len(truth)), truth].astype(np.float64)
    count = max(1, len(truth))
    return Calibration(
        len(truth),
        float(right.sum() / count),
        float(confidence.sum() / count),
        float(np.abs(differences).sum() / count),
        float(-np.log(np.maximum(true_ones, _SMALLEST)).sum() / count),
    )


# == How well relations are learnt from the training split of a set, beside what words alone give.
#
# Every view of a pair is learnt by the same three small networks; how strongly they are held back
# from learning by heart, the validation split decides. Nothing is dropped: a word that the model does
# not know is carried over from the word vectors, read as another word, or zero, and the pair is
# answered all the same.


NETWORKS = 3
"""For each view."""
ROWS: Mapping[str, tuple[View, ...]] = {
    "concatenation": ("words",),
    "difference": ("difference",),
    "pair2vec": ("pairs",),
    "pair2vec and words": ("words", "both"),
}
CONFIGS = (MlpConfig(), MlpConfig(steps=1_000, input_dropout=0.5))
"""Ways to learn: for many examples, and for few."""

_Progress = Callable[[str], None]


class RelationRow(NamedTuple):
    """What one kind of classifier reaches."""

    name: str
    views: tuple[str, ...]
    val: ClassificationScores
    test: ClassificationScores
    calibration: Calibration | None
    """On the test split."""

    def to_json(self) -> dict[str, object]:
        """As JSON."""
        return {
            "views": list(self.views),
            "val": self.val.to_json(),
            "test": self.test.to_json(),
            "calibration": self.calibration and self.calibration._asdict(),
        }


@dataclass(frozen=True, kw_only=True)
class RelationProtocol:
    """What the figures depend on."""

    data: str
    model: str
    vectors: str
    train: int
    val: int
    test: int
    unknown: float
    """The share of test pairs with a word that the model does not know, in percent."""
    read_as_others: float
    """Of all test pairs, those of which it reads an unknown word by its vector or as another."""
    zero: float
    """Of all test pairs, those with a word that is zero."""
    networks: int
    steps: int
    """Of learning; chosen on the validation split, as the next."""
    input_dropout: float
    seed: int
    seconds: float


@dataclass(frozen=True)
class RelationResult:
    """All rows."""

    rows: tuple[RelationRow, ...]
    protocol: RelationProtocol

    def to_json(self) -> dict[str, object]:
        """As JSON."""
        return {
            "rows": {row.name: row.to_json() for row in self.rows},
            "protocol": asdict(self.protocol),
        }


class _Fitted(NamedTuple):
    """The probabilities of one view's networks."""

    val: NDArray[np.float32]
    test: NDArray[np.float32]


def evaluate_relations(
    model: Pair2vec,
    found: RelationSet,
    words: WordTable,
    *,
    vectors: str,
    configs: Sequence[MlpConfig] = CONFIGS,
    seed: int = 0,
    report: _Progress = lambda _: None,
) -> RelationResult:
    """Learn from the training split, choose by the validation split, answer the test split.

    Args:
        model: Whose pair vectors to use.
        found: The set.
        words: Vectors of single words.
        vectors: What they are called.
        configs: Of the networks, to choose from.
        seed: Of the networks.
        report: Told what is being learnt.
    """
    start = time.perf_counter()
    learner = _Learner(model, found, words, seed, report)
    config = learner.choose(configs)
    rows = [learner.majority(), *(learner.row(name, config) for name in ROWS)]
    views = PairViews(model.pair_source, model.vocabulary, words)
    asked = [pair.words for pair in found.test]
    known, is_read = views.known(asked), views.read(asked)
    protocol = RelationProtocol(
        data=found.name,
        model=str(model.saved.folder),
        vectors=vectors,
        train=len(found.train),
        val=len(found.val),
        test=len(found.test),
        unknown=_percent(~known),
        read_as_others=_percent(~known & is_read),
        zero=_percent(~is_read),
        networks=NETWORKS,
        steps=config.steps,
        input_dropout=config.input_dropout,
        seed=seed,
        seconds=round(time.perf_counter() - start, 1),
    )
    return RelationResult(tuple(rows), protocol)


class _Learner:
    """Rows of one set; a view is learnt once, however many rows it is in."""

    def __init__(
        self, model: Pair2vec, found: RelationSet, words: WordTable, seed: int, report: _Progress
    ) -> None:
        self._set = found
        self._new = partial(RelationClassifier, model, words, unknown="zero", seed=seed)
        self._report = report
        self._classes = np.unique([pair.relation for pair in found.train])
        self._fitted: dict[View, _Fitted] = {}

    def choose(self, configs: Sequence[MlpConfig]) -> MlpConfig:
        """The way of learning from words whose probabilities fit the validation split best."""
        if len(configs) == 1:
            return configs[0]
        self._report(f"{self._set.name}: choosing how to learn")
        losses = [self._loss_on_val(config) for config in configs]
        return configs[int(np.argmin(losses))]

    def _loss_on_val(self, config: MlpConfig) -> float:
        fitted = self._learn("words", config, networks=1)
        return calibration(fitted.val, self._places(self._set.val)).log_loss

    def majority(self) -> RelationRow:
        """The most frequent relation of the training split for every pair."""
        commonest = Counter(pair.relation for pair in self._set.train).most_common(1)[0][0]
        val, test = (
            f1_scores(_labels(split), [commonest] * len(split))
            for split in (self._set.val, self._set.test)
        )
        return RelationRow("majority", (), val, test, None)

    def row(self, name: str, config: MlpConfig) -> RelationRow:
        """What the mean of some views' networks reaches."""
        for view in ROWS[name]:
            if view not in self._fitted:
                self._report(f"{self._set.name}: learning from {view}")
                self._fitted[view] = self._learn(view, config, networks=NETWORKS)
        fitted = [self._fitted[view] for view in ROWS[name]]
        val, test = (np.mean(split, axis=0) for split in zip(*fitted, strict=True))
        return RelationRow(
            name,
            ROWS[name],
            f1_scores(_labels(self._set.val), self._classes[val.argmax(axis=1)].tolist()),
            f1_scores(_labels(self._set.test), self._classes[test.argmax(axis=1)].tolist()),
            calibration(test, self._places(self._set.test)),
        )

    def _learn(self, view: View, config: MlpConfig, *, networks: int) -> _Fitted:
        classifier = self._new(views=[view], config=config, networks=networks)
        classifier.fit([pair.words for pair in self._set.train], _labels(self._set.train))
        return _Fitted(
            *(
                classifier.predict_proba([pair.words for pair in split])
                for split in (self._set.val, self._set.test)
            )
        )

    def _places(self, pairs: Sequence[LabelledPair]) -> list[int]:
        """The place of each pair's label among the classes."""
        places: list[int] = np.searchsorted(self._classes, _labels(pairs)).tolist()
        return places


def _labels(pairs: Sequence[LabelledPair]) -> list[str]:
    return [pair.relation for pair in pairs]


def _percent(chosen: NDArray[np.bool_]) -> float:
    return round(100 * float(chosen.mean()), 2)

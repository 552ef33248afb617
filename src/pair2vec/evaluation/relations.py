"""How well relations are learnt from the training split of a set, beside what words alone give.

Every view of a pair is learnt by the same three small networks; how strongly they are held back
from learning by heart, the validation split decides. Nothing is dropped: a word that the model does
not know is carried over from the word vectors, read as another word, or zero, and the pair is
answered all the same.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.evaluation.calibration import Calibration, calibration
from pair2vec.evaluation.f1 import Scores, f1_scores
from pair2vec.evaluation.relation_sets import LabelledPair, RelationSet
from pair2vec.query import Pair2vec
from pair2vec.query.pair_views import PairViews, View
from pair2vec.query.relation_classifier import RelationClassifier
from pair2vec.query.small_network import NetworkConfig
from pair2vec.query.word_table import WordTable

NETWORKS = 3
"""For each view."""
ROWS: Mapping[str, tuple[View, ...]] = {
    "concatenation": ("words",),
    "difference": ("difference",),
    "pair2vec": ("pairs",),
    "pair2vec and words": ("words", "both"),
}
CONFIGS = (NetworkConfig(), NetworkConfig(steps=1_000, input_dropout=0.5))
"""Ways to learn: for many examples, and for few."""

Progress = Callable[[str], None]


class Row(NamedTuple):
    """What one kind of classifier reaches."""

    name: str
    views: tuple[str, ...]
    val: Scores
    test: Scores
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
class Protocol:
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

    rows: tuple[Row, ...]
    protocol: Protocol

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


def examine_relations(
    model: Pair2vec,
    found: RelationSet,
    words: WordTable,
    *,
    vectors: str,
    configs: Sequence[NetworkConfig] = CONFIGS,
    seed: int = 0,
    report: Progress = lambda _: None,
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
    protocol = Protocol(
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
        self, model: Pair2vec, found: RelationSet, words: WordTable, seed: int, report: Progress
    ) -> None:
        self._set = found
        self._new = partial(RelationClassifier, model, words, unknown="zero", seed=seed)
        self._report = report
        self._classes = np.unique([pair.relation for pair in found.train])
        self._fitted: dict[View, _Fitted] = {}

    def choose(self, configs: Sequence[NetworkConfig]) -> NetworkConfig:
        """The way of learning from words whose probabilities fit the validation split best."""
        if len(configs) == 1:
            return configs[0]
        self._report(f"{self._set.name}: choosing how to learn")
        losses = [self._loss_on_val(config) for config in configs]
        return configs[int(np.argmin(losses))]

    def _loss_on_val(self, config: NetworkConfig) -> float:
        fitted = self._learn("words", config, networks=1)
        return calibration(fitted.val, self._places(self._set.val)).log_loss

    def majority(self) -> Row:
        """The most frequent relation of the training split for every pair."""
        commonest = Counter(pair.relation for pair in self._set.train).most_common(1)[0][0]
        val, test = (
            f1_scores(_labels(split), [commonest] * len(split))
            for split in (self._set.val, self._set.test)
        )
        return Row("majority", (), val, test, None)

    def row(self, name: str, config: NetworkConfig) -> Row:
        """What the mean of some views' networks reaches."""
        for view in ROWS[name]:
            if view not in self._fitted:
                self._report(f"{self._set.name}: learning from {view}")
                self._fitted[view] = self._learn(view, config, networks=NETWORKS)
        fitted = [self._fitted[view] for view in ROWS[name]]
        val, test = (np.mean(split, axis=0) for split in zip(*fitted, strict=True))
        return Row(
            name,
            ROWS[name],
            f1_scores(_labels(self._set.val), self._classes[val.argmax(axis=1)].tolist()),
            f1_scores(_labels(self._set.test), self._classes[test.argmax(axis=1)].tolist()),
            calibration(test, self._places(self._set.test)),
        )

    def _learn(self, view: View, config: NetworkConfig, *, networks: int) -> _Fitted:
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

"""A classifier of pairs that learns relations from labelled ones, in scikit-learn's conventions."""

from collections.abc import Iterable, Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import UsageError
from pair2vec.query.half_pair import Vectors
from pair2vec.query.model import Pair2vec, Unknown
from pair2vec.query.pair_views import PairViews, View
from pair2vec.query.small_network import NetworkConfig, SmallNetwork
from pair2vec.query.word_table import WordTable
from pair2vec.text.spelling import find_pair

Labels = NDArray[np.str_]

_PARAMETERS = ("model", "words", "views", "networks", "config", "unknown", "seed")


class RelationClassifier:
    """Small networks on frozen pair vectors, and on word vectors where there are some.

    Each view of a pair has networks of its own, and the probabilities are their mean: networks
    that see different things err on different pairs.
    """

    def __init__(
        self,
        model: Pair2vec,
        words: WordTable | None = None,
        *,
        views: Sequence[View] | None = None,
        networks: int = 1,
        config: NetworkConfig | None = None,
        unknown: Unknown = "error",
        seed: int = 0,
    ) -> None:
        """A classifier that has not learnt anything.

        Args:
            model: Whose pair vectors to use.
            words: Vectors of single words, to be used as well.
            views: What the networks see; else "pairs", or with words "words" and "both".
            networks: How many for each view.
            config: How large a network is, and how it learns.
            unknown: What to do with a word that the model does not know: "error" raises; "zero"
                takes the vector of the word that it can be read as (`query.stand_ins`), or else
                zero; "skip" leaves the pair out of `fit`.
            seed: Of what is drawn by chance.
        """
        self.model = model
        self.words = words
        self.views = views
        self.networks = networks
        self.config = config
        self.unknown = unknown
        self.seed = seed

    def fit(self, pairs: Iterable[tuple[str, str]], labels: Iterable[str]) -> "RelationClassifier":
        """Learn from labelled pairs."""
        examples, names = [(x, y) for x, y in pairs], np.array(list(labels))
        if len(examples) != len(names) or not examples:
            raise UsageError(f"{len(examples):,} pairs but {len(names):,} labels; give one each")
        made = self._open()
        if self.unknown == "skip":
            known = made.known(examples)
            examples, names = [p for p, k in zip(examples, known, strict=True) if k], names[known]
        self._check_words(examples)
        self.classes_, wanted = np.unique(names, return_inverse=True)
        self._networks: dict[View, list[SmallNetwork]] = {}
        for view in self._views():
            features = made(view, examples)
            self._networks[view] = [
                SmallNetwork(
                    features,
                    wanted,
                    len(self.classes_),
                    self.config or NetworkConfig(),
                    np.random.default_rng([self.seed, number]),
                )
                for number in range(self.networks)
            ]
        return self

    def predict_proba(self, pairs: Iterable[tuple[str, str]]) -> Vectors:
        """The probability of each of `classes_` for each pair: (pairs, classes)."""
        if not hasattr(self, "classes_"):
            raise UsageError("the classifier has not learnt anything; call fit first")
        if self.unknown == "skip":
            raise UsageError('unknown is "skip", with which no answer can be given; "zero" has one')
        asked = [(x, y) for x, y in pairs]
        self._check_words(asked)
        made = self._open()
        total = np.zeros((len(asked), len(self.classes_)), np.float32)
        for view, networks in self._networks.items():
            features = made(view, asked)
            for network in networks:
                total += network.probabilities(features) / len(networks)
        return total / np.float32(len(self._networks))

    def predict(self, pairs: Iterable[tuple[str, str]]) -> Labels:
        """The most probable class of each pair."""
        places = self.predict_proba(pairs).argmax(axis=1)
        found: Labels = self.classes_[places]
        return found

    def score(self, pairs: Iterable[tuple[str, str]], labels: Iterable[str]) -> float:
        """The share of pairs whose most probable class is the right one."""
        return float(np.mean(self.predict(pairs) == np.array(list(labels))))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """What it was made with."""
        del deep
        return {name: getattr(self, name) for name in _PARAMETERS}

    def set_params(self, **parameters: object) -> "RelationClassifier":
        """Change what it was made with; `fit` then learns anew."""
        for name, value in parameters.items():
            if name not in _PARAMETERS:
                raise UsageError(f"{name!r} is not one of {', '.join(_PARAMETERS)}")
            setattr(self, name, value)
        return self

    def _open(self) -> PairViews:
        if self.unknown not in get_args(Unknown):
            raise UsageError(
                f"unknown is {self.unknown!r}; it must be one of {', '.join(get_args(Unknown))}"
            )
        return PairViews(self.model.pair_source, self.model.vocabulary, self.words)

    def _views(self) -> tuple[View, ...]:
        if self.views is not None:
            return tuple(self.views)
        return ("pairs",) if self.words is None else ("words", "both")

    def _check_words(self, pairs: Sequence[tuple[str, str]]) -> None:
        if self.unknown == "error":
            for x, y in pairs:
                find_pair(x, y, self.model.vocabulary)

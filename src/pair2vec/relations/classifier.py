"""A classifier of relations, trained on labelled pairs, with scikit-learn's conventions.

Shapes: N pairs, F features, V words with a vector, D dimension of the model, E of the word vectors.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import FloatArray, normalise, ridge_regression
from pair2vec.errors import UsageError
from pair2vec.query.space import PairSpace, Unknown, check_unknown
from pair2vec.relations.mlp import Mlp, MlpConfig
from pair2vec.relations.word_forms import closest_known_form
from pair2vec.text.vocabulary import SPECIAL_TOKENS, look_up_pair

View = Literal["pairs", "words", "difference", "both"]
"""R and its first layer in both directions; x and y; y − x; or pairs and words."""

_MAP_PENALTY = np.float32(0.01)
_PARAMETERS = ("model", "words", "views", "networks", "config", "unknown", "seed")


class OpenedModel(Protocol):
    """A `Pair2vec`, or what else has a pair space."""

    @property
    def space(self) -> PairSpace: ...


class WordTable:
    """Vectors of single words by their spelling, normalised."""

    def __init__(self, words: Sequence[str], vectors: FloatArray) -> None:
        """A table.

        Args:
            words: Each once, in lower case.
            vectors: One row a word, (V, E); a word whose row is zero is left out.
        """
        if vectors.ndim != 2 or len(words) != len(vectors):
            raise UsageError(f"{len(words):,} words but vectors of shape {vectors.shape}")
        kept = np.flatnonzero(np.any(vectors, axis=1))
        self.vectors = normalise(vectors[kept].astype(np.float32))
        self.ids = {words[row]: new_row for new_row, row in enumerate(kept.tolist())}

    @property
    def dimension(self) -> int:
        return int(self.vectors.shape[1])

    def __contains__(self, word: object) -> bool:
        return word in self.ids

    def rows(self, words: Iterable[str | None]) -> FloatArray:
        """The vectors of words, (N, E); None is a row of zeros."""
        zero = np.zeros(self.dimension, np.float32)
        rows = [zero if word is None else self.vectors[self.ids[word]] for word in words]
        return np.array(rows, np.float32).reshape(-1, self.dimension)


class RelationClassifier:
    """An ensemble of small networks on frozen pair vectors and, if given, word vectors.

    Each view of a pair has networks of its own, and the probabilities are averaged: networks with
    different features err on different pairs.
    """

    def __init__(
        self,
        model: OpenedModel,
        words: WordTable | None = None,
        *,
        views: Sequence[View] | None = None,
        networks: int = 1,
        config: MlpConfig | None = None,
        unknown: Unknown = "error",
        seed: int = 0,
    ) -> None:
        """A classifier to be fitted.

        Args:
            model: Whose pair vectors to use.
            words: Vectors of single words, to be used as well.
            views: The features of the networks; by default "pairs", or with words "words" and
                "both".
            networks: How many for each view.
            config: The size and training of a network.
            unknown: What to do with a word that the model does not know: "error" raises; "zero"
                takes its closest known form (`relations.word_forms`), or else a zero vector; "skip"
                leaves the pair out of `fit`; "compose" composes it, or raises.
            seed: Of initialisation, dropout and batches.
        """
        self.model = model
        self.words = words
        self.views = views
        self.networks = networks
        self.config = config
        self.unknown = unknown
        self.seed = seed

    def fit(self, pairs: Iterable[tuple[str, str]], labels: Iterable[str]) -> "RelationClassifier":
        """Train on labelled pairs."""
        examples, names = [(x, y) for x, y in pairs], np.array(list(labels))
        if len(examples) != len(names) or not examples:
            raise UsageError(f"{len(examples):,} pairs but {len(names):,} labels; give one each")
        views = self._pair_views()
        if self.unknown == "skip":
            known = views.known(examples)
            examples, names = [p for p, k in zip(examples, known, strict=True) if k], names[known]
            if not examples:
                raise UsageError("the model knows both words of none of the pairs; give others")
        self._check_words(examples)
        self.classes_, targets = np.unique(names, return_inverse=True)
        self._networks: dict[View, list[Mlp]] = {}
        for view in self._view_names():
            features = views(view, examples)
            self._networks[view] = [
                Mlp(
                    features,
                    targets,
                    len(self.classes_),
                    self.config or MlpConfig(),
                    np.random.default_rng([self.seed, number]),
                )
                for number in range(self.networks)
            ]
        return self

    def predict_proba(self, pairs: Iterable[tuple[str, str]]) -> FloatArray:
        """The probability of each of `classes_` for each pair: (pairs, classes)."""
        if not hasattr(self, "classes_"):
            raise UsageError("the classifier is not fitted; call fit first")
        if self.unknown == "skip":
            raise UsageError('unknown is "skip", which cannot predict a pair; use "zero"')
        queries = [(x, y) for x, y in pairs]
        self._check_words(queries)
        views = self._pair_views()
        total = np.zeros((len(queries), len(self.classes_)), np.float32)
        for view, networks in self._networks.items():
            features = views(view, queries)
            for network in networks:
                total += network.probabilities(features) / len(networks)
        return total / np.float32(len(self._networks))

    def predict(self, pairs: Iterable[tuple[str, str]]) -> NDArray[np.str_]:
        """The most probable class of each pair."""
        best = self.predict_proba(pairs).argmax(axis=1)
        labels: NDArray[np.str_] = self.classes_[best]
        return labels

    def score(self, pairs: Iterable[tuple[str, str]], labels: Iterable[str]) -> float:
        """The accuracy of `predict`."""
        return float(np.mean(self.predict(pairs) == np.array(list(labels))))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor."""
        del deep
        return {name: getattr(self, name) for name in _PARAMETERS}

    def set_params(self, **parameters: object) -> "RelationClassifier":
        """Change arguments of the constructor, for the next `fit`."""
        for name, value in parameters.items():
            if name not in _PARAMETERS:
                raise UsageError(f"{name!r} is not one of {', '.join(_PARAMETERS)}")
            setattr(self, name, value)
        return self

    def _pair_views(self) -> "PairViews":
        check_unknown(self.unknown)
        return PairViews(self.model.space, self.words, composes=self.unknown == "compose")

    def _view_names(self) -> tuple[View, ...]:
        if self.views is not None:
            return tuple(self.views)
        return ("pairs",) if self.words is None else ("words", "both")

    def _check_words(self, pairs: Sequence[tuple[str, str]]) -> None:
        if self.unknown == "error":
            for x, y in pairs:
                look_up_pair(x, y, self.model.space.vocabulary)


class PairViews:
    """Features of typed pairs; out-of-vocabulary words fall back on word vectors or known forms."""

    def __init__(
        self, space: PairSpace, words: WordTable | None = None, *, composes: bool = False
    ) -> None:
        """Views of pairs.

        Args:
            space: Of the model.
            words: Vectors of single words.
            composes: Whether an unknown word is composed, before word vectors or known forms.
        """
        self._space = space
        self._vocabulary = space.vocabulary
        self._words = words
        self._composes = composes

    def __call__(self, view: View, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        """The features of a view: (N, F)."""
        if view not in get_args(View):
            raise UsageError(f"view is {view!r}; it must be one of {', '.join(get_args(View))}")
        if view == "pairs":
            return self._pair_features(pairs)
        if self._words is None:
            raise UsageError(f"view {view!r}: needs word vectors; give them as words")
        x, y = (self._words.rows(self._known_in_table(side)) for side in _sides(pairs))
        if view == "difference":
            return y - x
        words = np.concatenate([x, y], axis=1)
        return np.concatenate([words, self._pair_features(pairs)], 1) if view == "both" else words

    def known(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.bool_]:
        """Whether both words of a pair are in the vocabulary: (N,)."""
        known = [all(word.lower() in self._vocabulary for word in pair) for pair in pairs]
        return np.array(known, np.bool_)

    def has_vectors(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.bool_]:
        """Whether both words of a pair have an input, be it of a fallback: (N,)."""
        return np.array([all(self._input(word).any() for word in pair) for pair in pairs], np.bool_)

    def _known_in_table(self, words: Sequence[str]) -> list[str | None]:
        assert self._words is not None
        return [closest_known_form(word, self._words) for word in words]

    def _pair_features(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        """R, whitened and normalised, and its first layer; zero where a word has no input."""
        distinct = {
            word: row for row, word in enumerate(dict.fromkeys(w for p in pairs for w in p))
        }
        inputs = np.array([self._input(word) for word in distinct], np.float32)
        inputs = inputs.reshape(-1, self._space.pairs.dimension)
        x, y = (inputs[[distinct[word] for word in side]] for side in _sides(pairs))
        network = self._space.pairs
        parts = [self._space.whiten(vectors) for vectors in network.compose_both(x, y)]
        parts += [network.first_layer(x, y), network.first_layer(y, x)]
        has_inputs = np.any(x, axis=1, keepdims=True) & np.any(y, axis=1, keepdims=True)
        features: FloatArray = np.concatenate(parts, axis=1) * has_inputs
        return features

    def _input(self, word: str) -> FloatArray:
        """The input of R: the word's own, mapped from its word vector, a known form's, or zero."""
        lower, network = word.lower(), self._space.pairs
        if self._composes:
            composed: FloatArray = network.inputs(np.array([self._space.look_up(word)]))[0]
            return composed
        if self._words is not None and lower in self._words and lower not in self._vocabulary:
            mapped = (self._words.rows([lower]) @ self._map)[0]
            return normalise(mapped) if network.has_unit_inputs else mapped
        known = closest_known_form(word, self._vocabulary)
        if known is None or known in SPECIAL_TOKENS:
            return np.zeros(network.dimension, np.float32)
        vector: FloatArray = network.inputs(np.array([self._vocabulary.ids[known]]))[0]
        return vector

    @cached_property
    def _map(self) -> FloatArray:
        """From word vectors to inputs of R: ridge regression on the shared words, (E, D)."""
        assert self._words is not None
        shared = [word for word in self._vocabulary.words if word in self._words]
        vectors = self._words.rows(shared)
        ids = np.array([self._vocabulary.ids[word] for word in shared])
        return ridge_regression(vectors, self._space.pairs.inputs(ids), _MAP_PENALTY)


class _Sides(NamedTuple):
    x: list[str]
    y: list[str]


def _sides(pairs: Sequence[tuple[str, str]]) -> _Sides:
    return _Sides([x for x, _ in pairs], [y for _, y in pairs])

"""Vectors of single words by their spelling."""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import FloatArray, normalise
from pair2vec.errors import UsageError
from pair2vec.query.vectors import ModelVectors, PairSpace, Unknown
from pair2vec.relations.mlp import Mlp, MlpConfig
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary, find_pair


class WordTable:
    """Words and their vectors, brought to length one."""

    def __init__(self, words: Sequence[str], vectors: FloatArray) -> None:
        """A table.

        Args:
            words: Each once, in small letters.
            vectors: One row a word, (V, D); a word whose row is zero is left out.
        """
        if vectors.ndim != 2 or len(words) != len(vectors):
            raise UsageError(f"{len(words):,} words but vectors of shape {vectors.shape}")
        kept = np.flatnonzero(np.any(vectors, axis=1))
        self.vectors = normalise(vectors[kept].astype(np.float32))
        self.ids = {words[row]: place for place, row in enumerate(kept.tolist())}

    @property
    def dimension(self) -> int:
        """Of the vectors, D."""
        return int(self.vectors.shape[1])

    def __contains__(self, word: object) -> bool:
        return word in self.ids

    def rows(self, words: Iterable[str | None]) -> FloatArray:
        """The vectors of words, (N, D); None is a row of zeros."""
        zero = np.zeros(self.dimension, np.float32)
        found = [zero if word is None else self.vectors[self.ids[word]] for word in words]
        return np.array(found, np.float32).reshape(-1, self.dimension)


# == Known words that can stand in for one that is not: other spellings, other forms, the head.
#
# ``Body_part`` is read as *part*, ``trouser`` as *trousers*, ``bookcase`` as *case*.


_SHORTEST_PART = 3
_SHORTEST_ENDING = 4
_SPELLINGS = (("our", "or"), ("or", "our"), ("ise", "ize"), ("ize", "ise"))
_FORMS = (
    *(("", "s"), ("", "es"), ("s", ""), ("es", ""), ("y", "ies"), ("ies", "y")),
    *(("", "d"), ("", "ed"), ("", "ing"), ("e", "ing")),
)


def closest_known_form(word: str, known: Container[str]) -> str | None:
    """The known word that `word` is best read as: itself, if it is one; None if there is none."""
    return next((spelling for spelling in spelling_variants(word) if spelling in known), None) or (
        _head(word.lower(), known)
    )


def spelling_variants(word: str) -> Iterator[str]:
    """A word in small letters; then, the likeliest first, what it may be written as instead."""
    small = word.lower()
    yield small
    for joint in ("", "-"):
        joined = re.sub(r"[-_ ]", joint, small)
        if joined != small:
            yield joined
    for ending, other in _FORMS:
        if small.endswith(ending):
            yield small[: len(small) - len(ending)] + other
    for part, other in _SPELLINGS:
        if part in small:
            yield small.replace(part, other)
    # The head of a term stands last: a body part is a part.
    parts = re.split(r"[-_ ]", small)
    yield from (part for part in reversed(parts[1:] and parts) if len(part) >= _SHORTEST_PART)


def _head(word: str, known: Container[str]) -> str | None:
    """The longest known ending of a compound whose beginning is known, too."""
    cuts = range(_SHORTEST_PART, len(word) - _SHORTEST_ENDING + 1)
    return next((word[cut:] for cut in cuts if word[:cut] in known and word[cut:] in known), None)


# == What a classifier may see of a pair: its words, its vectors, or both.
#
# Shapes: N pairs, D dimension of the model, E dimension of the word vectors.


View = Literal["pairs", "words", "difference", "both"]
"""R and its first layer in both directions; x and y; y − x; or pairs and words."""

_MAP_PENALTY = np.float32(0.01)


class PairViews:
    """Features of pairs as typed, each word known to the model, to the word vectors, or alike."""

    def __init__(
        self, source: PairSpace, vocabulary: Vocabulary, words: WordTable | None = None
    ) -> None:
        self._source = source
        self._vocabulary = vocabulary
        self._words = words

    def __call__(self, view: View, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        """(N, F)."""
        if view not in get_args(View):
            raise UsageError(f"view is {view!r}; it must be one of {', '.join(get_args(View))}")
        if view == "pairs":
            return self._pair_features(pairs)
        if self._words is None:
            raise UsageError(f"view {view!r}: needs word vectors; give them as words")
        x, y = (self._words.rows(self._read_in_table(side)) for side in _sides(pairs))
        if view == "difference":
            return y - x
        alone = np.concatenate([x, y], axis=1)
        return np.concatenate([alone, self._pair_features(pairs)], 1) if view == "both" else alone

    def known(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.bool_]:
        """Of each pair, whether the model knows both its words as they are spelled: (N,)."""
        known = [all(word.lower() in self._vocabulary for word in pair) for pair in pairs]
        return np.array(known, np.bool_)

    def read(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.bool_]:
        """Of each pair, whether there is a vector for both its words or for words like them."""
        return np.array([all(self._input(word).any() for word in pair) for pair in pairs], np.bool_)

    def _read_in_table(self, words: Sequence[str]) -> list[str | None]:
        assert self._words is not None
        return [closest_known_form(word, self._words) for word in words]

    def _pair_features(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        """R, evened out and of length one, and its first layer; zero where a word is not read."""
        distinct = {
            word: row for row, word in enumerate(dict.fromkeys(w for p in pairs for w in p))
        }
        inputs = np.array([self._input(word) for word in distinct], np.float32)
        inputs = inputs.reshape(-1, self._source.pairs.dimension)
        x, y = (inputs[[distinct[word] for word in side]] for side in _sides(pairs))
        network = self._source.pairs
        parts = [self._source.compared(network.compose(*sides)) for sides in ((x, y), (y, x))]
        parts += [network.first_layer(*sides) for sides in ((x, y), (y, x))]
        is_read = np.any(x, axis=1, keepdims=True) & np.any(y, axis=1, keepdims=True)
        features: FloatArray = np.concatenate(parts, axis=1) * is_read
        return features

    def _input(self, word: str) -> FloatArray:
        """A word as R takes it: its own, one made of its word vector, a like word's, or zero."""
        small, network = word.lower(), self._source.pairs
        if self._words is not None and small in self._words and small not in self._vocabulary:
            carried = (self._words.rows([small]) @ self._carry)[0]
            return normalise(carried) if network.takes_unit_words else carried
        other = closest_known_form(word, self._vocabulary)
        if other is None or other in SPECIAL_TOKENS:
            return np.zeros(network.dimension, np.float32)
        vector: FloatArray = network.inputs(np.array([self._vocabulary.ids[other]]))[0]
        return vector

    @cached_property
    def _carry(self) -> FloatArray:
        """From word vectors to the model's own, by the words that both have: (E, D)."""
        assert self._words is not None
        shared = [word for word in self._vocabulary.words if word in self._words]
        theirs = self._words.rows(shared)
        ours = self._source.pairs.inputs(np.array([self._vocabulary.ids[word] for word in shared]))
        gram = theirs.T @ theirs + _MAP_PENALTY * np.eye(self._words.dimension, dtype=np.float32)
        solved: FloatArray = np.linalg.solve(gram, theirs.T @ ours)
        return solved


class _Sides(NamedTuple):
    x: list[str]
    y: list[str]


def _sides(pairs: Sequence[tuple[str, str]]) -> _Sides:
    return _Sides([x for x, _ in pairs], [y for _, y in pairs])


# == A classifier of pairs that learns relations from labelled ones, in scikit-learn's conventions.


Labels = NDArray[np.str_]

_PARAMETERS = ("model", "words", "views", "networks", "config", "unknown", "seed")


class RelationClassifier:
    """Small networks on frozen pair vectors, and on word vectors where there are some.

    Each view of a pair has networks of its own, and the probabilities are their mean: networks
    that see different things err on different pairs.
    """

    def __init__(
        self,
        model: ModelVectors,
        words: WordTable | None = None,
        *,
        views: Sequence[View] | None = None,
        networks: int = 1,
        config: MlpConfig | None = None,
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
                takes the vector of the word that it can be read as (`relations.classifier`), or else
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
        self._networks: dict[View, list[Mlp]] = {}
        for view in self._views():
            features = made(view, examples)
            self._networks[view] = [
                Mlp(
                    features,
                    wanted,
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

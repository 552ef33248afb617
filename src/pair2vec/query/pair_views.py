"""What a classifier may see of a pair: its words, its vectors, or both.

Shapes: N pairs, D dimension of the model, E dimension of the word vectors.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import UsageError
from pair2vec.query.half_pair import Vectors, normalise
from pair2vec.query.relation_features import PairSource
from pair2vec.query.stand_ins import stand_in
from pair2vec.query.word_table import WordTable
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary

View = Literal["pairs", "words", "difference", "both"]
"""R and its first layer in both directions; x and y; y − x; or pairs and words."""

_MAP_PENALTY = np.float32(0.01)


class PairViews:
    """Features of pairs as typed, each word known to the model, to the word vectors, or alike."""

    def __init__(
        self, source: PairSource, vocabulary: Vocabulary, words: WordTable | None = None
    ) -> None:
        self._source = source
        self._vocabulary = vocabulary
        self._words = words

    def __call__(self, view: View, pairs: Sequence[tuple[str, str]]) -> Vectors:
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
        return [stand_in(word, self._words) for word in words]

    def _pair_features(self, pairs: Sequence[tuple[str, str]]) -> Vectors:
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
        features: Vectors = np.concatenate(parts, axis=1) * is_read
        return features

    def _input(self, word: str) -> Vectors:
        """A word as R takes it: its own, one made of its word vector, a like word's, or zero."""
        small, network = word.lower(), self._source.pairs
        if self._words is not None and small in self._words and small not in self._vocabulary:
            carried = (self._words.rows([small]) @ self._carry)[0]
            return normalise(carried) if network.takes_unit_words else carried
        other = stand_in(word, self._vocabulary)
        if other is None or other in SPECIAL_TOKENS:
            return np.zeros(network.dimension, np.float32)
        vector: Vectors = network.inputs(np.array([self._vocabulary.ids[other]]))[0]
        return vector

    @cached_property
    def _carry(self) -> Vectors:
        """From word vectors to the model's own, by the words that both have: (E, D)."""
        assert self._words is not None
        shared = [word for word in self._vocabulary.words if word in self._words]
        theirs = self._words.rows(shared)
        ours = self._source.pairs.inputs(np.array([self._vocabulary.ids[word] for word in shared]))
        gram = theirs.T @ theirs + _MAP_PENALTY * np.eye(self._words.dimension, dtype=np.float32)
        solved: Vectors = np.linalg.solve(gram, theirs.T @ ours)
        return solved


class _Sides(NamedTuple):
    x: list[str]
    y: list[str]


def _sides(pairs: Sequence[tuple[str, str]]) -> _Sides:
    return _Sides([x for x, _ in pairs], [y for _, y in pairs])

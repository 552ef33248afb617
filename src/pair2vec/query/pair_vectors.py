"""R(x, y) without torch, from a saved model.

Shapes: V vocabulary, N pairs, D dimension.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import InputError
from pair2vec.model.folder import SavedModel
from pair2vec.model.precision import Rows
from pair2vec.query.half_pair import BLOCK, HalfPair, Layer, Vectors, normalise

Numbers = NDArray[np.intp]

Role = Literal["x", "y"]
"""Which word of a pair is meant."""


class PairVectors(ABC):
    """R for the ids of a vocabulary."""

    takes_unit_words = True
    """Whether its inputs have length one."""

    def __init__(self, words: Rows) -> None:
        self._rows = words
        self.words, self.dimension = words.shape

    @abstractmethod
    def inputs(self, ids: Numbers | slice) -> Vectors:
        """The vectors of words as R takes them, (N, D)."""

    @cached_property
    def all_inputs(self) -> Vectors:
        """Those of the whole vocabulary, (V, D): made at the first question that needs them."""
        made = np.empty(self._rows.shape, np.float32)
        for start in range(0, len(made), BLOCK):
            made[start : start + BLOCK] = self.inputs(slice(start, start + BLOCK))
        return made

    @abstractmethod
    def given(self, word: int, role: Role) -> HalfPair:
        """R with `word` as x or as y."""

    @abstractmethod
    def compose(self, x: Vectors, y: Vectors) -> Vectors:
        """R of pairs of inputs: (N, D)."""

    def first_layer(self, x: Vectors, y: Vectors) -> Vectors:
        """What the first layer of R makes of pairs of inputs; of width 0 where R has no layers."""
        del y
        return np.empty((len(x), 0), np.float32)

    def __call__(self, x: Sequence[int] | Numbers, y: Sequence[int] | Numbers) -> Vectors:
        """R of the pairs of ids: (N, D)."""
        ids = np.array([x, y], np.intp)
        made = np.empty((ids.shape[1], self.dimension), np.float32)
        for start in range(0, len(made), BLOCK):
            block = ids[:, start : start + BLOCK]
            made[start : start + BLOCK] = self.compose(*map(self.inputs, block))
        return made


class LearntPairs(PairVectors):
    """R whose directions training has chosen."""

    @abstractmethod
    def changed(self, change: Layer) -> "LearntPairs":
        """R with another layer behind it."""


class MlpPairs(LearntPairs):
    """R(x, y) = MLP(x, y, x∘y) on normalised words."""

    def __init__(self, saved: SavedModel) -> None:
        super().__init__(saved.rows("pair.words"))
        self._bias = saved.array("pair.first.bias")
        weight = np.ascontiguousarray(saved.array("pair.first.weight").T)
        self._weight_x, self._weight_y, self._weight_product = np.split(weight, 3)
        count = saved.config["recipe"]["pair"]["layers"] - 1
        names = [f"pair.others.{number}" for number in range(count)]
        self._others = tuple(
            Layer(
                np.ascontiguousarray(saved.array(f"{name}.weight").T), saved.array(f"{name}.bias")
            )
            for name in names
        )

    def inputs(self, ids: Numbers | slice) -> Vectors:
        """Of length one."""
        return normalise(self._rows[ids])

    def given(self, word: int, role: Role) -> HalfPair:
        """The first layer with the given word in its weights."""
        vector = self.inputs(np.array([word]))[0]
        own, other = self._weight_x, self._weight_y
        if role == "y":
            own, other = other, own
        weight = other + self._weight_product * vector[:, None]
        first = Layer(weight, self._bias + vector @ own)
        return HalfPair((first, *self._others))

    def changed(self, change: Layer) -> "MlpPairs":
        """The last layer and the change are one."""
        made = copy(self)
        if self._others:
            made._others = (*self._others[:-1], self._others[-1].then(change))
            return made
        made._weight_x, made._weight_y, made._weight_product = (
            weight @ change.weight
            for weight in (self._weight_x, self._weight_y, self._weight_product)
        )
        made._bias = change(self._bias)
        return made

    def compose(self, x: Vectors, y: Vectors) -> Vectors:
        """All layers."""
        hidden = self._combined(x, y)
        for layer in self._others:
            hidden = layer(np.maximum(hidden, 0, out=hidden))
        return hidden

    def first_layer(self, x: Vectors, y: Vectors) -> Vectors:
        """Behind its ReLU."""
        return np.maximum(self._combined(x, y), 0)

    def _combined(self, x: Vectors, y: Vectors) -> Vectors:
        hidden: Vectors = x @ self._weight_x + y @ self._weight_y
        hidden += (x * y) @ self._weight_product
        hidden += self._bias
        return hidden


class MultiplyPairs(LearntPairs):
    """R(x, y) = x∘y on normalised words."""

    def __init__(self, words: Rows) -> None:
        super().__init__(words)
        size = self.dimension
        self._change = Layer(np.eye(size, dtype=np.float32), np.zeros(size, np.float32))

    def inputs(self, ids: Numbers | slice) -> Vectors:
        """Of length one."""
        return normalise(self._rows[ids])

    def given(self, word: int, role: Role) -> HalfPair:
        """A diagonal layer before the change; both roles are one."""
        del role
        vector = self.inputs(np.array([word]))[0]
        return HalfPair((Layer(np.diag(vector), np.zeros_like(vector)).then(self._change),))

    def changed(self, change: Layer) -> "MultiplyPairs":
        """Behind the change so far."""
        made = copy(self)
        made._change = self._change.then(change)
        return made

    def compose(self, x: Vectors, y: Vectors) -> Vectors:
        """Their product, changed."""
        return self._change(x * y)


class DifferencePairs(PairVectors):
    """R(x, y) = (x − y) / ‖x − y‖."""

    takes_unit_words = False

    def inputs(self, ids: Numbers | slice) -> Vectors:
        """As they are."""
        return self._rows[ids]

    def given(self, word: int, role: Role) -> HalfPair:
        """The difference to the given word."""
        sign = np.float32(-1 if role == "x" else 1)
        vector = self.inputs(np.array([word]))[0]
        identity = np.eye(self.dimension, dtype=np.float32)
        return HalfPair((Layer(sign * identity, -sign * vector),), is_normalised=True)

    def compose(self, x: Vectors, y: Vectors) -> Vectors:
        """Their difference, of length one."""
        return normalise(x - y)


def make_pair_vectors(saved: SavedModel) -> PairVectors:
    """R as the model's recipe has it."""
    composition = saved.config["recipe"]["pair"]["composition"]
    if composition == "mlp":
        return MlpPairs(saved)
    if composition == "multiply":
        return MultiplyPairs(saved.rows("pair.words"))
    if composition == "difference":
        return DifferencePairs(saved.rows("pair.words"))
    raise InputError(
        f"{saved.folder}: composition {composition!r} is not known here; upgrade pair2vec"
    )

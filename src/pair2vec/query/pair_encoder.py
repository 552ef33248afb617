"""R with one of its words given: a network of the other word.

Shapes: N words, D dimension.

W₁[x; y; x∘y] = (W_y + W_m·diag x) y + Wₓx: with x given, the first layer is one of y alone. So a
question to the whole vocabulary costs no more in the first layer than in any other, and the last
layer, which only the dot product with one vector sees, costs next to nothing.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from pair2vec.arrays import FloatArray, IntArray, normalise, safe_norms
from pair2vec.errors import InputError
from pair2vec.model.folder import SavedModel
from pair2vec.model.tensors import Rows

ROWS_PER_BLOCK = 1536
"""Words at a time: few enough for what a layer makes of them to stay in the cache."""


class Layer(NamedTuple):
    """A linear layer."""

    weight: FloatArray
    """(inputs, outputs): the other way round than saved, in which numpy multiplies faster."""
    bias: FloatArray
    """(D,)"""

    def __call__(self, inputs: FloatArray) -> FloatArray:
        """(N, D) to (N, D)."""
        outputs: FloatArray = inputs @ self.weight
        outputs += self.bias
        return outputs

    def then(self, next_layer: "Layer") -> "Layer":
        """Both, one after the other, as one."""
        return Layer(self.weight @ next_layer.weight, next_layer(self.bias))


class Tangents(NamedTuple):
    """A number at N places, and how it changes around each."""

    values: FloatArray
    """(N,)"""
    gradients: FloatArray
    """(N, D)"""


Readout = Callable[[FloatArray], Tangents]
"""From vectors R, (N, D), to one number each, and its gradient by R."""


def dot_with(target: FloatArray) -> Readout:
    """R·target."""
    return lambda pairs: Tangents(pairs @ target, np.broadcast_to(target, pairs.shape))


def of_unit(readout: Readout) -> Readout:
    """`readout` of vectors brought to length one."""

    def read(pairs: FloatArray) -> Tangents:
        lengths = safe_norms(pairs)
        unit = pairs / lengths
        values, gradients = readout(unit)
        along = np.einsum("nd,nd->n", gradients, unit)[:, None]
        return Tangents(values, (gradients - along * unit) / lengths)

    return read


@dataclass(frozen=True)
class ConditionalPairNetwork:
    """R with one of its words given: a network of the other word's vector."""

    layers: tuple[Layer, ...]
    """With ReLU between."""
    is_normalised: bool = False
    """Whether the outcome has length one."""

    def vectors(self, words: FloatArray) -> FloatArray:
        """R of each word with the given one: (N, D)."""
        made = np.empty((len(words), len(self.layers[-1].bias)), np.float32)
        for block, pairs in self._pairs_in_blocks(words):
            made[block] = normalise(pairs) if self.is_normalised else pairs
        return made

    def cosines(self, words: FloatArray, targets: FloatArray) -> FloatArray:
        """The cosine of R of each word with each of K targets of length one, (K, D): (N, K)."""
        made = np.empty((len(words), len(targets)), np.float32)
        for block, pairs in self._pairs_in_blocks(words):
            made[block] = pairs @ targets.T
            # There are fewer targets than dimensions: dividing here is dividing less.
            made[block] /= safe_norms(pairs)
        return made

    def scores(self, words: FloatArray, readout: FloatArray) -> FloatArray:
        """R·readout for each word: (N,)."""
        if self.is_normalised:
            return self.vectors(words) @ readout
        weight, constant = self.layers[-1].weight @ readout, self._biases[-1] @ readout
        made = np.empty(len(words), np.float32)
        for block, hidden in self._hidden_in_blocks(words):
            np.matmul(hidden, weight, out=made[block])
        made += constant
        return made

    def _pairs_in_blocks(self, words: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """What the last layer makes of some words at a time."""
        for block, hidden in self._hidden_in_blocks(words):
            pairs = hidden @ self.layers[-1].weight
            pairs += self._biases[-1]
            yield block, pairs

    def _hidden_in_blocks(self, words: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """What the last layer gets of some words at a time, up to the bias it has in `_biases`."""
        # Two arrays by turns: fresh ones for each block would have to be fetched from the system.
        spare = np.empty((2, min(ROWS_PER_BLOCK, len(words)), words.shape[1]), np.float32)
        for start in range(0, len(words), ROWS_PER_BLOCK):
            block = slice(start, start + ROWS_PER_BLOCK)
            hidden = words[block]
            for place, layer in enumerate(self.layers[:-1]):
                outputs = spare[place % 2, : len(hidden)]
                np.matmul(hidden, layer.weight, out=outputs)
                np.maximum(outputs, -self._biases[place], out=outputs)
                hidden = outputs
            yield block, hidden

    @cached_property
    def _biases(self) -> list[FloatArray]:
        """The biases that are left when none is added before a ReLU.

        relu(h + b) = max(h, -b) + b, and W(… + b) = W… + Wb: a bias can wait for the next layer,
        which spares a pass over the words for each.
        """
        biases: list[FloatArray] = []
        for layer in self.layers:
            carried = biases[-1] @ layer.weight if biases else np.float32(0)
            biases.append(layer.bias + carried)
        return biases

    def tangents(self, words: FloatArray, readout: Readout) -> Tangents:
        """How a number read off R changes around each of some words."""
        inputs, is_active = words, []
        for layer in self.layers[:-1]:
            inputs = layer(inputs)
            is_active.append(inputs > 0)
            inputs = inputs * is_active[-1]
        read = of_unit(readout) if self.is_normalised else readout
        values, gradients = read(self.layers[-1](inputs))
        gradients = gradients @ self.layers[-1].weight.T
        for layer, active in zip(self.layers[-2::-1], reversed(is_active), strict=True):
            gradients = (gradients * active) @ layer.weight.T
        return Tangents(values, gradients)


# == R(x, y) without torch, from a saved model.
#
# Shapes: V vocabulary, N pairs, D dimension.


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
    def inputs(self, ids: IntArray | slice) -> FloatArray:
        """The vectors of words as R takes them, (N, D)."""

    @cached_property
    def all_inputs(self) -> FloatArray:
        """Those of the whole vocabulary, (V, D): made at the first question that needs them."""
        made = np.empty(self._rows.shape, np.float32)
        for start in range(0, len(made), ROWS_PER_BLOCK):
            made[start : start + ROWS_PER_BLOCK] = self.inputs(slice(start, start + ROWS_PER_BLOCK))
        return made

    @abstractmethod
    def given(self, word: int, role: Role) -> ConditionalPairNetwork:
        """R with `word` as x or as y."""

    @abstractmethod
    def compose(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """R of pairs of inputs: (N, D)."""

    def first_layer(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """What the first layer of R makes of pairs of inputs; of width 0 where R has no layers."""
        del y
        return np.empty((len(x), 0), np.float32)

    def __call__(self, x: Sequence[int] | IntArray, y: Sequence[int] | IntArray) -> FloatArray:
        """R of the pairs of ids: (N, D)."""
        ids = np.array([x, y], np.intp)
        made = np.empty((ids.shape[1], self.dimension), np.float32)
        for start in range(0, len(made), ROWS_PER_BLOCK):
            block = ids[:, start : start + ROWS_PER_BLOCK]
            made[start : start + ROWS_PER_BLOCK] = self.compose(*map(self.inputs, block))
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

    def inputs(self, ids: IntArray | slice) -> FloatArray:
        """Of length one."""
        return normalise(self._rows[ids])

    def given(self, word: int, role: Role) -> ConditionalPairNetwork:
        """The first layer with the given word in its weights."""
        vector = self.inputs(np.array([word]))[0]
        own, other = self._weight_x, self._weight_y
        if role == "y":
            own, other = other, own
        weight = other + self._weight_product * vector[:, None]
        first = Layer(weight, self._bias + vector @ own)
        return ConditionalPairNetwork((first, *self._others))

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

    def compose(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """All layers."""
        hidden = self._combined(x, y)
        for layer in self._others:
            hidden = layer(np.maximum(hidden, 0, out=hidden))
        return hidden

    def first_layer(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Behind its ReLU."""
        return np.maximum(self._combined(x, y), 0)

    def _combined(self, x: FloatArray, y: FloatArray) -> FloatArray:
        hidden: FloatArray = x @ self._weight_x + y @ self._weight_y
        hidden += (x * y) @ self._weight_product
        hidden += self._bias
        return hidden


class MultiplyPairs(LearntPairs):
    """R(x, y) = x∘y on normalised words."""

    def __init__(self, words: Rows) -> None:
        super().__init__(words)
        size = self.dimension
        self._change = Layer(np.eye(size, dtype=np.float32), np.zeros(size, np.float32))

    def inputs(self, ids: IntArray | slice) -> FloatArray:
        """Of length one."""
        return normalise(self._rows[ids])

    def given(self, word: int, role: Role) -> ConditionalPairNetwork:
        """A diagonal layer before the change; both roles are one."""
        del role
        vector = self.inputs(np.array([word]))[0]
        return ConditionalPairNetwork(
            (Layer(np.diag(vector), np.zeros_like(vector)).then(self._change),)
        )

    def changed(self, change: Layer) -> "MultiplyPairs":
        """Behind the change so far."""
        made = copy(self)
        made._change = self._change.then(change)
        return made

    def compose(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Their product, changed."""
        return self._change(x * y)


class DifferencePairs(PairVectors):
    """R(x, y) = (x − y) / ‖x − y‖."""

    takes_unit_words = False

    def inputs(self, ids: IntArray | slice) -> FloatArray:
        """As they are."""
        return self._rows[ids]

    def given(self, word: int, role: Role) -> ConditionalPairNetwork:
        """The difference to the given word."""
        sign = np.float32(-1 if role == "x" else 1)
        vector = self.inputs(np.array([word]))[0]
        identity = np.eye(self.dimension, dtype=np.float32)
        return ConditionalPairNetwork((Layer(sign * identity, -sign * vector),), is_normalised=True)

    def compose(self, x: FloatArray, y: FloatArray) -> FloatArray:
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

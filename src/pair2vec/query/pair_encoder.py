"""R(x, y) in numpy, for pairs of words and for one word with all others.

Shapes: V vocabulary, N pairs or words, D dimension.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Literal, NamedTuple, get_args

import numpy as np

from pair2vec.arrays import (
    ROWS_PER_BLOCK,
    FloatArray,
    IntArray,
    normalise,
    normalise_table,
    safe_norms,
)
from pair2vec.errors import InputError, UsageError
from pair2vec.model.config import pair_settings
from pair2vec.model.folder import SavedModel
from pair2vec.model.tensors import Rows

Role = Literal["x", "y"]
"""Which word of a pair is meant."""

Direction = Literal["both", "forward", "backward"]
"""Of a pair's vector: R(x, y) and R(y, x) side by side, or one of them."""


MOST_ADDED = 1 << 16
"""Words beyond the vocabulary that are held at a time."""


class LinearLayer(NamedTuple):
    """outputs = inputs · weight + bias."""

    weight: FloatArray
    """(inputs, outputs): the transpose of what is saved, with which numpy multiplies faster."""
    bias: FloatArray
    """(outputs,)"""

    def __call__(self, inputs: FloatArray) -> FloatArray:
        outputs: FloatArray = inputs @ self.weight
        outputs += self.bias
        return outputs

    def then(self, following: "LinearLayer") -> "LinearLayer":
        """Both layers as one: there is no non-linearity between them."""
        return LinearLayer(self.weight @ following.weight, following(self.bias))


class _Held(NamedTuple):
    """Rows of consecutive ids."""

    first: int
    """The id of the first row."""
    rows: FloatArray
    """(N, D)"""


class AddedInputs:
    """Inputs of words beyond the vocabulary: a small table that grows; ids are never used twice."""

    def __init__(self, first: int, dimension: int) -> None:
        """A table whose first row has an id."""
        # Replaced as a whole, so that another thread never reads half of a change.
        self._held = _Held(first, np.empty((0, dimension), np.float32))
        self._count = 0
        self._lock = Lock()

    def add(self, vector: FloatArray) -> int:
        """The id of a new row; of more than `MOST_ADDED` the older half is forgotten."""
        with self._lock:
            first, rows = self._held
            if self._count == MOST_ADDED:
                kept = MOST_ADDED // 2
                first, rows = first + self._count - kept, rows[self._count - kept :]
                self._count = kept
            if self._count == len(rows):
                rows = np.concatenate([rows, np.empty((max(16, len(rows)), rows.shape[1]), "f4")])
            # No one has this row's id yet.
            rows[self._count] = vector
            self._held = _Held(first, rows)
            self._count += 1
            return first + self._count - 1

    @property
    def first(self) -> int:
        """The lowest id that is not forgotten."""
        return self._held.first

    def __getitem__(self, ids: IntArray) -> FloatArray:
        first, rows = self._held
        found: FloatArray = rows[ids - first]
        return found


class PairNetwork(ABC):
    """R for the ids of a vocabulary, and of words that are added to it."""

    has_unit_inputs = True
    """Whether word vectors are normalised before they are composed."""

    def __init__(self, words: Rows) -> None:
        self._words = words
        self.words, self.dimension = words.shape
        self.added = AddedInputs(self.words, self.dimension)
        """As R composes them. What is made of this network shares them."""

    def inputs(self, ids: IntArray | slice) -> FloatArray:
        """The word vectors that R composes, (N, D)."""
        if isinstance(ids, slice):
            return self.all_inputs[ids]
        is_added = ids >= self.words
        if is_added.any():
            inputs = self.inputs(np.where(is_added, 0, ids))
            inputs[is_added] = self.added[ids[is_added]]
            return inputs
        words = self._words[ids]
        return normalise(words) if self.has_unit_inputs else words

    @cached_property
    def all_inputs(self) -> FloatArray:
        """`inputs` of the whole vocabulary, (V, D): computed at the first query that needs them."""
        words = self._words[...]
        if not self.has_unit_inputs:
            return words
        # In place, unless it is a view of the model's file.
        return normalise_table(words, out=words if words.flags.owndata else None)

    def __call__(self, x: Sequence[int] | IntArray, y: Sequence[int] | IntArray) -> FloatArray:
        """R of pairs of ids: (N, D)."""
        ids = np.array([x, y], np.intp)
        vectors = np.empty((ids.shape[1], self.dimension), np.float32)
        for start in range(0, len(vectors), ROWS_PER_BLOCK):
            block = slice(start, start + ROWS_PER_BLOCK)
            vectors[block] = self.compose(*map(self.inputs, ids[:, block]))
        return vectors

    @abstractmethod
    def compose(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """R of pairs of inputs: (N, D)."""

    def compose_both(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """R(x, y) and R(y, x) of pairs of inputs: (2, N, D)."""
        return np.stack([self.compose(x, y), self.compose(y, x)])

    def first_layer(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """The hidden units of the first layer for pairs of inputs: (N, 0) if R has no layers."""
        del y
        return np.empty((len(x), 0), np.float32)

    def conditioned_on(self, word: int, role: Role) -> "ConditionalPairNetwork":
        """R with `word` fixed as x or as y."""
        return self.with_input(self.inputs(np.array([word]))[0], role)

    @abstractmethod
    def with_input(self, vector: FloatArray, role: Role) -> "ConditionalPairNetwork":
        """R with one input, (D,), fixed as that of x or of y."""


class LearnedPairNetwork(PairNetwork):
    """R whose output directions are learned, so that a linear layer may follow it."""

    @abstractmethod
    def followed_by(self, layer: LinearLayer) -> "LearnedPairNetwork":
        """R with one more layer, which is folded into the last one."""


class MlpPairNetwork(LearnedPairNetwork):
    """R(x, y) = MLP(x, y, x∘y) on normalised words."""

    def __init__(self, saved: SavedModel) -> None:
        super().__init__(saved.rows("pair.words"))
        first, *self._others = [
            LinearLayer(
                np.ascontiguousarray(saved.array(f"{name}.weight").T), saved.array(f"{name}.bias")
            )
            for name in mlp_layer_names(pair_settings(saved.config, saved.folder)["layers"])
        ]
        self._weight_x, self._weight_y, self._weight_product = np.split(first.weight, 3)
        self._bias = first.bias

    def compose(self, x: FloatArray, y: FloatArray) -> FloatArray:
        return self._after_first(self._first(x, y))

    def compose_both(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """As for each direction, with the product x∘y multiplied once."""
        shared = (x * y) @ self._weight_product
        shared += self._bias
        hidden = np.empty((2, *shared.shape), np.float32)
        for own, one, other in zip(hidden, (x, y), (y, x), strict=True):
            np.matmul(one, self._weight_x, out=own)
            own += other @ self._weight_y
            own += shared
        # All rows at once: of a few pairs, reading the weights takes longer than multiplying.
        both = self._after_first(hidden.reshape(-1, hidden.shape[2]))
        return both.reshape(2, len(x), both.shape[1])

    def _after_first(self, hidden: FloatArray) -> FloatArray:
        """What the other layers make of the first one's outputs, which are overwritten."""
        for layer in self._others:
            hidden = layer(np.maximum(hidden, 0, out=hidden))
        return hidden

    def first_layer(self, x: FloatArray, y: FloatArray) -> FloatArray:
        return np.maximum(self._first(x, y), 0)

    def _first(self, x: FloatArray, y: FloatArray) -> FloatArray:
        hidden: FloatArray = x @ self._weight_x + y @ self._weight_y
        hidden += (x * y) @ self._weight_product
        hidden += self._bias
        return hidden

    def with_input(self, vector: FloatArray, role: Role) -> "ConditionalPairNetwork":
        """The word becomes part of the first layer.

        W₁[x; y; x∘y] = (W_y + W_p·diag x) y + Wₓx: with x fixed, the first layer is one of y alone,
        and costs no more than any other for the whole vocabulary.
        """
        own, other = self._weight_x, self._weight_y
        if role == "y":
            own, other = other, own
        weight = other + self._weight_product * vector[:, None]
        first = LinearLayer(weight, self._bias + vector @ own)
        return ConditionalPairNetwork((first, *self._others))

    def followed_by(self, layer: LinearLayer) -> "MlpPairNetwork":
        network = copy(self)
        if self._others:
            network._others = [*self._others[:-1], self._others[-1].then(layer)]
            return network
        network._weight_x, network._weight_y, network._weight_product = (
            weight @ layer.weight
            for weight in (self._weight_x, self._weight_y, self._weight_product)
        )
        network._bias = layer(self._bias)
        return network


class MultiplyPairNetwork(LearnedPairNetwork):
    """R(x, y) = x∘y on normalised words, and a linear layer: at first the identity."""

    def __init__(self, words: Rows) -> None:
        super().__init__(words)
        size = self.dimension
        self._output = LinearLayer(np.eye(size, dtype=np.float32), np.zeros(size, np.float32))

    def compose(self, x: FloatArray, y: FloatArray) -> FloatArray:
        return self._output(x * y)

    def with_input(self, vector: FloatArray, role: Role) -> "ConditionalPairNetwork":
        del role
        product = LinearLayer(np.diag(vector), np.zeros_like(vector))
        return ConditionalPairNetwork((product.then(self._output),))

    def followed_by(self, layer: LinearLayer) -> "MultiplyPairNetwork":
        network = copy(self)
        network._output = self._output.then(layer)
        return network


class DifferencePairNetwork(PairNetwork):
    """R(x, y) = (x − y) / ‖x − y‖."""

    has_unit_inputs = False

    def compose(self, x: FloatArray, y: FloatArray) -> FloatArray:
        return normalise(x - y)

    def with_input(self, vector: FloatArray, role: Role) -> "ConditionalPairNetwork":
        sign = np.float32(-1 if role == "x" else 1)
        identity = np.eye(self.dimension, dtype=np.float32)
        difference = LinearLayer(sign * identity, -sign * vector)
        return ConditionalPairNetwork((difference,), is_normalised=True)


def make_pair_network(saved: SavedModel) -> PairNetwork:
    """R with the composition of the model's recipe."""
    composition = pair_settings(saved.config, saved.folder)["composition"]
    if composition == "mlp":
        return MlpPairNetwork(saved)
    if composition == "multiply":
        return MultiplyPairNetwork(saved.rows("pair.words"))
    if composition == "difference":
        return DifferencePairNetwork(saved.rows("pair.words"))
    raise InputError(
        f"{saved.folder}: composition {composition!r} is not known here; upgrade pair2vec"
    )


def mlp_layer_names(layers: int) -> list[str]:
    """The names of an MLP's layers in the model folder, the first layer first."""
    return ["pair.first", *(f"pair.others.{number}" for number in range(layers - 1))]


def roles(direction: Direction) -> tuple[Role, ...]:
    """The role that x has in each part of a pair's vector."""
    if direction not in get_args(Direction):
        raise UsageError(
            f"direction is {direction!r}; it must be one of {', '.join(get_args(Direction))}"
        )
    return {"both": ("x", "y"), "forward": ("x",), "backward": ("y",)}[direction]  # type: ignore[return-value]


def directed_vectors(
    pairs: PairNetwork, x: IntArray, y: IntArray, direction: Direction, *, normalised: bool = True
) -> FloatArray:
    """The vectors of pairs, each direction with unit norm (`eq:bi-relemb`): (N, D) or (N, 2D)."""
    count = len(roles(direction))
    if direction == "backward":
        x, y = y, x
    vectors = np.empty((len(x), count, pairs.dimension), np.float32)
    # Both directions of a block and their norms while its words are in the cache.
    for start in range(0, len(x), ROWS_PER_BLOCK):
        block = slice(start, start + ROWS_PER_BLOCK)
        one, other = pairs.inputs(x[block]), pairs.inputs(y[block])
        both = direction == "both"
        parts = pairs.compose_both(one, other) if both else [pairs.compose(one, other)]
        for number, part in enumerate(parts):
            divisors = safe_norms(part) if normalised else np.float32(1)
            np.divide(part, divisors, out=vectors[block, number])
    return vectors.reshape(len(x), count * pairs.dimension)


class Linearisation(NamedTuple):
    """A scalar function at N points, and its gradients there."""

    values: FloatArray
    """(N,)"""
    gradients: FloatArray
    """(N, D)"""


Readout = Callable[[FloatArray], Linearisation]
"""A scalar function of vectors R, (N, D), with its gradient by R."""


def dot_product(target: FloatArray) -> Readout:
    """R·target."""
    return lambda pairs: Linearisation(pairs @ target, np.broadcast_to(target, pairs.shape))


def after_normalising(readout: Readout) -> Readout:
    """`readout` of R / ‖R‖."""

    def read(pairs: FloatArray) -> Linearisation:
        norms = safe_norms(pairs)
        unit = pairs / norms
        values, gradients = readout(unit)
        along = np.einsum("nd,nd->n", gradients, unit)[:, None]
        return Linearisation(values, (gradients - along * unit) / norms)

    return read


@dataclass(frozen=True)
class ConditionalPairNetwork:
    """R with one of its words fixed, R(x, ·) or R(·, y): a network of the other word's input."""

    layers: tuple[LinearLayer, ...]
    """With ReLU between."""
    is_normalised: bool = False
    """Whether the outputs are normalised."""

    def vectors(self, words: FloatArray) -> FloatArray:
        """R for each word: (N, D)."""
        vectors = np.empty((len(words), len(self.layers[-1].bias)), np.float32)
        for block, pairs in self._output_blocks(words):
            vectors[block] = normalise(pairs) if self.is_normalised else pairs
        return vectors

    def cosines(self, words: FloatArray, targets: FloatArray) -> FloatArray:
        """The cosine of R for each word with each of K targets of unit norm, (K, D): (N, K)."""
        cosines = np.empty((len(words), len(targets)), np.float32)
        for block, pairs in self._output_blocks(words):
            cosines[block] = pairs @ targets.T
            # There are fewer targets than dimensions: dividing here is dividing less.
            cosines[block] /= safe_norms(pairs)
        return cosines

    def scores(self, words: FloatArray, target: FloatArray) -> FloatArray:
        """R·target for each word, (N,): the last layer shrinks to one output."""
        if self.is_normalised:
            return self.vectors(words) @ target
        weight, constant = self.layers[-1].weight @ target, self._deferred_biases[-1] @ target
        scores = np.empty(len(words), np.float32)
        for block, hidden in self._hidden_blocks(words):
            np.matmul(hidden, weight, out=scores[block])
        scores += constant
        return scores

    def linearise(self, words: FloatArray, readout: Readout) -> Linearisation:
        """A scalar function of R as one of the word's input, with its gradient: backpropagation."""
        hidden, is_active = words, []
        for layer in self.layers[:-1]:
            hidden = layer(hidden)
            is_active.append(hidden > 0)
            hidden = hidden * is_active[-1]
        read = after_normalising(readout) if self.is_normalised else readout
        values, gradients = read(self.layers[-1](hidden))
        gradients = gradients @ self.layers[-1].weight.T
        for layer, active in zip(self.layers[-2::-1], reversed(is_active), strict=True):
            gradients = (gradients * active) @ layer.weight.T
        return Linearisation(values, gradients)

    def _output_blocks(self, words: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """R, not yet normalised, for a block of words at a time."""
        for block, hidden in self._hidden_blocks(words):
            pairs = hidden @ self.layers[-1].weight
            pairs += self._deferred_biases[-1]
            yield block, pairs

    def _hidden_blocks(self, words: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """The inputs of the last layer for a block of words at a time, less a deferred bias."""
        # Two buffers by turns: fresh ones for each block would have to be fetched from the system.
        buffers = np.empty((2, min(ROWS_PER_BLOCK, len(words)), words.shape[1]), np.float32)
        for start in range(0, len(words), ROWS_PER_BLOCK):
            block = slice(start, start + ROWS_PER_BLOCK)
            hidden = words[block]
            for depth, layer in enumerate(self.layers[:-1]):
                outputs = buffers[depth % 2, : len(hidden)]
                np.matmul(hidden, layer.weight, out=outputs)
                np.maximum(outputs, -self._deferred_biases[depth], out=outputs)
                hidden = outputs
            yield block, hidden

    @cached_property
    def _deferred_biases(self) -> list[FloatArray]:
        """The biases that remain when none is added before a ReLU.

        relu(h + b) = max(h, -b) + b, and W(… + b) = W… + Wb: a bias can be added in the next layer,
        which saves a pass over the words for each.
        """
        biases: list[FloatArray] = []
        for layer in self.layers:
            carried = biases[-1] @ layer.weight if biases else np.float32(0)
            biases.append(layer.bias + carried)
        return biases

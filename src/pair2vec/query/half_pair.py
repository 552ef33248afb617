"""R with one of its words given: a network of the other word.

Shapes: N words, D dimension.

W₁[x; y; x∘y] = (W_y + W_m·diag x) y + Wₓx: with x given, the first layer is one of y alone. So a
question to the whole vocabulary costs no more in the first layer than in any other, and the last
layer, which only the dot product with one vector sees, costs next to nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

SHORTEST = np.float32(1e-8)
"""A shorter vector is left as good as zero rather than made NaN."""

BLOCK = 1536
"""Words at a time: few enough for what a layer makes of them to stay in the cache."""


def normalise(vectors: Vectors) -> Vectors:
    """Vectors of length one."""
    unit: Vectors = vectors / _lengths(vectors)
    return unit


def _lengths(vectors: Vectors) -> Vectors:
    """What to divide vectors by, (..., 1)."""
    lengths = np.sqrt(np.einsum("...d,...d->...", vectors, vectors))[..., None]
    divisors: Vectors = np.maximum(lengths, SHORTEST)
    return divisors


class Layer(NamedTuple):
    """A linear layer."""

    weight: Vectors
    """(inputs, outputs): the other way round than saved, in which numpy multiplies faster."""
    bias: Vectors
    """(D,)"""

    def __call__(self, inputs: Vectors) -> Vectors:
        """(N, D) to (N, D)."""
        outputs: Vectors = inputs @ self.weight
        outputs += self.bias
        return outputs

    def then(self, next_layer: "Layer") -> "Layer":
        """Both, one after the other, as one."""
        return Layer(self.weight @ next_layer.weight, next_layer(self.bias))


class Tangents(NamedTuple):
    """A number at N places, and how it changes around each."""

    values: Vectors
    """(N,)"""
    gradients: Vectors
    """(N, D)"""


Readout = Callable[[Vectors], Tangents]
"""From vectors R, (N, D), to one number each, and its gradient by R."""


def dot_with(target: Vectors) -> Readout:
    """R·target."""
    return lambda pairs: Tangents(pairs @ target, np.broadcast_to(target, pairs.shape))


def of_unit(readout: Readout) -> Readout:
    """`readout` of vectors brought to length one."""

    def read(pairs: Vectors) -> Tangents:
        lengths = _lengths(pairs)
        unit = pairs / lengths
        values, gradients = readout(unit)
        along = np.einsum("nd,nd->n", gradients, unit)[:, None]
        return Tangents(values, (gradients - along * unit) / lengths)

    return read


@dataclass(frozen=True)
class HalfPair:
    """R with one of its words given: a network of the other word's vector."""

    layers: tuple[Layer, ...]
    """With ReLU between."""
    is_normalised: bool = False
    """Whether the outcome has length one."""

    def vectors(self, words: Vectors) -> Vectors:
        """R of each word with the given one: (N, D)."""
        made = np.empty((len(words), len(self.layers[-1].bias)), np.float32)
        for block, pairs in self._pairs_in_blocks(words):
            made[block] = normalise(pairs) if self.is_normalised else pairs
        return made

    def cosines(self, words: Vectors, targets: Vectors) -> Vectors:
        """The cosine of R of each word with each of K targets of length one, (K, D): (N, K)."""
        made = np.empty((len(words), len(targets)), np.float32)
        for block, pairs in self._pairs_in_blocks(words):
            made[block] = pairs @ targets.T
            # There are fewer targets than dimensions: dividing here is dividing less.
            made[block] /= _lengths(pairs)
        return made

    def scores(self, words: Vectors, readout: Vectors) -> Vectors:
        """R·readout for each word: (N,)."""
        if self.is_normalised:
            return self.vectors(words) @ readout
        weight, constant = self.layers[-1].weight @ readout, self._biases[-1] @ readout
        made = np.empty(len(words), np.float32)
        for block, hidden in self._hidden_in_blocks(words):
            np.matmul(hidden, weight, out=made[block])
        made += constant
        return made

    def _pairs_in_blocks(self, words: Vectors) -> Iterator[tuple[slice, Vectors]]:
        """What the last layer makes of some words at a time."""
        for block, hidden in self._hidden_in_blocks(words):
            pairs = hidden @ self.layers[-1].weight
            pairs += self._biases[-1]
            yield block, pairs

    def _hidden_in_blocks(self, words: Vectors) -> Iterator[tuple[slice, Vectors]]:
        """What the last layer gets of some words at a time, up to the bias it has in `_biases`."""
        # Two arrays by turns: fresh ones for each block would have to be fetched from the system.
        spare = np.empty((2, min(BLOCK, len(words)), words.shape[1]), np.float32)
        for start in range(0, len(words), BLOCK):
            block = slice(start, start + BLOCK)
            hidden = words[block]
            for place, layer in enumerate(self.layers[:-1]):
                outputs = spare[place % 2, : len(hidden)]
                np.matmul(hidden, layer.weight, out=outputs)
                np.maximum(outputs, -self._biases[place], out=outputs)
                hidden = outputs
            yield block, hidden

    @cached_property
    def _biases(self) -> list[Vectors]:
        """The biases that are left when none is added before a ReLU.

        relu(h + b) = max(h, -b) + b, and W(… + b) = W… + Wb: a bias can wait for the next layer,
        which spares a pass over the words for each.
        """
        biases: list[Vectors] = []
        for layer in self.layers:
            carried = biases[-1] @ layer.weight if biases else np.float32(0)
            biases.append(layer.bias + carried)
        return biases

    def tangents(self, words: Vectors, readout: Readout) -> Tangents:
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

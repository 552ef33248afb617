"""A small classifier in numpy: one hidden layer, trained with AdamW.

Shapes: N rows, B rows of a batch, F features, H hidden size, K classes.

Dropout and a large weight decay keep it from overfitting a few thousand rows; the learning rate
decays linearly to zero.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pair2vec.arrays import FloatArray, IntArray
from pair2vec.ranges import (
    BatchSize,
    Count,
    Decay,
    LearningRate,
    PartialShare,
    Size,
    check_ranges,
)
from pair2vec.relations.regression import softmax

_BETAS = (np.float32(0.9), np.float32(0.999))
_EPSILON = np.float32(1e-8)


@dataclass(frozen=True, kw_only=True, slots=True)
class MlpConfig:
    """The size of a network, and how it is trained."""

    hidden: Size = 300
    dropout: PartialShare = 0.5
    input_dropout: PartialShare = 0.2
    """Of features; `dropout` is of hidden units."""
    decay: Decay = 0.1
    steps: Count = 3_000
    batch: BatchSize = 128
    rate: LearningRate = 2e-3

    def __post_init__(self) -> None:
        check_ranges(self)


class FeedForward(NamedTuple):
    """From features, standardised, to probabilities of classes, by one hidden layer."""

    mean: FloatArray
    """Of each feature, (F,)."""
    scale: FloatArray
    """The inverse of its standard deviation, (F,)."""
    weight: FloatArray
    """(F, H)"""
    bias: FloatArray
    """(H,)"""
    out_weight: FloatArray
    """(H, K)"""
    out_bias: FloatArray
    """(K,)"""

    def probabilities(self, features: FloatArray) -> FloatArray:
        """(N, F) to (N, K)."""
        rows = (features - self.mean) * self.scale
        hidden = np.maximum(rows @ self.weight + self.bias, 0)
        return softmax(hidden @ self.out_weight + self.out_bias)

    def to_json(self) -> dict[str, object]:
        """Its arrays as lists, rounded to seven digits: more than float32 has."""
        return {
            name: np.vectorize(lambda value: float(f"{value:.7g}"))(array).tolist()
            for name, array in self._asdict().items()
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "FeedForward":
        return cls(*(np.array(content[name], np.float32) for name in cls._fields))


class Mlp:
    """A network that is trained when it is made."""

    def __init__(
        self,
        features: FloatArray,
        labels: IntArray,
        classes: int,
        config: MlpConfig,
        random: np.random.Generator,
    ) -> None:
        """Train a network.

        Args:
            features: (N, F)
            labels: The class of each row, (N,).
            classes: K
            config: How.
            random: Draws the initial weights, dropout and the order of batches.
        """
        mean = features.mean(axis=0)
        scale: FloatArray = 1 / np.maximum(features.std(axis=0), np.float32(1e-6))
        sizes = ((features.shape[1], config.hidden), (config.hidden, classes))
        self._parameters: list[FloatArray] = []
        for inputs, outputs in sizes:
            bound = 1 / np.sqrt(max(1, inputs))
            weight = random.uniform(-bound, bound, (inputs, outputs)).astype(np.float32)
            self._parameters += [weight, np.zeros(outputs, np.float32)]
        self._train((features - mean) * scale, labels, config, random)
        self.network = FeedForward(mean, scale, *self._parameters)

    def probabilities(self, features: FloatArray) -> FloatArray:
        """(N, F) to (N, K)."""
        return self.network.probabilities(features)

    def _train(
        self, rows: FloatArray, labels: IntArray, config: MlpConfig, random: np.random.Generator
    ) -> None:
        """AdamW (Loshchilov and Hutter, 2019)."""
        moments = [np.zeros_like(p) for p in self._parameters]
        squares = [np.zeros_like(p) for p in self._parameters]
        for step, batch in enumerate(_shuffled_batches(len(rows), config, random)):
            rate = np.float32(config.rate * (1 - step / config.steps))
            gradients = self._gradients(rows[batch], labels[batch], config, random)
            corrections = [1 - beta ** (step + 1) for beta in _BETAS]
            for parameter, gradient, moment, square in zip(
                self._parameters, gradients, moments, squares, strict=True
            ):
                moment += (1 - _BETAS[0]) * (gradient - moment)
                square += (1 - _BETAS[1]) * (gradient * gradient - square)
                parameter *= 1 - rate * np.float32(config.decay)
                parameter -= (
                    (rate / corrections[0]) * moment / (np.sqrt(square / corrections[1]) + _EPSILON)
                )

    def _gradients(
        self, rows: FloatArray, labels: IntArray, config: MlpConfig, random: np.random.Generator
    ) -> list[FloatArray]:
        """Of the mean cross-entropy of a batch, for each parameter."""
        weight, bias, out_weight, out_bias = self._parameters
        rows = rows * _dropout_mask(rows.shape, config.input_dropout, random)
        hidden: FloatArray = rows @ weight + bias
        kept = (hidden > 0) * _dropout_mask(hidden.shape, config.dropout, random)
        hidden *= kept
        errors = softmax(hidden @ out_weight + out_bias)
        errors[np.arange(len(labels)), labels] -= 1
        errors /= len(labels)
        back = errors @ out_weight.T * kept
        return [rows.T @ back, back.sum(axis=0), hidden.T @ errors, errors.sum(axis=0)]


def _dropout_mask(
    shape: tuple[int, ...], dropout: float, random: np.random.Generator
) -> FloatArray:
    """0 where a unit is dropped; the others are scaled up, so that the expectation stays."""
    is_kept = random.random(shape, np.float32) >= dropout
    return np.where(is_kept, np.float32(1 / (1 - dropout)), np.float32(0))


def _shuffled_batches(
    rows: int, config: MlpConfig, random: np.random.Generator
) -> Iterator[IntArray]:
    """As many batches as there are steps; each epoch in a new order."""
    starts = range(0, rows, config.batch)
    for step in range(config.steps):
        if step % len(starts) == 0:
            order = random.permutation(rows)
        start = starts[step % len(starts)]
        yield order[start : start + config.batch]

"""Pair encoders R(x, y): the relation between two words as one vector.

An encoder works in two steps, because a batch has far fewer distinct words than pairs: what depends
on one word is computed once per word, the rest once per pair. Between the two, rows are gathered.

Shapes: N distinct words, D dimension; pairs are row indices of words for x and for y, in tensors of
any shape.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from pair2vec.kernels.rows import gather_rows, sum_pair_parts
from pair2vec.ranges import OneOf, Range, Size, check_ranges


@dataclass(frozen=True, kw_only=True, slots=True)
class PairConfig:
    """Which composition of two words R is."""

    composition: Annotated[str, OneOf(("mlp", "multiply", "difference"))] = "mlp"
    """"mlp", "multiply" or "difference"."""
    layers: Annotated[int, Range(least=1, most=100)] = 4
    """Linear layers of the mlp."""
    dimension: Size = 300
    length: Annotated[float, Range(above=0, most=1_000)] = 1.0
    """The norm that word vectors are scaled to, but for differences. For the mlp, at √dimension
    their values are around 1, so that Adam moves all parts of the first layer at similar speed. For
    a product see `unit_product_length`. A published model has it folded into its weights."""

    def __post_init__(self) -> None:
        check_ranges(self)


def unit_product_length(dimension: int) -> float:
    """The length at which x∘y of unrelated words has a norm around 1, as the mlp's output has.

    The norm is length² / √dimension; of unit words of 300 dimensions 0.06, which hardly trains.
    """
    return float(dimension**0.25)


def unit_rows(words: Tensor) -> Tensor:
    """Unit-norm rows; the epsilon keeps a zero row at zero instead of NaN."""
    return functional.normalize(words, dim=-1, eps=1e-8)


def widen(weight: Tensor, width: int) -> Tensor:
    """Padded with zeros to `width` in each dimension: for vectors that are padded as well."""
    missing = width - weight.shape[-1]
    return functional.pad(weight, (0, missing) * weight.dim()) if missing else weight


class WordParts(NamedTuple):
    """What depends on one word, (N, D) each."""

    as_x: tuple[Tensor, ...]
    as_y: tuple[Tensor, ...]

    def rows(self, ids: Tensor) -> "WordParts":
        """The parts of the words `ids`, (..., D) each."""
        return WordParts(*(tuple(gather_rows(part, ids) for part in parts) for parts in self))


class PairEncoder(nn.Module, ABC):
    """R(x, y).

    Vectors may be padded with zeros beyond D: a GPU multiplies rows of 320 values faster than rows
    of 300. Results are then as wide, and zero in the same columns.
    """

    def __init__(self, config: PairConfig) -> None:
        super().__init__()
        self.dimension = config.dimension

    @abstractmethod
    def prepare(self, words: Tensor) -> Tensor:
        """Word vectors (N, D), normalised as the encoder needs them."""

    @abstractmethod
    def as_x(self, words: Tensor) -> tuple[Tensor, ...]:
        """The parts of prepared words as x."""

    @abstractmethod
    def as_y(self, words: Tensor) -> tuple[Tensor, ...]:
        """The parts of prepared words as y."""

    @abstractmethod
    def forward(self, x: tuple[Tensor, ...], y: tuple[Tensor, ...]) -> Tensor:
        """R of pairs from the parts of each x and of each y: (..., D)."""

    def both_ways(self, a: WordParts, b: WordParts) -> Iterator[Tensor]:
        """R(a, b), then R(b, a), of all pairs of a word of each side; without gradient.

        Args:
            a: Parts (B, n, 1, D) of the words of one side.
            b: Parts (B, 1, m, D) of those of the other.

        Yields:
            (B, n, m, D), lazily: both need not be in memory at the same time.
        """
        yield self(a.as_x, b.as_y)
        yield self(b.as_x, a.as_y)

    def word_parts(self, words: Tensor) -> WordParts:
        """Both parts, from vectors (N, D)."""
        prepared = self.prepare(words)
        return WordParts(self.as_x(prepared), self.as_y(prepared))

    def compose(self, parts: WordParts, x: Tensor, y: Tensor) -> Tensor:
        """R of the pairs of rows `x` and `y`: (..., D)."""
        pairs: Tensor = self(
            tuple(gather_rows(part, x) for part in parts.as_x),
            tuple(gather_rows(part, y) for part in parts.as_y),
        )
        return pairs


class MlpPair(PairEncoder):
    """R(x, y) = MLP(x, y, x∘y) on normalised words: the paper's composition.

    W₁[x; y; x∘y] = Wₓx + W_y y + W_m(x∘y): the first two terms depend on one word.
    """

    def __init__(self, config: PairConfig) -> None:
        super().__init__(config)
        size = config.dimension
        self.length = config.length
        self.first = nn.Linear(3 * size, size)
        self.others = nn.ModuleList(nn.Linear(size, size) for _ in range(config.layers - 1))

    def prepare(self, words: Tensor) -> Tensor:
        return unit_rows(words) * self.length

    def as_x(self, words: Tensor) -> tuple[Tensor, ...]:
        """The words, and Wₓx."""
        return words, _linear(words, self._first_weights()[0])

    def as_y(self, words: Tensor) -> tuple[Tensor, ...]:
        """The words, and W_y y + b."""
        return words, _linear(words, self._first_weights()[1], self.first.bias)

    def forward(self, x: tuple[Tensor, ...], y: tuple[Tensor, ...]) -> Tensor:
        """The rest of the first layer, and the other layers with ReLU between."""
        hidden = _linear(x[0] * y[0], self._first_weights()[2])
        hidden = hidden + x[1] + y[1]
        for layer in self.others:
            assert isinstance(layer, nn.Linear)
            hidden = _linear(functional.relu(hidden), layer.weight, layer.bias)
        return hidden

    def both_ways(self, a: WordParts, b: WordParts) -> Iterator[Tensor]:
        """Computes W_m(x∘y) once for both directions."""
        (words_a, a_as_x), (_, a_as_y) = a
        (words_b, b_as_x), (_, b_as_y) = b
        product = _linear(words_a * words_b, self._first_weights()[2])
        yield self._from_product(product, a_as_x, b_as_y)
        yield self._from_product(product, a_as_y, b_as_x)

    def _from_product(self, product: Tensor, a_part: Tensor, b_part: Tensor) -> Tensor:
        """R from W_m(x∘y) and the parts of both words."""
        hidden = sum_pair_parts(product, a_part, b_part, relu=bool(self.others))
        for number, layer in enumerate(self.others, start=1):
            assert isinstance(layer, nn.Linear)
            linear = _linear if number == len(self.others) else _linear_relu
            hidden = linear(hidden, layer.weight, layer.bias)
        return hidden

    def first_weight_for_unit_words(self) -> Tensor:
        """The equivalent weight of the first layer for unit-norm words."""
        weight_x, weight_y, weight_product = self._first_weights()
        scaled = [self.length * weight_x, self.length * weight_y, self.length**2 * weight_product]
        return torch.cat(scaled, dim=1)

    def _first_weights(self) -> tuple[Tensor, ...]:
        """Wₓ, W_y and W_m."""
        return self.first.weight.chunk(3, dim=1)


def _linear(vectors: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    width = vectors.shape[-1]
    return functional.linear(
        vectors, widen(weight, width), None if bias is None else widen(bias, width)
    )


def _linear_relu(vectors: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Fused where the library can; in the precision of the vectors, without gradient."""
    weight, bias = (widen(part, vectors.shape[-1]).to(vectors.dtype) for part in (weight, bias))
    hidden: Tensor = torch._addmm_activation(bias, vectors.flatten(0, -2), weight.T)
    return hidden.view(vectors.shape)


class _WholeWordPair(PairEncoder):
    """An encoder whose only part of a word is the word itself."""

    def as_x(self, words: Tensor) -> tuple[Tensor, ...]:
        return (words,)

    def as_y(self, words: Tensor) -> tuple[Tensor, ...]:
        return (words,)


class MultiplyPair(_WholeWordPair):
    """R(x, y) = x∘y on words of one length (the paper's "Composition: Multiply").

    The released code multiplies the vectors as they are; with them at one length, a pair of
    frequent words has no larger R than one of rare words.
    """

    def __init__(self, config: PairConfig) -> None:
        super().__init__(config)
        self.length = config.length

    def prepare(self, words: Tensor) -> Tensor:
        return unit_rows(words) * self.length

    def forward(self, x: tuple[Tensor, ...], y: tuple[Tensor, ...]) -> Tensor:
        return x[0] * y[0]


class DifferencePair(_WholeWordPair):
    """R(x, y) = (x − y) / ‖x − y‖ (the paper's PairDistance)."""

    def prepare(self, words: Tensor) -> Tensor:
        return words

    def forward(self, x: tuple[Tensor, ...], y: tuple[Tensor, ...]) -> Tensor:
        return unit_rows(x[0] - y[0])


_COMPOSITIONS: dict[str, type[PairEncoder]] = {
    "mlp": MlpPair,
    "multiply": MultiplyPair,
    "difference": DifferencePair,
}


def make_pair_encoder(config: PairConfig) -> PairEncoder:
    return _COMPOSITIONS[config.composition](config)

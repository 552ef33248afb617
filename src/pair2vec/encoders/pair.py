"""Pair encoders R(x, y): the relation between two words as one vector.

Shapes: N distinct words, D dimension; a pair is a row of words for x and one for y, in tensors of
any shape.

An encoder works in two steps, because a batch has far fewer distinct words than pairs: what depends
on one word is computed once a word, the rest once a pair. Between the two, rows are gathered.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor, nn
from torch.nn import functional

from pair2vec.errors import UsageError


@dataclass(frozen=True, kw_only=True, slots=True)
class PairConfig:
    """Which composition of two words R is."""

    composition: str = "mlp"
    """"mlp", "multiply" or "difference"."""
    layers: int = 4
    """Linear layers of the mlp."""
    dimension: int = 300

    def __post_init__(self) -> None:
        if self.composition not in _COMPOSITIONS:
            known = ", ".join(_COMPOSITIONS)
            raise UsageError(f"composition is {self.composition!r}; it must be one of {known}")
        if self.layers < 1:
            raise UsageError(f"layers is {self.layers}; it must be 1 or more")


def normalise(words: Tensor) -> Tensor:
    """Words of length one; the epsilon keeps a word at zero there instead of making it NaN."""
    return functional.normalize(words, dim=-1, eps=1e-8)


def take_rows(table: Tensor, rows: Tensor) -> Tensor:
    """``table[rows]``, with a gradient that adds up in a fixed order on a CPU."""
    return functional.embedding(rows, table)


class WordParts(NamedTuple):
    """What depends on one word, (N, D) each."""

    as_x: tuple[Tensor, ...]
    as_y: tuple[Tensor, ...]


class PairEncoder(nn.Module, ABC):
    """R(x, y)."""

    def __init__(self, config: PairConfig) -> None:
        super().__init__()
        self.dimension = config.dimension

    @abstractmethod
    def word_parts(self, words: Tensor) -> WordParts:
        """From vectors (N, D)."""

    @abstractmethod
    def forward(self, x: tuple[Tensor, ...], y: tuple[Tensor, ...]) -> Tensor:
        """R of pairs from the parts of each x and of each y: (..., D)."""

    def compose(self, parts: WordParts, x: Tensor, y: Tensor) -> Tensor:
        """R of the pairs of rows `x` and `y`: their shape, then D."""
        xs = tuple(take_rows(part, x) for part in parts.as_x)
        ys = tuple(take_rows(part, y) for part in parts.as_y)
        pairs: Tensor = self(xs, ys)
        return pairs


class MlpPair(PairEncoder):
    """R(x, y) = MLP(x, y, x∘y) on normalised words: the paper's composition.

    W₁[x; y; x∘y] = Wₓx + W_y y + W_m(x∘y): the first two are parts of a word.
    """

    def __init__(self, config: PairConfig) -> None:
        super().__init__(config)
        size = config.dimension
        self.first = nn.Linear(3 * size, size)
        self.others = nn.ModuleList(nn.Linear(size, size) for _ in range(config.layers - 1))

    def word_parts(self, words: Tensor) -> WordParts:
        """Normalised words beside Wₓx, and beside W_y y + b."""
        words = normalise(words)
        weight_x, weight_y, _ = self.first.weight.chunk(3, dim=1)
        part_y = functional.linear(words, weight_y, self.first.bias)
        return WordParts((words, functional.linear(words, weight_x)), (words, part_y))

    def forward(self, x: tuple[Tensor, ...], y: tuple[Tensor, ...]) -> Tensor:
        """The rest of the first layer, and the other layers with ReLU between."""
        weight_product = self.first.weight.chunk(3, dim=1)[2]
        hidden = functional.linear(x[0] * y[0], weight_product)
        hidden = hidden + x[1] + y[1]
        for layer in self.others:
            hidden = layer(functional.relu(hidden))
        return hidden


class MultiplyPair(PairEncoder):
    """R(x, y) = x∘y on normalised words (the paper's "Composition: Multiply")."""

    def word_parts(self, words: Tensor) -> WordParts:
        """Normalised words."""
        words = normalise(words)
        return WordParts((words,), (words,))

    def forward(self, x: tuple[Tensor, ...], y: tuple[Tensor, ...]) -> Tensor:
        """The element-wise product."""
        return x[0] * y[0]


class DifferencePair(PairEncoder):
    """R(x, y) = (x − y) / ‖x − y‖ (the paper's PairDistance)."""

    def word_parts(self, words: Tensor) -> WordParts:
        """The words themselves."""
        return WordParts((words,), (words,))

    def forward(self, x: tuple[Tensor, ...], y: tuple[Tensor, ...]) -> Tensor:
        """The normalised difference."""
        return normalise(x[0] - y[0])


_COMPOSITIONS: dict[str, type[PairEncoder]] = {
    "mlp": MlpPair,
    "multiply": MultiplyPair,
    "difference": DifferencePair,
}


def make_pair_encoder(config: PairConfig) -> PairEncoder:
    """The encoder that the settings name."""
    return _COMPOSITIONS[config.composition](config)

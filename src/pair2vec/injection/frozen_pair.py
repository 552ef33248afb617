"""R(x, y) of a saved model as a part of another one: used there, never trained.

Shapes: V vocabulary, N words, D dimension, W width.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from pair2vec.encoders.pair import PairConfig, PairEncoder, WordParts, make_pair_encoder, widen
from pair2vec.errors import UsageError
from pair2vec.kernels.rows import gather_rows
from pair2vec.model.folder import SavedModel
from pair2vec.query.pair_encoder import Layer, make_pair_vectors
from pair2vec.query.whitening import whitening_layer
from pair2vec.text.sentences import tokenize
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary

_ALIGNED = 64
"""A GPU multiplies rows fastest that are multiples of it."""


class PairWeights(Protocol):
    """Where R comes from: a `SavedModel`, or something that answers as one."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The words R knows."""

    @property
    def config(self) -> Mapping[str, Any]:
        """What is known of the model; ``recipe`` has R's composition."""

    def array(self, name: str) -> NDArray[np.float32]:
        """A whole array: ``pair.words`` (V, D), and those of the encoder."""


class PreparedPair(NamedTuple):
    """All that does not depend on a second word, computed."""

    encoder: PairEncoder
    parts: WordParts
    """(N, W) each, with zeros behind D."""
    dimension: int
    """D"""


class FrozenPair(nn.Module):
    """The word table and the encoder, all of it buffers: no optimiser finds them."""

    words: Tensor
    """(V, D)"""

    def __init__(self, saved: PairWeights) -> None:
        super().__init__()
        settings: dict[str, Any] = saved.config["recipe"]["pair"]
        self.register_buffer("words", _copied(saved, "pair.words"))
        # The length of words is not taken over: a published model has it folded into its weights.
        self._config = PairConfig(
            composition=settings["composition"],
            layers=settings["layers"],
            dimension=self.words.shape[1],
        )
        self.encoder = _frozen_encoder(self._config, lambda name: _copied(saved, f"pair.{name}"))
        self._kept: tuple[object, PreparedPair] | None = None

    @property
    def dimension(self) -> int:
        """D, of a pair's vector."""
        return self._config.dimension

    def prepared_for(self, ids: Tensor) -> PreparedPair:
        """For pairs of these words (N,) alone."""
        words = self._prepared_words(gather_rows(self.words, ids))
        parts = WordParts(self.encoder.as_x(words), self.encoder.as_y(words))
        return PreparedPair(self.encoder, parts, self.dimension)

    def prepared(self) -> PreparedPair:
        """For pairs of all words.

        Computed when first asked for in a precision, which is autocast's if there is one; on a GPU
        as wide as that likes.
        """
        kind = self.words.device.type
        is_cast = torch.is_autocast_enabled(kind)
        precision = torch.get_autocast_dtype(kind) if is_cast else self.words.dtype
        # Moving the module, or loading other words into it, changes one of these.
        key = precision, self.words.device, self.words.data_ptr(), self.words._version
        if self._kept is None or self._kept[0] != key:
            self._kept = key, self._prepare(precision)
        return self._kept[1]

    @torch.no_grad()
    def _prepare(self, precision: torch.dtype) -> PreparedPair:
        size = self.dimension
        width = _width_on(self.words.device, size)
        with torch.autocast(self.words.device.type, enabled=False):
            words = functional.pad(self._prepared_words(self.words), (0, width - size))
            as_x, as_y = (
                tuple(part.to(precision) for part in parts)
                for parts in (self.encoder.as_x(words), self.encoder.as_y(words))
            )
        wide = _frozen_encoder(
            replace(self._config, dimension=width),
            lambda name: _widened(self.encoder.get_buffer(name), size, width).to(precision),
        )
        return PreparedPair(wide, WordParts(as_x, as_y), size)

    def _prepared_words(self, words: Tensor) -> Tensor:
        # In float16 the epsilon that keeps a word at zero from becoming NaN would be zero itself.
        precise = words.to(torch.promote_types(words.dtype, torch.float32))
        return self.encoder.prepare(precise).to(words.dtype)


def _frozen_encoder(config: PairConfig, values: Callable[[str], Tensor]) -> PairEncoder:
    # Weights that are replaced at once need no memory, and must not draw from torch's generator.
    with torch.device("meta"):
        encoder = make_pair_encoder(config)
    for name in [name for name, _ in encoder.named_parameters()]:
        path, _, own = name.rpartition(".")
        part = encoder.get_submodule(path)
        delattr(part, own)
        part.register_buffer(own, values(name))
    return encoder


def _width_on(device: torch.device, size: int) -> int:
    return size if device.type == "cpu" else -(-size // _ALIGNED) * _ALIGNED


def _widened(values: Tensor, size: int, width: int) -> Tensor:
    """Weights with zeros behind each vector of D; the first layer takes three side by side."""
    parts = torch.split(values, size, dim=-1)
    return torch.cat([widen(part, width) for part in parts], dim=-1)


def _copied(saved: PairWeights, name: str) -> Tensor:
    """A copy, because a saved array is a view of a file that cannot be written to."""
    return torch.from_numpy(saved.array(name).copy())


# == R evened out before it is injected, as it is before it is compared (`query.whitening`).
#
# R of all pairs have most of their length in common. Brought to length one, little is left of what
# tells one pair from another, and a model that takes them in has to find that little.


class _WhitenedWeights(NamedTuple):
    """A model whose last layer has another one behind it: both are linear, and so one."""

    saved: SavedModel
    change: Layer

    @property
    def vocabulary(self) -> Vocabulary:
        """The words R knows."""
        return self.saved.vocabulary

    @property
    def config(self) -> Mapping[str, Any]:
        """What is known of the model."""
        return self.saved.config

    def array(self, name: str) -> NDArray[np.float32]:
        """As saved, but for the weights of R's last layer."""
        values = self.saved.array(name)
        last = _last_layer(self.saved)
        if name == f"{last}.weight":
            return (values.T @ self.change.weight).T
        return self.change(values) if name == f"{last}.bias" else values


def whitened_weights(saved: SavedModel, whitening: float) -> PairWeights:
    """R with its mean taken off and its directions brought nearer to each other.

    Args:
        saved: The model folder.
        whitening: From 0, which leaves R as it is (the paper), to 1.

    Raises:
        UsageError: whitening is not between 0 and 1, or R has no layer to put it in.
    """
    change = whitening_layer(make_pair_vectors(saved), whitening)
    if change is None:
        return saved
    if saved.config["recipe"]["pair"]["composition"] != "mlp":
        raise UsageError(f"{saved.folder}: whitening needs an R with layers; leave it at 0")
    return _WhitenedWeights(saved, change)


def _last_layer(saved: SavedModel) -> str:
    layers: int = saved.config["recipe"]["pair"]["layers"]
    return f"pair.others.{layers - 2}" if layers > 1 else "pair.first"


# == A model of some words alone: all that a network needs which reads no others.
#
# Shapes: V words of the model, K words kept, D dimension.


class _Restricted(NamedTuple):
    """R of the words kept."""

    source: PairWeights
    vocabulary: Vocabulary
    rows: NDArray[np.int64]
    """(K,), those of the words kept."""

    @property
    def config(self) -> Mapping[str, Any]:
        """What is known of the model."""
        return self.source.config

    def array(self, name: str) -> NDArray[np.float32]:
        """As in the model, but for the words."""
        values = self.source.array(name)
        return values[self.rows] if name == "pair.words" else values


def subset_vocabulary(source: PairWeights, words: Iterable[str]) -> PairWeights:
    """R of those words that `source` knows, by the spellings that `word_spellings` finds."""
    known = source.vocabulary
    # In the order of the model: the special tokens stay first.
    rows = sorted(known.ids[word] for word in word_spellings(words) if word in known)
    kept = Vocabulary((known.words[row], int(known.counts[row])) for row in rows)
    return _Restricted(source, kept, np.array([*range(len(SPECIAL_TOKENS)), *rows], np.int64))


def word_spellings(words: Iterable[str]) -> list[str]:
    """Words of a text as a model spells them, each once; what is several words, or none, is none.

    No special token is among them: the tokeniser splits off their brackets.
    """
    tokens = map(tokenize, set(words))
    return sorted({found[0] for found in tokens if len(found) == 1})

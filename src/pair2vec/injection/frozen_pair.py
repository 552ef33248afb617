"""R(x, y) of a saved model as a frozen part of another network; optionally whitened, or a subset.

Shapes: V vocabulary, N words, D dimension, W width: D, on a GPU padded to a multiple of 64.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from pair2vec.arrays import FloatArray
from pair2vec.encoders.pair import PairConfig, PairEncoder, WordParts, make_pair_encoder, widen
from pair2vec.kernels.rows import gather_rows
from pair2vec.model.config import pair_settings
from pair2vec.model.folder import SavedModel
from pair2vec.model.tensors import Rows
from pair2vec.query.pair_encoder import (
    DifferencePairNetwork,
    LearnedPairNetwork,
    LinearLayer,
    MultiplyPairNetwork,
    Role,
    make_pair_network,
    mlp_layer_names,
)
from pair2vec.query.space import whitening_layer
from pair2vec.text.sentences import tokenize
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary

_ALIGNED = 64
"""A GPU multiplies rows fastest whose length is a multiple of this."""


class PairWeights(Protocol):
    """Where R comes from: a `SavedModel`, or what is derived from one."""

    @property
    def vocabulary(self) -> Vocabulary: ...

    @property
    def config(self) -> Mapping[str, Any]:
        """Of the model; ``recipe`` has R's composition."""

    def array(self, name: str) -> NDArray[np.float32]:
        """A whole array: ``pair.words`` (V, D), and those of the encoder."""


@dataclass(frozen=True)
class DerivedWeights:
    """The weights of a model, some of its arrays replaced, or R's composition as well."""

    source: PairWeights
    vocabulary: Vocabulary
    replaced: Mapping[str, NDArray[np.float32]]
    pair: Mapping[str, Any] | None = None
    """In place of the settings of R that `source` has."""

    @property
    def config(self) -> Mapping[str, Any]:
        return self.source.config if self.pair is None else {"recipe": {"pair": self.pair}}

    def array(self, name: str) -> NDArray[np.float32]:
        return self.replaced[name] if name in self.replaced else self.source.array(name)


def whitened_weights(saved: SavedModel, whitening: float) -> PairWeights:
    """R whitened as it is before pairs are compared (`query.space`).

    The vectors of all pairs have most of their norm in common. Normalised, little is left of what
    distinguishes one pair from another, and a network that takes them in has to find that little.
    Whitening is linear: it is one layer with the last one of an mlp. A product becomes an mlp of
    that layer alone, and differences are of whitened words, so that every composition of R can be
    compared with every other.

    Args:
        saved: The model folder.
        whitening: From 0, which leaves R as it is (the paper), to 1.

    Raises:
        UsageError: whitening is not between 0 and 1.
    """
    network = make_pair_network(saved)
    if isinstance(network, DifferencePairNetwork):
        words = saved.array("pair.words")
        whitened = {"pair.words": whitened_for_differences(words, words, whitening)}
        return DerivedWeights(saved, saved.vocabulary, whitened) if whitening else saved
    layer = whitening_layer(network, whitening)
    if layer is None:
        return saved
    if isinstance(network, MultiplyPairNetwork):
        # W [x; y; x∘y], without the first two.
        weight = np.pad(layer.weight.T, ((0, 0), (2 * len(layer.weight), 0)))
        product = {"pair.first.weight": weight, "pair.first.bias": layer.bias}
        return DerivedWeights(saved, saved.vocabulary, product, {"composition": "mlp", "layers": 1})
    last = mlp_layer_names(pair_settings(saved.config, saved.folder)["layers"])[-1]
    weight, bias = saved.array(f"{last}.weight"), saved.array(f"{last}.bias")
    whitened = {f"{last}.weight": (weight.T @ layer.weight).T, f"{last}.bias": layer(bias)}
    return DerivedWeights(saved, saved.vocabulary, whitened)


def whitened_for_differences(
    words: NDArray[np.float32], frequent: NDArray[np.float32], whitening: float
) -> NDArray[np.float32]:
    """Word vectors (V, D) whose differences are whitened, by those between `frequent` words.

    W x − W y = W (x − y). Nothing is subtracted: the mean over pairs in both directions is zero.

    Args:
        words: The vectors.
        frequent: Those of a vocabulary: special tokens, then words, the most frequent first.
        whitening: From 0 to 1.
    """
    layer = whitening_layer(_Differences(Rows(frequent)), whitening)
    return words if layer is None else words @ layer.weight


class _Differences(LearnedPairNetwork):
    """x − y before it is normalised, for whitening to be fitted to."""

    has_unit_inputs = False

    def compose(self, x: FloatArray, y: FloatArray) -> FloatArray:
        return x - y

    def with_input(self, vector: FloatArray, role: Role) -> NoReturn:
        raise AssertionError("whitening takes the vectors of pairs alone")

    def followed_by(self, layer: LinearLayer) -> NoReturn:
        raise AssertionError("whitening is folded into the words")


def subset_vocabulary(source: PairWeights, words: Iterable[str]) -> PairWeights:
    """R of those of `words` that `source` knows, for a network that reads no others."""
    known = source.vocabulary
    # In the order of the model: the special tokens stay first.
    ids = sorted(known.ids[word] for word in token_spellings(words) if word in known)
    subset = Vocabulary((known.words[word], int(known.counts[word])) for word in ids)
    rows = np.array([*range(len(SPECIAL_TOKENS)), *ids], np.int64)
    return DerivedWeights(source, subset, {"pair.words": source.array("pair.words")[rows]})


def token_spellings(words: Iterable[str]) -> list[str]:
    """Words of a text as the tokeniser spells them, sorted; those of several tokens are phrases.

    No special token is among them: the tokeniser splits off their brackets.
    """
    return sorted({" ".join(tokenize(word)) for word in set(words)} - {""})


class PreparedPair(NamedTuple):
    """R for some words: all that depends on one word is computed."""

    encoder: PairEncoder
    parts: WordParts
    """(N, W) each, with zeros behind D."""
    dimension: int
    """D"""


class FrozenPair(nn.Module):
    """The word table and the encoder of R, all of it buffers: no optimiser finds them."""

    words: Tensor
    """(V, D)"""

    def __init__(self, weights: PairWeights, *, persistent: bool = False) -> None:
        """Copy R; `persistent` is whether `state_dict` has it."""
        super().__init__()
        settings = pair_settings(weights.config, "the pair model")
        self._persistent = persistent
        self.register_buffer("words", _copy(weights, "pair.words"), persistent=persistent)
        # Without `length`: a published model has it folded into its weights.
        self._config = PairConfig(
            composition=settings["composition"],
            layers=settings["layers"],
            dimension=self.words.shape[1],
        )
        self.encoder = _frozen_encoder(
            self._config, lambda name: _copy(weights, f"pair.{name}"), persistent=persistent
        )
        self._cached: tuple[object, PreparedPair] | None = None

    @property
    def dimension(self) -> int:
        """D, of a pair's vector in one direction."""
        return self._config.dimension

    def prepared_for(self, ids: Tensor) -> PreparedPair:
        """For pairs of these words (N,) alone."""
        return PreparedPair(self.encoder, self.parts(ids), self.dimension)

    def parts(self, ids: Tensor) -> WordParts:
        """What depends on one word, of words (...): (..., D) each."""
        words = self._prepare_words(gather_rows(self.words, ids))
        return WordParts(self.encoder.as_x(words), self.encoder.as_y(words))

    def prepared(self) -> PreparedPair:
        """For pairs of all words, cached.

        In autocast's precision, if it is enabled, and on a GPU padded to the width that suits it.
        """
        device_type = self.words.device.type
        is_cast = torch.is_autocast_enabled(device_type)
        precision = torch.get_autocast_dtype(device_type) if is_cast else self.words.dtype
        # Moving the module, or loading other words into it, changes one of these.
        key = precision, self.words.device, self.words.data_ptr(), self.words._version
        if self._cached is None or self._cached[0] != key:
            self._cached = key, self._prepare(precision)
        return self._cached[1]

    @torch.no_grad()
    def _prepare(self, precision: torch.dtype) -> PreparedPair:
        size = self.dimension
        width = _padded_width(self.words.device, size)
        with torch.autocast(self.words.device.type, enabled=False):
            words = functional.pad(self._prepare_words(self.words), (0, width - size))
            as_x, as_y = (
                tuple(part.to(precision) for part in parts)
                for parts in (self.encoder.as_x(words), self.encoder.as_y(words))
            )
        padded = _frozen_encoder(
            replace(self._config, dimension=width),
            lambda name: _pad_weights(self.encoder.get_buffer(name), size, width).to(precision),
        )
        return PreparedPair(padded, WordParts(as_x, as_y), size)

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        # A state that has R, as all had before it could be left out, is loaded whole.
        if not self._persistent and prefix + "words" in state_dict:
            for name, buffer in self.named_buffers():
                found = state_dict.pop(prefix + name, None)
                if found is None:
                    missing_keys.append(prefix + name)
                elif found.shape != buffer.shape:
                    error_msgs.append(
                        f"{prefix}{name} is of shape {tuple(found.shape)}, but the layer's model "
                        f"has {tuple(buffer.shape)}; make the layer of the model it was saved with"
                    )
                else:
                    with torch.no_grad():
                        buffer.copy_(found)
        super()._load_from_state_dict(
            state_dict,
            prefix,
            local_metadata,
            strict,
            missing_keys,
            unexpected_keys,
            error_msgs,
        )

    def _prepare_words(self, words: Tensor) -> Tensor:
        # In float16 the epsilon that keeps a word at zero from becoming NaN would be zero itself.
        precise = words.to(torch.promote_types(words.dtype, torch.float32))
        return self.encoder.prepare(precise).to(words.dtype)


def _frozen_encoder(
    config: PairConfig, values: Callable[[str], Tensor], *, persistent: bool = False
) -> PairEncoder:
    # Weights that are replaced at once need no memory, and must not draw from torch's generator.
    with torch.device("meta"):
        encoder = make_pair_encoder(config)
    for name in [name for name, _ in encoder.named_parameters()]:
        path, _, attribute = name.rpartition(".")
        module = encoder.get_submodule(path)
        delattr(module, attribute)
        module.register_buffer(attribute, values(name), persistent=persistent)
    return encoder


def _padded_width(device: torch.device, size: int) -> int:
    return size if device.type == "cpu" else -(-size // _ALIGNED) * _ALIGNED


def _pad_weights(weights: Tensor, size: int, width: int) -> Tensor:
    """Weights with zeros behind each vector of D; the first layer takes three side by side."""
    parts = torch.split(weights, size, dim=-1)
    return torch.cat([widen(part, width) for part in parts], dim=-1)


def _copy(weights: PairWeights, name: str) -> Tensor:
    """A copy, because a saved array is a view of a file that cannot be written to."""
    return torch.from_numpy(weights.array(name).copy())

"""R(x, y) of a saved model as a part of another one: used there, never trained.

Shapes: V vocabulary, N words, D dimension.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pair2vec.encoders.pair import PairConfig, PairEncoder, WordParts, make_pair_encoder
from pair2vec.encoders.rows import take_rows
from pair2vec.text.vocabulary import Vocabulary


class PairSource(Protocol):
    """Where R comes from: a `SavedModel`, or something that answers as one."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The words R knows."""

    @property
    def config(self) -> Mapping[str, Any]:
        """What is known of the model; ``recipe`` has R's composition."""

    def array(self, name: str) -> NDArray[np.float32]:
        """A whole array: ``pair.words`` (V, D), and those of the encoder."""


class FrozenPair(nn.Module):
    """The word table and the encoder, all of it buffers: no optimiser finds them."""

    words: Tensor
    """(V, D)"""

    def __init__(self, saved: PairSource) -> None:
        super().__init__()
        self.register_buffer("words", _copied(saved, "pair.words"))
        self.encoder = _frozen_encoder(saved, self.words.shape[1])

    def word_parts(self, ids: Tensor) -> WordParts:
        """What R needs of words (N,), each part (N, D)."""
        words = take_rows(self.words, ids)
        # In float16 the epsilon that keeps a word at zero from becoming NaN would be zero itself.
        precise = words.to(torch.promote_types(words.dtype, torch.float32))
        prepared = self.encoder.prepare(precise).to(words.dtype)
        return WordParts(self.encoder.as_x(prepared), self.encoder.as_y(prepared))


def _frozen_encoder(saved: PairSource, dimension: int) -> PairEncoder:
    settings: dict[str, Any] = saved.config["recipe"]["pair"]
    # The length of words is not taken over: a published model has it folded into its weights.
    config = PairConfig(
        composition=settings["composition"], layers=settings["layers"], dimension=dimension
    )
    # Weights that are replaced at once need no memory, and must not draw from torch's generator.
    with torch.device("meta"):
        encoder = make_pair_encoder(config)
    for prefix, part in encoder.named_modules(prefix="pair"):
        for name in [name for name, _ in part.named_parameters(recurse=False)]:
            delattr(part, name)
            part.register_buffer(name, _copied(saved, f"{prefix}.{name}"))
    return encoder


def _copied(saved: PairSource, name: str) -> Tensor:
    """A copy, because a saved array is a view of a file that cannot be written to."""
    return torch.from_numpy(saved.array(name).copy())

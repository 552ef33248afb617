"""R evened out before it is injected, as it is before it is compared (`query.comparison`).

R of all pairs have most of their length in common. Brought to length one, little is left of what
tells one pair from another, and a model that takes them in has to find that little.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import UsageError
from pair2vec.injection.frozen_pair import PairSource
from pair2vec.model.folder import SavedModel
from pair2vec.query.comparison import comparison_layer
from pair2vec.query.half_pair import Layer
from pair2vec.query.pair_vectors import make_pair_vectors
from pair2vec.text.vocabulary import Vocabulary


class _EvenedOut(NamedTuple):
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


def evened_out(saved: SavedModel, whitening: float) -> PairSource:
    """R with its mean taken off and its directions brought nearer to each other.

    Args:
        saved: The model folder.
        whitening: From 0, which leaves R as it is (the paper), to 1.

    Raises:
        UsageError: whitening is not between 0 and 1, or R has no layer to put it in.
    """
    change = comparison_layer(make_pair_vectors(saved), whitening)
    if change is None:
        return saved
    if saved.config["recipe"]["pair"]["composition"] != "mlp":
        raise UsageError(f"{saved.folder}: whitening needs an R with layers; leave it at 0")
    return _EvenedOut(saved, change)


def _last_layer(saved: SavedModel) -> str:
    layers: int = saved.config["recipe"]["pair"]["layers"]
    return f"pair.others.{layers - 2}" if layers > 1 else "pair.first"

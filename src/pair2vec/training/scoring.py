"""Scores of a network outside training: R(x, y), C(c) and their product for given ids."""

from collections.abc import Sequence

import torch
from torch import Tensor

from pair2vec.model.folder import SavedModel
from pair2vec.training.network import Network
from pair2vec.training.settings import recipe_from_json


def network_of(model: SavedModel) -> Network:
    """The network that was published as `model`."""
    recipe = recipe_from_json(model.config["recipe"])
    network = Network(len(model.vocabulary), recipe.pair, recipe.context, torch.Generator())
    names = {"pair_words": "pair.words", "context_words": "context.words"}
    network.load_state_dict(
        {
            name: torch.from_numpy(model.array(names.get(name, name)).copy())
            for name in network.state_dict()
        }
    )
    return network


class Scorer:
    """Encodes pairs and contexts with a network as it is."""

    def __init__(self, network: Network) -> None:
        self._network = network
        with torch.no_grad():
            self._pair_parts = network.pair.word_parts(network.pair_words)
            self._context_part = network.context.word_part(network.context_words)

    @torch.no_grad()
    def pairs(self, x: Tensor, y: Tensor) -> Tensor:
        """R(x, y) of ids in tensors of one shape."""
        return self._network.pair.compose(self._pair_parts, x, y)

    @torch.no_grad()
    def context(self, context: Sequence[int]) -> Tensor:
        """C(c) of one context, (D,)."""
        encoded: Tensor = self._network.context.encode(
            self._context_part, torch.tensor([context], device=self._context_part.device)
        )
        return encoded[0]

    def fill(self, context: Sequence[int], x: int, candidates: Tensor) -> Tensor:
        """R(x, y)·C(c) for each candidate y."""
        return self.pairs(torch.full_like(candidates, x), candidates) @ self.context(context)

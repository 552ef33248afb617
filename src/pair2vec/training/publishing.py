"""A network as the arrays of a model folder, and back."""

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from pair2vec.encoders.pair import MlpPair
from pair2vec.model.folder import SavedModel
from pair2vec.training.network import Network
from pair2vec.training.settings import recipe_from_json

_PUBLISHED_NAMES = {"pair_words": "pair.words", "context_words": "context.words"}
"""Where the folder has another name for a tensor than the network."""


def published_arrays(network: Network) -> dict[str, NDArray[np.float32]]:
    """The network's weights by the names a model folder has them under, for words of length 1."""
    state = network.state_dict()
    if isinstance(network.pair, MlpPair):
        state["pair.first.weight"] = network.pair.first_weight_for_unit_words()
    return {
        _PUBLISHED_NAMES.get(name, name): tensor.detach().float().cpu().numpy()
        for name, tensor in state.items()
    }


def network_of(model: SavedModel) -> Network:
    """The network that was published as `model`."""
    recipe = recipe_from_json(model.config["recipe"])
    pair = replace(recipe.pair, length=1.0)
    network = Network(len(model.vocabulary), pair, recipe.context, torch.Generator())
    state = network.state_dict()
    for name, tensor in state.items():
        array = torch.from_numpy(model.array(_PUBLISHED_NAMES.get(name, name)).copy())
        # A small model has vectors for the first words of contexts only; the rest stay at zero.
        tensor[: len(array)] = array
    network.load_state_dict(state)
    return network

"""Weights: the part of a network that is learnt, at its start and as named tensors."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from pair2vec.errors import InputError


def linear(inputs: int, outputs: int) -> nn.Linear:
    """A layer whose first weights are drawn after Glorot & Bengio (2010), its biases zero."""
    layer = nn.Linear(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def learnt_weights(network: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that want a gradient; what is frozen comes from where it came from before."""
    return {name: values for name, values in network.named_parameters() if values.requires_grad}


@torch.no_grad()
def set_weights(network: nn.Module, weights: Mapping[str, Tensor], source: str) -> None:
    """Copy weights into a network that was made with the same settings.

    Raises:
        InputError: they are those of another one; the message names `source`.
    """
    wanted = learnt_weights(network)
    for name in sorted(wanted.keys() ^ weights.keys()):
        what = "lacks" if name in wanted else "has"
        raise InputError(f"{source}: {what} the weights {name!r}, unlike a network of its settings")
    for name, values in wanted.items():
        if weights[name].shape != values.shape:
            raise InputError(
                f"{source}: the weights {name!r} have shape {tuple(weights[name].shape)} where "
                f"its settings and inputs need {tuple(values.shape)}"
            )
    for name, values in wanted.items():
        values.copy_(weights[name])


def copied_weights(network: nn.Module) -> dict[str, Tensor]:
    """As they are now."""
    return {name: values.detach().clone() for name, values in learnt_weights(network).items()}

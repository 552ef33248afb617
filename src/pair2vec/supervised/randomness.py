"""Randomness: torch's own generators, lent to a run and given back as they were.

Dropout has no generator of its own to be passed in.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Inside, torch draws from this seed on; afterwards all is as if nothing had been drawn."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield


def generator_states(device: torch.device) -> dict[str, Tensor]:
    """Of the generators that a run on this device draws from, to go on from."""
    states = {"cpu": torch.get_rng_state()}
    return states | ({"cuda": torch.cuda.get_rng_state(device)} if device.type == "cuda" else {})


def set_generator_states(states: dict[str, Tensor], device: torch.device) -> None:
    """Go on from there; a run that moved to another kind of device draws anew on it."""
    torch.set_rng_state(states["cpu"])
    if device.type == "cuda" and "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"], device)

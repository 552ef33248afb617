"""Devices: where the network is, and in what precision it computes."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from torch import Tensor

from pair2vec.errors import UsageError


def find_device(name: str, local_rank: int | None = None) -> torch.device:
    """The device of this name; "auto" is the first GPU, or else the CPU.

    Of several ranks on a machine, each takes the GPU of its own number.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise UsageError(f"no device {name!r}; there are auto, cpu, cuda and cuda:N") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise UsageError(
            f"device {name!r}: torch finds no GPU here; leave --device out, or say cpu"
        )
    if device.type == "cuda" and local_rank is not None:
        return _gpu_of(local_rank, name)
    return device


def _gpu_of(local_rank: int, name: str) -> torch.device:
    found = torch.cuda.device_count()
    if name != "cuda":
        raise UsageError(f"device {name!r}: several ranks need a GPU each; say cuda")
    if local_rank >= found:
        raise UsageError(
            f"there are {found} GPUs for {local_rank + 1} ranks or more on this machine; "
            f"torchrun --nproc-per-node {found}, or --device cpu"
        )
    return torch.device("cuda", local_rank)


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """So many threads on the CPU; 0 changes nothing."""
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def select_device(device: torch.device) -> AbstractContextManager[object]:
    """What is launched without naming a device, as kernels of our own are, goes to this GPU."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def autocast(device: torch.device) -> AbstractContextManager[object]:
    """bfloat16 where matrix products are, on a GPU; float32 on a CPU."""
    if device.type == "cuda":
        return torch.autocast("cuda", torch.bfloat16)
    return nullcontext()


# == Randomness: torch's own generators, lent to a run and given back as they were.
#
# Dropout has no generator of its own to be passed in.


@contextmanager
def forked_rng(seed: int, device: torch.device) -> Iterator[None]:
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

"""Devices: which one, in what precision it computes, and torch's global random generators on it."""

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from torch import Tensor

from pair2vec.errors import UsageError


def find_device(name: str, local_rank: int | None = None) -> torch.device:
    """The device of this name; "auto" is the first GPU, or else the CPU.

    With several ranks on a machine, each takes the GPU of its local rank.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if not re.fullmatch(r"cpu|cuda(:\d+)?", name):
        raise UsageError(f"no device {name!r}; there are auto, cpu, cuda and cuda:N")
    device = torch.device(name)
    if device.type == "cuda" and not torch.cuda.is_available():
        raise UsageError(
            f"device {name!r}: torch finds no GPU here; leave --device out, or say cpu"
        )
    if device.type == "cuda" and local_rank is not None:
        return _gpu_for_rank(local_rank, name)
    if (device.index or 0) >= max(1, torch.cuda.device_count()):
        raise UsageError(f"device {name!r}: torch finds {torch.cuda.device_count()} GPUs here")
    return device


def _gpu_for_rank(local_rank: int, name: str) -> torch.device:
    count = torch.cuda.device_count()
    if name != "cuda":
        raise UsageError(f"device {name!r}: several ranks need a GPU each; say cuda")
    if local_rank >= count:
        raise UsageError(
            f"there are {count} GPUs for {local_rank + 1} ranks or more on this machine; "
            f"torchrun --nproc-per-node {count}, or --device cpu"
        )
    return torch.device("cuda", local_rank)


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Use `count` threads on the CPU; 0 changes nothing."""
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def select_device(device: torch.device) -> AbstractContextManager[object]:
    """Make this GPU the current one: Triton kernels are launched there."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def autocast(device: torch.device) -> AbstractContextManager[object]:
    """Matrix products in bfloat16 on a GPU; float32 on a CPU."""
    if device.type == "cuda":
        return torch.autocast("cuda", torch.bfloat16)
    return nullcontext()


def has_bfloat16(device: torch.device) -> bool:
    """Whether the device multiplies matrices in bfloat16 natively, at twice the speed or more."""
    return device.type == "cuda" or bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def autocast_bfloat16(device: torch.device, *, enabled: bool) -> AbstractContextManager[object]:
    """As `autocast` if enabled, and on a CPU with bfloat16 as well: for large networks."""
    return torch.autocast(device.type, torch.bfloat16, enabled=enabled and has_bfloat16(device))


@contextmanager
def forked_rng(seed: int, device: torch.device) -> Iterator[None]:
    """Seed torch's global generators, and restore their states at the end.

    Dropout takes no generator as an argument.
    """
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield


def generator_states(device: torch.device) -> dict[str, Tensor]:
    """The states of the global generators that a run on this device draws from."""
    states = {"cpu": torch.get_rng_state()}
    return states | ({"cuda": torch.cuda.get_rng_state(device)} if device.type == "cuda" else {})


def set_generator_states(states: dict[str, Tensor], device: torch.device) -> None:
    """Restore `generator_states`; those of a GPU stay as they are for states saved on a CPU."""
    torch.set_rng_state(states["cpu"])
    if device.type == "cuda" and "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"], device)

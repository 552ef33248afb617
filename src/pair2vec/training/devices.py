"""Devices: where the network is, and in what precision it computes."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from torch import Tensor

from pair2vec.errors import UsageError
from pair2vec.training.network import Network


def find_device(name: str) -> torch.device:
    """The device of this name; "auto" is the first GPU, or else the CPU."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise UsageError(f"no device {name!r}; there are auto, cpu, cuda and cuda:N") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise UsageError(
            f"device {name!r}: torch finds no GPU here; leave --device out, or say cpu"
        )
    return device


@contextmanager
def threads(count: int) -> Iterator[None]:
    """So many threads on the CPU; 0 changes nothing."""
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def computing(device: torch.device) -> AbstractContextManager[object]:
    """bfloat16 where matrix products are, on a GPU; float32 on a CPU."""
    if device.type == "cuda":
        return torch.autocast("cuda", torch.bfloat16)
    return nullcontext()


LONG_RUN = 100_000_000
"""Triples from which on compiling, about a minute, is earned back: on one H200, 25 million at a
batch of 4 096, 75 million at 16 384, 400 million at 65 536."""


def compile_network(network: Network, backend: str = "inductor") -> None:
    """Fuse the many small steps of R and C.

    Only what follows the gathers: those have a new number of distinct rows each batch, which makes
    the compiler start anew, and hardly gain.
    """
    network.pair.compile(backend=backend)
    plain = torch.compile(network.context.forward, backend=backend)

    def forward(gates: Tensor) -> Tensor:
        # How many contexts have this length changes with each batch; the length unrolls a loop.
        torch._dynamo.maybe_mark_dynamic(gates, 0)
        torch._dynamo.mark_static(gates, 1)
        encoded: Tensor = plain(gates)
        return encoded

    network.context.forward = forward  # type: ignore[method-assign]

"""Joining: how processes that torchrun started come to know each other."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any
from uuid import uuid4

import torch
import torch.distributed as dist
from torch.distributed.rendezvous import rendezvous

from pair2vec.errors import UsageError
from pair2vec.training.devices import find_device
from pair2vec.training.ranks import Alone, RankError, Ranks
from pair2vec.training.together import Together

TIMEOUT = "PAIR2VEC_RANK_TIMEOUT"
_SECONDS = 45.0
"""Without that setting: a rank that does not answer is reported within a minute."""
_LONGER = 10.0
"""Seconds that NCCL waits beyond that: it ends a process without a word that we could choose."""
_PAUSE = 0.05


@contextmanager
def joined_ranks(device: str) -> Iterator[Ranks]:
    """This process among those that torchrun started with it; alone where it did not."""
    restarted = _number("TORCHELASTIC_RESTART_COUNT", 0) > 0
    count = _number("WORLD_SIZE", 1)
    if count == 1:
        yield Alone(restarted=restarted)
        return
    rank = _number("RANK")
    local = _number("LOCAL_RANK", rank)
    seconds = _seconds()
    gpus = _join(rank, count, seconds, find_device(device, local))
    ranks = Together(rank, count, local, seconds, gpus)
    # Torchrun counts the restarts of each machine by itself.
    (ranks.restarted,) = ranks.any([restarted])
    yield ranks
    # Only after a good end: with a rank lost, to part from it is to wait for it.
    dist.destroy_process_group()


def _variable(name: str, default: str | None = None) -> str:
    """Of the environment."""
    text = os.environ.get(name, default)
    if text is None:
        raise UsageError(f"WORLD_SIZE is set, but {name} is not; torchrun sets both")
    return text


def _number(name: str, default: int | None = None) -> int:
    """A whole number of the environment."""
    text = _variable(name, None if default is None else str(default))
    try:
        return int(text)
    except ValueError as error:
        raise UsageError(f"{name} is {text!r}; torchrun sets it to a whole number") from error


def _seconds() -> float:
    text = _variable(TIMEOUT, str(_SECONDS))
    with suppress(ValueError):
        if (seconds := float(text)) > 0:
            return seconds
    raise UsageError(f"{TIMEOUT} is {text!r}; it must be a number of seconds above 0")


def _join(rank: int, count: int, seconds: float, device: torch.device) -> dist.ProcessGroup | None:
    """Meet the others; returns the group in which GPUs talk, if they do."""
    where = f"{_variable('MASTER_ADDR')}:{_number('MASTER_PORT')}"
    try:
        _meet(rank, count, seconds)
        if device.type != "cuda":
            return None
        group: dist.ProcessGroup = dist.new_group(
            backend="nccl", timeout=timedelta(seconds=seconds + _LONGER)
        )
        return group
    except RuntimeError as error:
        raise RankError(
            f"rank {rank} of {count} did not meet all the others at {where} within {seconds:g} s; "
            f"see that {count} processes are started and can reach it"
        ) from error


def _meet(rank: int, count: int, seconds: float) -> None:
    """Join the processes, by a store in which they find each other's addresses."""
    # Torch tries twice to reach it, with a pause as long: together that is within `seconds`.
    patience = timedelta(seconds=seconds / 3 if rank else seconds)
    store, _, _ = next(rendezvous("env://", rank, count, timeout=patience))
    limit = timedelta(seconds=seconds)
    store.set_timeout(limit)
    present = _name_of_try(store, rank, count, seconds)
    corner = dist.PrefixStore(present, store)  # type: ignore[attr-defined]
    dist.init_process_group("gloo", store=corner, rank=rank, world_size=count, timeout=limit)


def _name_of_try(store: Any, rank: int, count: int, seconds: float) -> str:  # noqa: ANN401
    """A name that only the processes of this try have for it.

    Torchrun keeps a store from try to try, and in it the addresses of processes that are gone. So
    rank 0 makes up a name, each rank answers to it by a name of its own, and rank 0 repeats those:
    what was said before the last restart repeats none of them.
    """
    own, end = uuid4().hex, time.monotonic() + seconds
    if rank == 0:
        store.set("try", own)
        answers = [store.get(f"{own}/{other}").decode() for other in range(1, count)]
        store.set(f"{own}/heard", " ".join(answers))
        return own
    while time.monotonic() < end:
        of_first = store.get("try").decode()
        store.set(f"{of_first}/{rank}", own)
        heard = f"{of_first}/heard"
        if store.check([heard]) and own in store.get(heard).decode().split():
            return str(of_first)
        time.sleep(_PAUSE)
    raise RuntimeError("rank 0 does not answer")

"""Data-parallel training over `torch.distributed`: the process group, and all-reduce of gradients.

Every rank holds the whole network and computes gradients on its part of each batch. Gradients are
summed over all ranks in one order, so that the weights stay equal on all of them, to the bit,
without ever being sent. Ranks that took different branches would wait for each other for ever, so
every decision rests on a number that is the same everywhere or on a collective call.

Shapes: N rows touched on a rank, M on any rank, D dimension.
"""

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import timedelta
from itertools import accumulate
from threading import Event, Thread
from typing import Any, NamedTuple
from uuid import uuid4

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.rendezvous import rendezvous

from pair2vec.errors import Pair2vecError, UsageError
from pair2vec.runtime.devices import find_device

TIMEOUT = "PAIR2VEC_RANK_TIMEOUT"
"""The environment variable with the seconds to wait for another rank."""
_DEFAULT_TIMEOUT = 45.0
"""A rank that does not answer is reported within a minute."""
_NCCL_EXTRA_TIMEOUT = 10.0
"""NCCL waits longer than gloo: its timeout ends the process without a message of ours."""
_POLL_SECONDS = 0.05
_GLOO_SECONDS = 0.1
_WORKING, _DONE, _FAILED = range(3)
_HOW_TO_RESUME = "resume with --resume, or let torchrun do so: --max-restarts 3"


class DistributedError(Pair2vecError):
    """Another rank is gone, does not answer, or never joined."""


class ProcessGroup(ABC):
    """This process among those it trains with. Collective: all ranks call, in the same order."""

    rank: int = 0
    world_size: int = 1
    local_rank: int | None = None
    """The rank on this machine; None for a single process."""
    restarted: bool = False
    """Whether torchrun restarted it after a rank was lost."""

    @abstractmethod
    def all_reduce(self, values: Tensor) -> None:
        """Replace `values`, of one shape on all ranks, by their sum over ranks."""

    @abstractmethod
    def all_reduce_max(self, values: Tensor) -> None:
        """Replace `values` by their maximum over ranks; of bytes 0 and 1 that is a logical or."""

    @abstractmethod
    def all_gather(self, values: Tensor) -> list[Tensor]:
        """The values (N,) of each rank; N may differ between ranks."""

    @abstractmethod
    def any_rank(self, flags: Sequence[bool]) -> list[bool]:
        """For each flag, whether it is set on any rank."""

    @abstractmethod
    def all_equal(self, number: int) -> bool:
        """Whether it is the same number on all ranks."""

    @abstractmethod
    def rank_zero_first(self) -> AbstractContextManager[bool]:
        """True on rank 0, which runs the block first; the others leave it when rank 0 has."""


class SingleProcess(ProcessGroup):
    """A world of one rank: every collective is the identity."""

    def __init__(self, *, restarted: bool = False) -> None:
        self.restarted = restarted

    def all_reduce(self, values: Tensor) -> None: ...

    def all_reduce_max(self, values: Tensor) -> None: ...

    def all_gather(self, values: Tensor) -> list[Tensor]:
        return [values]

    def any_rank(self, flags: Sequence[bool]) -> list[bool]:
        return list(flags)

    def all_equal(self, number: int) -> bool:
        del number
        return True

    def rank_zero_first(self) -> AbstractContextManager[bool]:
        return nullcontext(True)


SINGLE_PROCESS = SingleProcess()


class TorchProcessGroup(ProcessGroup):
    """One of several ranks.

    CPU tensors go over gloo and GPU tensors over NCCL. What the processes have to agree on always
    goes over gloo, whose calls report a lost rank and time out when one does not answer.
    """

    def __init__(
        self,
        rank: int,
        world_size: int,
        local_rank: int,
        seconds: float,
        nccl: dist.ProcessGroup | None,
    ) -> None:
        self.rank = rank
        self.world_size = world_size
        self.local_rank = local_rank
        self._seconds = seconds
        self._nccl = nccl

    def _group(self, tensor: Tensor) -> dist.ProcessGroup | None:
        """None is the default group, gloo."""
        return self._nccl if tensor.is_cuda else None

    @contextmanager
    def _reporting_lost_ranks(self) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:
            is_late = "timed out" in str(error).lower() or "timeout" in str(error).lower()
            what = (
                f"waited {self._seconds:g} s for a rank that does not answer"
                if is_late
                else "lost another rank"
            )
            raise DistributedError(
                f"rank {self.rank} of {self.world_size} {what}; {_HOW_TO_RESUME}"
            ) from error

    def all_reduce(self, values: Tensor) -> None:
        with self._reporting_lost_ranks():
            dist.all_reduce(values, group=self._group(values))

    def all_reduce_max(self, values: Tensor) -> None:
        with self._reporting_lost_ranks():
            dist.all_reduce(values, dist.ReduceOp.MAX, group=self._group(values))

    def all_gather(self, values: Tensor) -> list[Tensor]:
        """Sent padded to the largest N of any rank."""
        sizes = self._sums([len(values) * (rank == self.rank) for rank in range(self.world_size)])
        padded = values.new_zeros(max(sizes))
        padded[: len(values)] = values
        gathered = [torch.empty_like(padded) for _ in sizes]
        with self._reporting_lost_ranks():
            dist.all_gather(gathered, padded, group=self._group(values))
        return [part[:size] for part, size in zip(gathered, sizes, strict=True)]

    def _sums(self, numbers: Sequence[int]) -> list[int]:
        sums = torch.tensor(numbers)
        self.all_reduce(sums)
        return [int(total) for total in sums]

    def any_rank(self, flags: Sequence[bool]) -> list[bool]:
        return [count > 0 for count in self._sums([int(flag) for flag in flags])]

    def all_equal(self, number: int) -> bool:
        return self.any_rank([self._broadcast(number) != number]) == [False]

    def _broadcast(self, number: int) -> int:
        """The number of rank 0."""
        sent = torch.tensor(number)
        with self._reporting_lost_ranks():
            dist.broadcast(sent, src=0)
        return int(sent)

    @contextmanager
    def rank_zero_first(self) -> Iterator[bool]:
        """Rank 0 sends heartbeats while it works: the others need not guess how long it takes."""
        if self.rank:
            yield False
            self._wait_for_rank_zero()
            return
        is_over = Event()
        heartbeat = Thread(target=self._send_heartbeats, args=(is_over,), daemon=True)
        heartbeat.start()
        status = _FAILED
        try:
            yield True
            status = _DONE
        finally:
            is_over.set()
            heartbeat.join()
            # The error of the block is the one to report, not that of telling the others.
            with suppress(DistributedError) if status == _FAILED else nullcontext():
                self._broadcast(status)

    def _wait_for_rank_zero(self) -> None:
        while (status := self._broadcast(_WORKING)) == _WORKING:
            pass
        if status == _FAILED:
            raise DistributedError(f"rank {self.rank} of {self.world_size} ends: rank 0 says why")

    def _send_heartbeats(self, is_over: Event) -> None:
        # A rank lost meanwhile is reported when the work is over.
        with suppress(DistributedError):
            while not is_over.wait(self._seconds / 4):
                self._broadcast(_WORKING)


@contextmanager
def init_process_group(device: str) -> Iterator[ProcessGroup]:
    """Join the processes that torchrun started; a single process without torchrun."""
    restarted = _integer("TORCHELASTIC_RESTART_COUNT", 0) > 0
    world_size = _integer("WORLD_SIZE", 1)
    if world_size == 1:
        yield SingleProcess(restarted=restarted)
        return
    rank = _integer("RANK")
    local_rank = _integer("LOCAL_RANK", rank)
    seconds = _timeout()
    nccl = _join(rank, world_size, seconds, find_device(device, local_rank))
    ranks = TorchProcessGroup(rank, world_size, local_rank, seconds, nccl)
    # Torchrun counts the restarts of each machine by itself.
    (ranks.restarted,) = ranks.any_rank([restarted])
    yield ranks
    # In older versions of torch, as in 2.4, a group that ends waits for gloo's threads with the
    # interpreter's lock held, for ever if one has yet to drop a tensor, which takes the lock: here
    # it has time for that.
    time.sleep(_GLOO_SECONDS)
    # Only after a good end: with a rank lost, this would wait for it.
    dist.destroy_process_group()


def _variable(name: str, default: str | None = None) -> str:
    text = os.environ.get(name, default)
    if text is None:
        raise UsageError(f"WORLD_SIZE is set, but {name} is not; torchrun sets both")
    return text


def _integer(name: str, default: int | None = None) -> int:
    text = _variable(name, None if default is None else str(default))
    try:
        return int(text)
    except ValueError as error:
        raise UsageError(f"{name} is {text!r}; torchrun sets it to a whole number") from error


def _timeout() -> float:
    text = _variable(TIMEOUT, str(_DEFAULT_TIMEOUT))
    with suppress(ValueError):
        if (seconds := float(text)) > 0:
            return seconds
    raise UsageError(f"{TIMEOUT} is {text!r}; it must be a number of seconds above 0")


def _join(
    rank: int, world_size: int, seconds: float, device: torch.device
) -> dist.ProcessGroup | None:
    """Create the default group over gloo; returns that over NCCL, for a GPU."""
    address = f"{_variable('MASTER_ADDR')}:{_integer('MASTER_PORT')}"
    try:
        _rendezvous(rank, world_size, seconds)
        if device.type != "cuda":
            return None
        group: dist.ProcessGroup = dist.new_group(
            backend="nccl", timeout=timedelta(seconds=seconds + _NCCL_EXTRA_TIMEOUT)
        )
        return group
    except RuntimeError as error:
        raise DistributedError(
            f"rank {rank} of {world_size} did not meet all the others at {address} within "
            f"{seconds:g} s; see that {world_size} processes are started and can reach it"
        ) from error


def _rendezvous(rank: int, world_size: int, seconds: float) -> None:
    # Torch tries twice to reach the store, with a pause as long: together that is `seconds`.
    patience = timedelta(seconds=seconds / 3 if rank else seconds)
    store, _, _ = next(rendezvous("env://", rank, world_size, timeout=patience))
    limit = timedelta(seconds=seconds)
    store.set_timeout(limit)
    prefix = _attempt_name(store, rank, world_size, seconds)
    own_store = dist.PrefixStore(prefix, store)  # type: ignore[attr-defined]
    dist.init_process_group(
        "gloo", store=own_store, rank=rank, world_size=world_size, timeout=limit
    )


def _attempt_name(store: Any, rank: int, world_size: int, seconds: float) -> str:  # noqa: ANN401
    """A name for this attempt to join that no process of an earlier one has.

    Torchrun keeps a store over restarts, and in it the addresses of processes that are gone. So
    rank 0 draws a name, each rank answers it with a name of its own, and rank 0 repeats those:
    what was written before the last restart repeats none of them.
    """
    own, end = uuid4().hex, time.monotonic() + seconds
    if rank == 0:
        store.set("try", own)
        answers = [store.get(f"{own}/{other}").decode() for other in range(1, world_size)]
        store.set(f"{own}/heard", " ".join(answers))
        return own
    while time.monotonic() < end:
        attempt = store.get("try").decode()
        store.set(f"{attempt}/{rank}", own)
        heard = f"{attempt}/heard"
        if store.check([heard]) and own in store.get(heard).decode().split():
            return str(attempt)
        time.sleep(_POLL_SECONDS)
    raise RuntimeError("rank 0 does not answer")


def all_reduce_coalesced(ranks: ProcessGroup, tensors: Sequence[Tensor]) -> None:
    """Replace each tensor by its sum over ranks, in one all-reduce."""
    flat = flatten_tensors(tensors)
    ranks.all_reduce(flat)
    for tensor, summed in zip(tensors, split_like(flat, tensors), strict=True):
        tensor.copy_(summed)


def flatten_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """All values in one vector, in the precision of the first tensor."""
    return torch.cat([tensor.flatten().to(tensors[0].dtype) for tensor in tensors])


def split_like(flat: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
    """The values of `flat` in the shapes of `tensors`."""
    parts = torch.split(flat, [tensor.numel() for tensor in tensors])
    return [part.view(tensor.shape) for part, tensor in zip(parts, tensors, strict=True)]


class SparseRows(NamedTuple):
    """Distinct rows of a table of `length` rows, and a value for each."""

    length: int
    rows: Tensor
    """(N,), sorted."""
    values: Tensor
    """(N, D)"""


def all_reduce_rows(ranks: ProcessGroup, tables: Sequence[SparseRows]) -> list[SparseRows]:
    """For each table the rows touched on any rank, (M,), and the sums of their values, (M, D).

    A batch touches few rows of a table: only those are sent, at most the whole table.
    """
    # With offsets, so that the rows of all tables go as those of one.
    starts = [0, *accumulate(table.length for table in tables)]
    shifted = [table.rows + start for table, start in zip(tables, starts, strict=False)]
    rows = torch.unique(torch.cat(ranks.all_gather(torch.cat(shifted))))
    sums = tables[0].values.new_zeros((len(rows), tables[0].values.shape[1]))
    for table, own_rows in zip(tables, shifted, strict=True):
        sums[torch.searchsorted(rows, own_rows)] = table.values
    ranks.all_reduce(sums)
    ends = torch.searchsorted(rows, torch.tensor(starts, device=rows.device)).tolist()
    return [
        SparseRows(table.length, rows[first:end] - start, sums[first:end])
        for table, start, first, end in zip(tables, starts, ends, ends[1:], strict=False)
    ]

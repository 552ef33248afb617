"""Ranks: the processes that train one model together, and what they have to say to each other.

Every rank holds the whole network and learns from its part of each batch. Gradients are added up
over all ranks, in one order for all, so that the weights stay equal on all of them, to the bit,
without ever being sent. Ranks that agree on nothing else would wait for each other for ever: so all
that decides what happens next is either the same number everywhere or asked of all.
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


class DistributedError(Pair2vecError):
    """Another rank is gone, does not answer, or never came."""


class ProcessGroup(ABC):
    """This process among those it trains with. All of them have to call, in one order."""

    rank: int = 0
    count: int = 1
    local: int | None = None
    """Its number on this machine; None where there is no other rank."""
    restarted: bool = False
    """Whether it was begun again, by torchrun, after a rank was lost."""

    @abstractmethod
    def add_up(self, values: Tensor) -> None:
        """Make `values` the sum of those of all ranks; they are of one shape."""

    @abstractmethod
    def unite(self, marks: Tensor) -> None:
        """Make `marks`, bytes of 0 and 1, those of any rank."""

    @abstractmethod
    def gather(self, numbers: Tensor) -> list[Tensor]:
        """Those of each rank, of which there may be another number on each."""

    @abstractmethod
    def any(self, wishes: Sequence[bool]) -> list[bool]:
        """For each of them, whether any rank wishes it."""

    @abstractmethod
    def agree(self, number: int) -> bool:
        """Whether it is the same number on all ranks."""

    @abstractmethod
    def one_works(self) -> AbstractContextManager[bool]:
        """True on rank 0, which works in the block; the others leave it when that is done."""


class SingleProcess(ProcessGroup):
    """No other rank."""

    def __init__(self, *, restarted: bool = False) -> None:
        self.restarted = restarted

    def add_up(self, values: Tensor) -> None:
        """They are the sum already."""

    def unite(self, marks: Tensor) -> None:
        """There are no others."""

    def gather(self, numbers: Tensor) -> list[Tensor]:
        """Those given."""
        return [numbers]

    def any(self, wishes: Sequence[bool]) -> list[bool]:
        """Its own."""
        return list(wishes)

    def agree(self, number: int) -> bool:
        """With itself."""
        return True

    def one_works(self) -> AbstractContextManager[bool]:
        """It is this one."""
        return nullcontext(True)


SINGLE_PROCESS = SingleProcess()


# == Gradients added up over all ranks.
#
# Of a table, a batch touches few rows. Ranks tell each other which, and add up those alone: with more
# ranks they become more, and at most the whole table. All that is dense goes as one.
#
# Shapes: N rows touched on a rank, M on any rank, D dimension.


def all_reduce_coalesced(ranks: ProcessGroup, tensors: Sequence[Tensor]) -> None:
    """Make each tensor its sum over all ranks, in one go."""
    flat = flatten_tensors(tensors)
    ranks.add_up(flat)
    for tensor, summed in zip(tensors, split_like(flat, tensors), strict=True):
        tensor.copy_(summed)


def flatten_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """All numbers of some tensors, in the precision of the first."""
    return torch.cat([tensor.flatten().to(tensors[0].dtype) for tensor in tensors])


def split_like(flat: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
    """The numbers of `flat` in the shapes of `tensors`."""
    parts = torch.split(flat, [tensor.numel() for tensor in tensors])
    return [part.view(tensor.shape) for part, tensor in zip(parts, tensors, strict=True)]


class SparseRows(NamedTuple):
    """Of a table of `length` rows, distinct ones, sorted, and a value for each."""

    length: int
    rows: Tensor
    """(N,)"""
    values: Tensor
    """(N, D)"""


def all_reduce_rows(ranks: ProcessGroup, tables: Sequence[SparseRows]) -> list[SparseRows]:
    """Of each table all rows touched on any rank, (M,), and the sum of all their values, (M, D)."""
    # Numbered through, so that the rows of all tables go as those of one.
    starts = [0, *accumulate(table.length for table in tables)]
    numbered = [table.rows + start for table, start in zip(tables, starts, strict=False)]
    rows = torch.unique(torch.cat(ranks.gather(torch.cat(numbered))))
    sums = tables[0].values.new_zeros((len(rows), tables[0].values.shape[1]))
    for table, numbers in zip(tables, numbered, strict=True):
        sums[torch.searchsorted(rows, numbers)] = table.values
    ranks.add_up(sums)
    ends = torch.searchsorted(rows, torch.tensor(starts, device=rows.device)).tolist()
    return [
        SparseRows(table.length, rows[first:end] - start, sums[first:end])
        for table, start, first, end in zip(tables, starts, ends, ends[1:], strict=False)
    ]


# == Ranks over torch.distributed: gloo between CPUs, NCCL between GPUs.
#
# What the processes themselves have to agree on always goes by gloo, whose calls say when another
# rank is lost, and end after some time when one does not answer.


_WORKING, _DONE, _FAILED = range(3)
_WAY_OUT = "go on with --resume, or let torchrun do so: --max-restarts 3"


class TorchProcessGroup(ProcessGroup):
    """One of several ranks."""

    def __init__(
        self,
        rank: int,
        count: int,
        local: int,
        seconds: float,
        gpus: dist.ProcessGroup | None,
    ) -> None:
        self.rank = rank
        self.count = count
        self.local = local
        self._seconds = seconds
        self._gpus = gpus

    def _group(self, tensor: Tensor) -> dist.ProcessGroup | None:
        """None is that of all processes."""
        return self._gpus if tensor.is_cuda else None

    @contextmanager
    def _answered(self) -> Iterator[None]:
        """What goes wrong between ranks, in our words."""
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
                f"rank {self.rank} of {self.count} {what}; {_WAY_OUT}"
            ) from error

    def add_up(self, values: Tensor) -> None:
        """By an all-reduce."""
        with self._answered():
            dist.all_reduce(values, group=self._group(values))

    def unite(self, marks: Tensor) -> None:
        """By an all-reduce."""
        with self._answered():
            dist.all_reduce(marks, dist.ReduceOp.MAX, group=self._group(marks))

    def gather(self, numbers: Tensor) -> list[Tensor]:
        """Padded on their way to the most that any rank has."""
        sizes = self._summed([len(numbers) * (rank == self.rank) for rank in range(self.count)])
        padded = numbers.new_zeros(max(sizes))
        padded[: len(numbers)] = numbers
        found = [torch.empty_like(padded) for _ in sizes]
        with self._answered():
            dist.all_gather(found, padded, group=self._group(numbers))
        return [part[:size] for part, size in zip(found, sizes, strict=True)]

    def _summed(self, numbers: Sequence[int]) -> list[int]:
        summed = torch.tensor(numbers)
        self.add_up(summed)
        found: list[int] = summed.tolist()
        return found

    def any(self, wishes: Sequence[bool]) -> list[bool]:
        """By counting them."""
        return [count > 0 for count in self._summed([int(wish) for wish in wishes])]

    def agree(self, number: int) -> bool:
        """By comparing it with that of rank 0."""
        return self.any([self._told(number) != number]) == [False]

    def _told(self, number: int) -> int:
        """What rank 0 says."""
        told = torch.tensor(number)
        with self._answered():
            dist.broadcast(told, src=0)
        return int(told)

    @contextmanager
    def one_works(self) -> Iterator[bool]:
        """The others hear of rank 0 while it works, so that they need not guess how long it may."""
        if self.rank:
            yield False
            self._wait_for_first()
            return
        is_over = Event()
        sign_of_life = Thread(target=self._say_working, args=(is_over,), daemon=True)
        sign_of_life.start()
        try:
            yield True
        except BaseException:
            self._end_work(is_over, sign_of_life)
            with suppress(DistributedError):
                self._told(_FAILED)
            raise
        self._end_work(is_over, sign_of_life)
        self._told(_DONE)

    def _wait_for_first(self) -> None:
        while (news := self._told(_WORKING)) == _WORKING:
            pass
        if news == _FAILED:
            raise DistributedError(f"rank {self.rank} of {self.count} ends: rank 0 says why")

    def _say_working(self, is_over: Event) -> None:
        # A rank lost meanwhile shows when the work is over.
        with suppress(DistributedError):
            while not is_over.wait(self._seconds / 4):
                self._told(_WORKING)

    @staticmethod
    def _end_work(is_over: Event, sign_of_life: Thread) -> None:
        is_over.set()
        sign_of_life.join()


# == Joining: how processes that torchrun started come to know each other.


TIMEOUT = "PAIR2VEC_RANK_TIMEOUT"
_SECONDS = 45.0
"""Without that setting: a rank that does not answer is reported within a minute."""
_LONGER = 10.0
"""Seconds that NCCL waits beyond that: it ends a process without a word that we could choose."""
_PAUSE = 0.05


@contextmanager
def init_process_group(device: str) -> Iterator[ProcessGroup]:
    """This process among those that torchrun started with it; alone where it did not."""
    restarted = _number("TORCHELASTIC_RESTART_COUNT", 0) > 0
    count = _number("WORLD_SIZE", 1)
    if count == 1:
        yield SingleProcess(restarted=restarted)
        return
    rank = _number("RANK")
    local = _number("LOCAL_RANK", rank)
    seconds = _seconds()
    gpus = _join(rank, count, seconds, find_device(device, local))
    ranks = TorchProcessGroup(rank, count, local, seconds, gpus)
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
        raise DistributedError(
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

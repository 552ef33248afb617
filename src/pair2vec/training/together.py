"""Ranks over torch.distributed: gloo between CPUs, NCCL between GPUs.

What the processes themselves have to agree on always goes by gloo, whose calls say when another
rank is lost, and end after some time when one does not answer.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread

import torch
import torch.distributed as dist
from torch import Tensor

from pair2vec.training.ranks import RankError, Ranks

_WORKING, _DONE, _FAILED = range(3)
_WAY_OUT = "go on with --resume, or let torchrun do so: --max-restarts 3"


class Together(Ranks):
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
            raise RankError(f"rank {self.rank} of {self.count} {what}; {_WAY_OUT}") from error

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
            with suppress(RankError):
                self._told(_FAILED)
            raise
        self._end_work(is_over, sign_of_life)
        self._told(_DONE)

    def _wait_for_first(self) -> None:
        while (news := self._told(_WORKING)) == _WORKING:
            pass
        if news == _FAILED:
            raise RankError(f"rank {self.rank} of {self.count} ends: rank 0 says why")

    def _say_working(self, is_over: Event) -> None:
        # A rank lost meanwhile shows when the work is over.
        with suppress(RankError):
            while not is_over.wait(self._seconds / 4):
                self._told(_WORKING)

    @staticmethod
    def _end_work(is_over: Event, sign_of_life: Thread) -> None:
        is_over.set()
        sign_of_life.join()

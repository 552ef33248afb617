"""Ranks: the processes that train one model together, and what they have to say to each other.

Every rank holds the whole network and learns from its part of each batch. Gradients are added up
over all ranks, in one order for all, so that the weights stay equal on all of them, to the bit,
without ever being sent. Ranks that agree on nothing else would wait for each other for ever: so all
that decides what happens next is either the same number everywhere or asked of all.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from torch import Tensor

from pair2vec.errors import Pair2vecError


class RankError(Pair2vecError):
    """Another rank is gone, does not answer, or never came."""


class Ranks(ABC):
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


class Alone(Ranks):
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


ALONE = Alone()

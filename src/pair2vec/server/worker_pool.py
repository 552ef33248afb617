"""The desk where questions are answered: by threads, few at a time, and few may wait.

Answering takes a core each. More at a time would make all of them slower, and a longer queue would
only be waited in for longer: who finds it full is told to come again.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from pair2vec.errors import UsageError

_Answer = TypeVar("_Answer")


class PoolFullError(Exception):
    """As many questions are being answered and waiting as there may be."""


class TooSlowError(Exception):
    """A question was not answered in time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerPoolConfig:
    """How much is taken on."""

    workers: int = 2
    waiting: int = 32
    seconds: float = 10.0
    """For one question, waiting included."""

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise UsageError(f"--workers is {self.workers}; it must be 1 or more")
        if self.waiting < 0:
            raise UsageError(f"--waiting is {self.waiting}; it must be 0 or more")
        if not self.seconds > 0:
            raise UsageError(f"--timeout is {self.seconds:g}; it must be above 0")


class WorkerPool:
    """Takes questions from the event loop, and gives them to threads."""

    def __init__(self, config: WorkerPoolConfig) -> None:
        self._config = config
        self._threads = ThreadPoolExecutor(config.workers, thread_name_prefix="answer")
        self.taken = 0
        """Questions that are being answered, or wait for it."""

    async def answer(self, ask: Callable[[], _Answer]) -> _Answer:
        """What `ask` returns.

        Raises:
            DeskFullError: it is not taken on.
            TooSlowError: it took too long; a thread may still be at it.
        """
        if self.taken >= self._config.workers + self._config.waiting:
            raise PoolFullError
        self.taken += 1
        loop = asyncio.get_running_loop()
        future = self._threads.submit(ask)
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(self._leave))
        return await self._in_time(future)

    async def _in_time(self, future: "Future[_Answer]") -> _Answer:
        try:
            async with asyncio.timeout(self._config.seconds):
                return await asyncio.wrap_future(future)
        except TimeoutError as error:
            if future.done() and not future.cancelled():
                raise  # its own
            raise TooSlowError from error

    def _leave(self) -> None:
        self.taken -= 1

    def close(self) -> None:
        """Answer no more; what is being answered is waited for."""
        self._threads.shutdown(wait=True, cancel_futures=True)

"""A bounded worker pool: few threads, a short queue, and a timeout for each task.

Each task takes a core. More threads would make all of them slower, and a longer queue would only
be waited in for longer: a client that finds it full is told to retry.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from pair2vec.errors import UsageError

_Result = TypeVar("_Result")


class PoolFullError(Exception):
    """All workers are busy and the queue is full."""


class TooSlowError(Exception):
    """The timeout has passed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerPoolConfig:
    workers: int = 2
    queue_size: int = 32
    timeout: float = 10.0
    """Seconds for one task, time in the queue included."""

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise UsageError(f"--workers is {self.workers}; it must be 1 or more")
        if self.queue_size < 0:
            raise UsageError(f"--waiting is {self.queue_size}; it must be 0 or more")
        if not self.timeout > 0:
            raise UsageError(f"--timeout is {self.timeout:g}; it must be above 0")


class WorkerPool:
    """Runs functions in threads on behalf of an event loop."""

    def __init__(self, config: WorkerPoolConfig) -> None:
        self._config = config
        self._threads = ThreadPoolExecutor(config.workers, thread_name_prefix="answer")
        self.in_flight = 0
        """Tasks that run or wait in the queue."""

    async def run(self, task: Callable[[], _Result]) -> _Result:
        """What `task` returns.

        Raises:
            PoolFullError: the task is rejected.
            TooSlowError: it took too long; a thread may still be running it.
        """
        if self.in_flight >= self._config.workers + self._config.queue_size:
            raise PoolFullError
        self.in_flight += 1
        loop = asyncio.get_running_loop()
        future = self._threads.submit(task)
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(self._release))
        return await self._in_time(future)

    async def _in_time(self, future: "Future[_Result]") -> _Result:
        try:
            async with asyncio.timeout(self._config.timeout):
                return await asyncio.wrap_future(future)
        except TimeoutError as error:
            if future.done() and not future.cancelled():
                raise  # by the task itself
            raise TooSlowError from error

    def _release(self) -> None:
        self.in_flight -= 1

    def close(self) -> None:
        """Wait for running tasks and cancel those in the queue."""
        self._threads.shutdown(wait=True, cancel_futures=True)

"""A bounded worker pool: few threads, a short queue, clients in turn, a timeout for each request.

Each task takes a core. More threads would make all of them slower, and a longer queue would only
be waited in for longer: a client that finds it full is told to retry, and so is one that has waited
half of its time without a turn. What is left of the time is for the work itself.

A request is a `Job`: a sequence of tasks, run one by one. A `TurnQueue` gives clients their turns
by the task (round robin), and so the jobs of one client, so that a long job delays the others by a
task and not by the whole. A job whose time is over, or whose client has gone, stops after the task
that is running.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pair2vec.errors import UsageError

_Result = TypeVar("_Result")

_QUEUE_SHARE = 0.5
"""Of a request's time, to be waited for the first turn."""


class PoolFullError(Exception):
    """All workers are busy and the queue is full, or has not moved for long."""


class TooSlowError(Exception):
    """The timeout has passed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerPoolConfig:
    workers: int = 2
    queue_size: int = 32
    """Requests."""
    timeout: float = 10.0
    """Seconds for one request, time in the queue included."""

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise UsageError(f"--workers is {self.workers}; it must be 1 or more")
        if self.queue_size < 0:
            raise UsageError(f"--waiting is {self.queue_size}; it must be 0 or more")
        if not self.timeout > 0:
            raise UsageError(f"--timeout is {self.timeout:g}; it must be above 0")


@dataclass(eq=False, slots=True)
class Job:
    """The tasks of one request, and the results of those that have run."""

    client: str
    tasks: Sequence[Callable[[], Any]]
    finished: "asyncio.Future[list[Any]]"
    results: list[Any] = field(default_factory=list)
    has_begun: bool = False


class TurnQueue:
    """Jobs that wait for a thread, by client."""

    def __init__(self) -> None:
        self._jobs: dict[str, deque[Job]] = {}
        """The client whose turn is next is the first; so is its job."""

    def __contains__(self, job: Job) -> bool:
        return job in self._jobs.get(job.client, ())

    def put(self, job: Job) -> None:
        """Behind the other jobs of its client; a client without any goes behind the others."""
        self._jobs.setdefault(job.client, deque()).append(job)

    def take(self) -> Job | None:
        """The job whose turn it is; its client's next turn comes after those of the others."""
        if not self._jobs:
            return None
        client = next(iter(self._jobs))
        jobs = self._jobs.pop(client)
        job = jobs.popleft()
        if jobs:
            self._jobs[client] = jobs
        return job

    def discard(self, job: Job) -> None:
        if job in self:
            self._jobs[job.client].remove(job)
            if not self._jobs[job.client]:
                del self._jobs[job.client]


class WorkerPool:
    """Runs functions in threads on behalf of an event loop."""

    def __init__(self, config: WorkerPoolConfig) -> None:
        self._config = config
        self._threads = ThreadPoolExecutor(config.workers, thread_name_prefix="answer")
        self._waiting = TurnQueue()
        self._running: set[Job] = set()
        self._admitted: dict[Job, None] = {}
        """Those that a client waits for, the oldest first."""
        self._closed = False

    @property
    def in_flight(self) -> int:
        """Requests that run or wait in the queue; a thread that nobody waits for counts as one."""
        return len(self._running | self._admitted.keys())

    async def run(self, tasks: Sequence[Callable[[], _Result]], client: str = "") -> list[_Result]:
        """What the tasks of one request return.

        Raises:
            PoolFullError: the request is rejected.
            TooSlowError: it took too long; a thread may still be running one of the tasks.
        """
        if not tasks:
            return []
        job = Job(client, tasks, asyncio.get_running_loop().create_future())
        self._admit(job)
        self._start()
        wait = _QUEUE_SHARE * self._config.timeout
        patience = job.finished.get_loop().call_later(wait, self._give_up, job)
        try:
            async with asyncio.timeout(self._config.timeout) as limit:
                return await job.finished
        except TimeoutError as error:
            if not limit.expired():
                raise  # by the task itself
            raise TooSlowError from error
        finally:
            patience.cancel()
            self._forget(job)

    def close(self) -> None:
        """Wait for running tasks and start no more."""
        self._closed = True
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _admit(self, job: Job) -> None:
        if self.in_flight >= self._config.workers + self._config.queue_size:
            self._make_room(job.client)
        self._admitted[job] = None
        self._waiting.put(job)

    def _make_room(self, client: str) -> None:
        """Reject the newest waiting job of the client that has most; or that of `client` itself."""
        counts = Counter(job.client for job in self._admitted)
        busiest = max(counts, key=counts.__getitem__, default=client)
        if counts[busiest] <= counts[client] + 1:
            raise PoolFullError
        for job in reversed(self._admitted):
            if job.client == busiest and job in self._waiting and not job.finished.done():
                self._reject(job)
                return
        raise PoolFullError

    def _give_up(self, job: Job) -> None:
        if not job.has_begun and not job.finished.done():
            self._reject(job)

    def _reject(self, job: Job) -> None:
        job.finished.set_exception(PoolFullError())
        self._forget(job)

    def _forget(self, job: Job) -> None:
        self._admitted.pop(job, None)
        self._waiting.discard(job)

    def _start(self) -> None:
        """Give each idle thread a task."""
        while len(self._running) < self._config.workers and not self._closed:
            job = self._waiting.take()
            if job is None:
                return
            self._submit(job)

    def _submit(self, job: Job) -> None:
        self._running.add(job)
        job.has_begun = True
        loop = job.finished.get_loop()
        future = self._threads.submit(job.tasks[len(job.results)])
        future.add_done_callback(
            lambda done: loop.call_soon_threadsafe(self._take_result, job, done)
        )

    def _take_result(self, job: Job, done: "Future[Any]") -> None:
        self._running.remove(job)
        if not job.finished.done():  # else it was too slow, or its client has gone
            error = done.exception()
            if error is not None:
                job.finished.set_exception(error)
            else:
                job.results.append(done.result())
                if len(job.results) == len(job.tasks):
                    job.finished.set_result(job.results)
                else:
                    self._waiting.put(job)
        self._start()

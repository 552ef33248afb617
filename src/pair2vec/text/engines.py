"""Engines run a function over pieces: in this process, in worker processes or on a Ray cluster.

Every engine is an ordered map: results come in the order of the items.
"""

import logging
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import connection, get_context, parent_process
from typing import NamedTuple, Protocol, TypeVar

from pair2vec.errors import Pair2vecError

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class OrderedMap(Protocol):
    def __call__(
        self, function: Callable[[_Item], _Result], items: Iterable[_Item], /
    ) -> Iterator[_Result]:
        """Apply `function` to each item; results come in the items' order."""


class Engine(NamedTuple):
    """A started engine."""

    ordered_map: OrderedMap
    shares_disk: bool
    """Whether all workers see the same local files, as on one machine."""


@contextmanager
def process_map(workers: int) -> Iterator[OrderedMap]:
    """An ordered map over `workers` processes; with one worker it runs in this process."""
    if workers == 1:
        yield map
        return
    # "spawn", because forking a process that has threads (a progress bar) may deadlock.
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_start_worker)

    def ordered_map(
        function: Callable[[_Item], _Result], items: Iterable[_Item]
    ) -> Iterator[_Result]:
        pending: deque[Future[_Result]] = deque()
        for item in items:
            # A worker starts here and inherits the mask: Ctrl-C, which a terminal sends to all
            # processes, is left to this one.
            with _blocked_ctrl_c():
                pending.append(pool.submit(function, item))
            # Enough to keep every worker busy, few enough to bound the memory.
            if len(pending) > workers + 1:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()

    try:
        yield ordered_map
    except BrokenProcessPool as error:
        raise Pair2vecError(
            "a worker process was killed, perhaps out of memory; "
            "run the same command again to resume, with fewer --workers"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _blocked_ctrl_c() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker() -> None:
    """Make a worker exit with its parent, however that ends."""
    logging.getLogger().addHandler(logging.NullHandler())
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()

"""How work on pieces is spread: here, over processes, or over machines; results come in order."""

import logging
import os
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
    """What an engine offers."""

    def __call__(
        self, function: Callable[[_Item], _Result], items: Iterable[_Item], /
    ) -> Iterator[_Result]:
        """Apply `function` to many items, with results in the items' order."""


class Engine(NamedTuple):
    """What spreads the work, once it is started."""

    ordered_map: OrderedMap
    shares_disk: bool
    """Whether a local file that a worker writes is there for all, as on one machine."""


@contextmanager
def local_engine(workers: int) -> Iterator[OrderedMap]:
    """An ordered map over `workers` processes; one worker is this process itself."""
    if workers == 1:
        yield map
        return
    # "spawn", because forking a process that has threads (a progress bar) may deadlock.
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_start_worker)

    def ordered_map(
        function: Callable[[_Item], _Result], items: Iterable[_Item]
    ) -> Iterator[_Result]:
        under_way: deque[Future[_Result]] = deque()
        for item in items:
            under_way.append(pool.submit(function, item))
            # Enough to keep every worker busy, few enough to bound the memory.
            if len(under_way) > workers + 1:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()

    try:
        yield ordered_map
    except BrokenProcessPool as error:
        raise Pair2vecError(
            "a worker process was killed, perhaps for want of memory; "
            "run the same command again to go on, with fewer --workers"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _start_worker() -> None:
    """Let a worker end with its parent, however that ends."""
    logging.getLogger().addHandler(logging.NullHandler())
    parent = parent_process()
    assert parent is not None

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()

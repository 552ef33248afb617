"""Prefetching: items of an iterator produced by a background thread before they are needed."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Item = TypeVar("_Item")


def prefetch(items: Iterator[_Item], count: int) -> Iterator[_Item]:
    """The same items in the same order, up to `count` of them produced in advance."""
    with ThreadPoolExecutor(1) as worker:
        pending = deque(worker.submit(next, items, None) for _ in range(count))
        while (item := pending.popleft().result()) is not None:
            pending.append(worker.submit(next, items, None))
            yield item

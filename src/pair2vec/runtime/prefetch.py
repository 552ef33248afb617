"""Items of an iterator, made by another thread while the one before is used."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Item = TypeVar("_Item")


def prefetch(items: Iterator[_Item], count: int) -> Iterator[_Item]:
    """The same items, up to `count` of them made before they are asked for."""
    with ThreadPoolExecutor(1) as worker:
        waiting = deque(worker.submit(next, items, None) for _ in range(count))
        while (item := waiting.popleft().result()) is not None:
            waiting.append(worker.submit(next, items, None))
            yield item

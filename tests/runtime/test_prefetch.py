"""Prefetched items: the same ones in the same order, by a thread that never outlives its use."""

import threading
from collections.abc import Iterator
from itertools import count, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.runtime.prefetch import prefetch

COUNT = 4


class Source:
    """Counts without end, and records its position and the threads that advance it."""

    def __init__(self, broken_at: int | None = None) -> None:
        self.produced = threading.Semaphore(0)
        self.threads: set[int] = set()
        self.last = -1
        self._broken_at = broken_at

    def __iter__(self) -> Iterator[int]:
        for number in count():
            self.threads.add(threading.get_ident())
            if number == self._broken_at:
                raise OSError(f"no item {number}")
            self.last = number
            self.produced.release()
            yield number

    def produces(self, items: int, seconds: float) -> bool:
        """Whether so many more items are produced in time."""
        return all(self.produced.acquire(timeout=seconds) for _ in range(items))


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) == before


@given(st.lists(st.integers() | st.text() | st.lists(st.integers())), st.integers(1, 9))
def test_prefetched_items_are_the_same_in_the_same_order(items: list[object], count: int) -> None:
    """Falsy items, like 0, included."""
    assert list(prefetch(iter(items), count)) == items


def test_items_are_produced_by_one_other_thread_while_another_is_used() -> None:
    source = Source()
    prefetched = prefetch(iter(source), COUNT)
    assert next(prefetched) == 0
    assert source.produces(1 + COUNT, seconds=60)
    # No more than that, until the next one is consumed.
    assert not source.produces(1, seconds=0.05)
    assert next(prefetched) == 1
    assert source.produces(1, seconds=60)
    assert len(source.threads) == 1
    assert threading.get_ident() not in source.threads


@pytest.mark.parametrize("broken_at", [0, 1, COUNT, COUNT + 3])
def test_an_error_is_raised_after_the_items_before_it(broken_at: int) -> None:
    prefetched = prefetch(iter(Source(broken_at)), COUNT)
    assert list(islice(prefetched, broken_at)) == list(range(broken_at))
    with pytest.raises(OSError, match=f"no item {broken_at}"):
        next(prefetched)
    assert list(prefetched) == []


def test_an_error_that_is_never_reached_is_ignored() -> None:
    prefetched = prefetch(iter(Source(broken_at=3)), COUNT)
    assert list(islice(prefetched, 2)) == [0, 1]


@pytest.mark.parametrize("taken", [1, 2, 7])
def test_closing_early_ends_the_thread_at_once(taken: int) -> None:
    source, before = Source(), threading.active_count()
    prefetched = prefetch(iter(source), COUNT)
    assert list(islice(prefetched, taken)) == list(range(taken))
    assert threading.active_count() == before + 1
    prefetched.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before
    assert source.last < taken + COUNT


def test_leaving_a_loop_ends_the_thread() -> None:
    before = threading.active_count()
    for number in prefetch(iter(Source()), COUNT):
        if number == 3:
            break
    assert threading.active_count() == before


def test_nested_prefetching_ends_both_threads() -> None:
    before = threading.active_count()
    for number in prefetch(prefetch(iter(Source()), 1), COUNT):
        if number == 3:
            assert threading.active_count() == before + 2
            break
    assert threading.active_count() == before


def test_an_unused_iterator_is_never_started() -> None:
    source = Source()
    prefetched = prefetch(iter(source), COUNT)
    assert not source.threads
    del prefetched

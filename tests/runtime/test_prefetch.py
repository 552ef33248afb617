"""Items made ahead by another thread: the same ones, and nothing is left of who made them."""

import threading
from collections.abc import Iterator
from itertools import count, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.runtime.prefetch import prefetch

AHEAD = 4


class Source:
    """Counts without end, and remembers how far it got and who asked."""

    def __init__(self, broken_at: int | None = None) -> None:
        self.made = threading.Semaphore(0)
        self.asked_by: set[int] = set()
        self.last = -1
        self._broken_at = broken_at

    def __iter__(self) -> Iterator[int]:
        for number in count():
            self.asked_by.add(threading.get_ident())
            if number == self._broken_at:
                raise OSError(f"no item {number}")
            self.last = number
            self.made.release()
            yield number

    def has_made(self, items: int, seconds: float) -> bool:
        """Whether it makes so many more before the time is over."""
        return all(self.made.acquire(timeout=seconds) for _ in range(items))


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) == before


@given(st.lists(st.integers() | st.text() | st.lists(st.integers())), st.integers(1, 9))
def test_items_made_ahead_are_the_same_in_the_same_order(items: list[object], ahead: int) -> None:
    """Those that are false in themselves, like 0, among them."""
    assert list(prefetch(iter(items), ahead)) == items


def test_items_are_made_by_one_other_thread_while_another_is_used() -> None:
    source = Source()
    ahead = prefetch(iter(source), AHEAD)
    assert next(ahead) == 0
    assert source.has_made(1 + AHEAD, seconds=60)
    # No more than that: the rest waits until the next one is asked for.
    assert not source.has_made(1, seconds=0.05)
    assert next(ahead) == 1
    assert source.has_made(1, seconds=60)
    assert len(source.asked_by) == 1
    assert threading.get_ident() not in source.asked_by


@pytest.mark.parametrize("broken_at", [0, 1, AHEAD, AHEAD + 3])
def test_an_error_comes_after_the_items_before_it(broken_at: int) -> None:
    ahead = prefetch(iter(Source(broken_at)), AHEAD)
    assert list(islice(ahead, broken_at)) == list(range(broken_at))
    with pytest.raises(OSError, match=f"no item {broken_at}"):
        next(ahead)
    assert list(ahead) == []


def test_an_error_that_no_one_gets_to_does_no_harm() -> None:
    ahead = prefetch(iter(Source(broken_at=3)), AHEAD)
    assert list(islice(ahead, 2)) == [0, 1]


@pytest.mark.parametrize("taken", [1, 2, 7])
def test_who_stops_early_leaves_neither_a_thread_nor_a_long_wait(taken: int) -> None:
    source, before = Source(), threading.active_count()
    ahead = prefetch(iter(source), AHEAD)
    assert list(islice(ahead, taken)) == list(range(taken))
    assert threading.active_count() == before + 1
    ahead.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before
    assert source.last < taken + AHEAD


def test_a_loop_that_is_left_is_closed() -> None:
    before = threading.active_count()
    for number in prefetch(iter(Source()), AHEAD):
        if number == 3:
            break
    assert threading.active_count() == before


def test_of_one_made_ahead_of_another_no_thread_is_left_either() -> None:
    before = threading.active_count()
    for number in prefetch(prefetch(iter(Source()), 1), AHEAD):
        if number == 3:
            assert threading.active_count() == before + 2
            break
    assert threading.active_count() == before


def test_what_is_never_asked_for_is_never_begun() -> None:
    source = Source()
    ahead = prefetch(iter(source), AHEAD)
    assert not source.asked_by
    del ahead

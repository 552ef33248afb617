"""What is said of a run before and while it goes: its size, its pace, the time left."""

import time
from dataclasses import replace

import pytest
from tests.training.small_run import SMALL, small

from pair2vec.training.forecast import Forecast, RunSize, memory_needed
from pair2vec.training.recipes import fast, tiny


class Clock:
    """A clock that only tests move."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    return clock


SIZE = RunSize(triples_per_epoch=10_000, steps=1_000, batch=100, memory=10**9)
RECIPE = small(validation_steps=250, validation_triples=3_000, batch=100)


def begin(step: int = 0) -> Forecast:
    return Forecast(SIZE, RECIPE, words=100, step=step)


def run_steps(run: Forecast, clock: Clock, steps: range, seconds: float) -> list[int]:
    """The steps after which progress is shown."""
    shown = []
    for step in steps:
        clock.now += seconds
        if run.is_due(step):
            shown.append(step)
    return shown


def test_progress_is_shown_after_the_first_step_and_then_once_a_second(clock: Clock) -> None:
    assert run_steps(begin(), clock, range(1, 12), 0.25) == [1, 5, 9]
    assert run_steps(begin(70), clock, range(71, 74), 0.25) == [71]


def test_nothing_is_forecast_of_the_first_step_which_takes_longer(clock: Clock) -> None:
    run = begin()
    run_steps(run, clock, range(1, 2), 30.0)
    assert run.seconds_left(1) is None
    run_steps(run, clock, range(2, 7), 1.0)
    # 994 steps of a second; four validations and one more, each of 30 batches, forward only.
    assert run.seconds_left(6) == pytest.approx(994 + 5 * 30 / 3, abs=1)


def test_what_is_done_beside_steps_is_counted_apart(clock: Clock) -> None:
    run = begin()
    run_steps(run, clock, range(1, 251), 1.0)
    with run.aside(validation=True):
        clock.now += 40
    run_steps(run, clock, range(251, 261), 1.0)
    assert run.step_seconds == pytest.approx(1)
    assert run.seconds_left(260) == pytest.approx(740 + 4 * 40, abs=1)


def test_the_pace_is_that_of_the_last_minute(clock: Clock) -> None:
    run = begin()
    run_steps(run, clock, range(1, 101), 5.0)
    run_steps(run, clock, range(101, 301), 1.0)
    assert run.step_seconds == pytest.approx(1, abs=0.1)


def test_a_long_run_is_told_how_it_would_be_a_short_one(clock: Clock) -> None:
    run = begin(10)
    run_steps(run, clock, range(11, 21), 0.5)
    text = "by the pace of the first 10 of 990 steps"
    assert run.message(20, 600.0) == f"forecast: 10 min, {text}"
    assert run.message(20, 7_200.0) == (
        f"forecast: 120 min, {text}; about 30 min with --set training.steps=3600 --overwrite"
    )


def test_the_size_of_a_run_is_a_line() -> None:
    assert f"{SIZE}" == (
        "10,000 triples an epoch, 100,000 in all: 1,000 steps of 100; about 1.0 GB of memory"
    )


def test_memory_grows_with_vocabulary_dimension_and_batch() -> None:
    # Two tables of 300, with two moments each, and once more for a checkpoint.
    tables = 2 * 100_000 * 300 * 4 * 3 * 2
    assert tables < memory_needed(fast(), 100_000) < 2.5 * tables
    assert memory_needed(fast(), 200_000) > memory_needed(fast(), 100_000) + tables
    assert memory_needed(tiny(), 1_000) < 0.8e9
    larger = replace(SMALL, training=replace(SMALL.training, batch=10_000))
    assert memory_needed(larger, 100) > memory_needed(SMALL, 100)

"""Learning rates, step by step."""

import pytest

from pair2vec.training.optim import SCHEDULES, Constant, Linear, Plateau

EVERYTHING = {"total_steps": 100, "warmup_steps": 10, "plateau_steps": 3, "plateau_factor": 0.5}


def test_every_schedule_takes_all_settings_of_a_run() -> None:
    for schedule in SCHEDULES.values():
        assert schedule(0.1, **EVERYTHING).rate(50) > 0


def test_a_constant_rate_stays() -> None:
    schedule = Constant(0.1, **EVERYTHING)
    schedule.observe(5, 1e9)
    assert {schedule.rate(step) for step in (0, 7, 10**6)} == {0.1}


def test_a_linear_rate_rises_to_the_full_and_falls_to_zero() -> None:
    schedule = Linear(2.0, warmup_steps=4, total_steps=12)
    rising, falling = [0.5, 1.0, 1.5, 2.0], [2.0, 1.75, 1.5, 1.25, 1.0, 0.75, 0.5, 0.25]
    assert [schedule.rate(step) for step in range(12)] == pytest.approx(rising + falling)
    assert schedule.rate(12) == schedule.rate(1000) == 0


def test_a_linear_rate_without_warm_up_begins_in_full() -> None:
    schedule = Linear(2.0, warmup_steps=0, total_steps=4)
    assert [schedule.rate(step) for step in range(4)] == pytest.approx([2.0, 1.5, 1.0, 0.5])


@pytest.mark.parametrize("total_steps", [0, 3, 4])
def test_a_run_shorter_than_its_warm_up_only_rises(total_steps: int) -> None:
    schedule = Linear(1.0, warmup_steps=4, total_steps=total_steps)
    assert [schedule.rate(step) for step in range(4)] == pytest.approx([0.25, 0.5, 0.75, 1.0])


def rates(losses: list[float]) -> list[float]:
    """The rate before each step, when the step has this loss."""
    schedule = Plateau(1.0, plateau_steps=3, plateau_factor=0.5)
    found = []
    for step, loss in enumerate(losses):
        found.append(schedule.rate(step))
        schedule.observe(step, loss)
    return found


def test_a_falling_loss_keeps_the_rate() -> None:
    assert rates([9.0 - step for step in range(9)]) == [1.0] * 9


def test_the_rate_shrinks_when_the_loss_has_not_fallen_for_so_many_steps() -> None:
    assert rates([5.0, 5.0, 6.0, 5.0, 5.0, 5.0, 5.0, 5.0]) == [1, 1, 1, 1, 0.5, 0.5, 0.5, 0.25]


def test_a_lower_loss_begins_the_count_anew() -> None:
    assert rates([5.0, 6.0, 6.0, 4.0, 6.0, 6.0, 6.0, 6.0]) == [1, 1, 1, 1, 1, 1, 1, 0.5]


def test_the_state_is_all_that_a_plateau_remembers() -> None:
    losses = [5.0, 6.0, 4.0, 4.5, 4.5, 4.5, 4.5, 3.0, 3.5, 3.5, 3.5, 3.5]
    expected = rates(losses)
    schedule = Plateau(1.0, plateau_steps=3, plateau_factor=0.5)
    found = []
    for step, loss in enumerate(losses):
        resumed = Plateau(1.0, plateau_steps=3, plateau_factor=0.5)
        resumed.state.update(schedule.state)
        schedule = resumed
        found.append(schedule.rate(step))
        schedule.observe(step, loss)
    assert found == expected
    assert len(set(expected)) == 3

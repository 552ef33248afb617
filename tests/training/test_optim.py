"""Optimisers against torch's, also on single rows of a table; learning rates, step by step."""

import json
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pair2vec.training.optim import (
    OPTIMISERS,
    SCHEDULES,
    Adagrad,
    Adam,
    Constant,
    DevPlateau,
    Linear,
    Optimiser,
    Plateau,
    Sgd,
    StepRate,
)

ROWS, SIZE, STEPS, RATE = 10, 4, 25, 0.05
MakePlain = Callable[..., Any]
PLAIN: dict[str, MakePlain] = {
    "sgd": torch.optim.SGD,
    "adagrad": torch.optim.Adagrad,
    "adam": torch.optim.Adam,
}


def table() -> Tensor:
    return torch.randn(ROWS, SIZE, generator=torch.Generator().manual_seed(0))


def gradient(step: int) -> Tensor:
    """Of every row; steps differ in size by orders of magnitude."""
    generator = torch.Generator().manual_seed(100 + step)
    return torch.randn(ROWS, SIZE, generator=generator) * 10.0 ** (step % 5 - 2)


def some_rows(step: int) -> Tensor:
    order = torch.randperm(ROWS, generator=torch.Generator().manual_seed(step))
    return order[: 1 + step % ROWS].sort().values


def rate_of(step: int) -> float:
    return RATE / (1 + step)


def at(step: int) -> StepRate:
    return StepRate(rate_of(step), step + 1)


def ours(optimiser: Optimiser, rows_of: Callable[[int], Tensor | None]) -> Tensor:
    """The table after all steps."""
    parameter = table()
    for step in range(STEPS):
        rows = rows_of(step)
        step_gradient = gradient(step) if rows is None else gradient(step)[rows]
        optimiser.update("table", parameter, step_gradient, at(step), rows)
    return parameter


def plain(make: MakePlain, rows_of: Callable[[int], Tensor | None]) -> Tensor:
    """The same with torch's optimiser and a gradient of zero for the rows left out."""
    parameter = nn.Parameter(table())
    optimiser = make([parameter], lr=RATE)
    for step in range(STEPS):
        rows = rows_of(step)
        touched = torch.ones(ROWS, 1) if rows is None else torch.zeros(ROWS, 1)
        if rows is not None:
            touched[rows] = 1
        parameter.grad = gradient(step) * touched
        optimiser.param_groups[0]["lr"] = rate_of(step)
        optimiser.step()
    return parameter.detach()


@pytest.mark.parametrize("name", OPTIMISERS)
def test_a_whole_parameter_moves_as_with_torch(name: str) -> None:
    actual = ours(OPTIMISERS[name](), lambda _: None)
    torch.testing.assert_close(actual, plain(PLAIN[name], lambda _: None), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("adam", "make"),
    [
        (Adam(), torch.optim.Adam),
        (Adam(decay=0.1), partial(torch.optim.Adam, weight_decay=0.1)),
        (Adam(decoupled=True), partial(torch.optim.AdamW, weight_decay=0.0)),
        (Adam(decay=0.1, decoupled=True), partial(torch.optim.AdamW, weight_decay=0.1)),
    ],
    ids=["adam", "adam with decay", "adamw without decay", "adamw"],
)
def test_adam_and_adamw_are_torchs_to_the_bit(adam: Adam, make: MakePlain) -> None:
    assert torch.equal(ours(adam, lambda _: None), plain(make, lambda _: None))


def test_a_rate_and_step_on_the_device_give_what_numbers_do() -> None:
    adam, actual = Adam(decay=0.1, decoupled=True), table()
    on_device = StepRate(torch.zeros(()), torch.zeros(()))
    for step in range(STEPS):
        # As before each replay of a CUDA graph.
        for tensor, value in zip(on_device, at(step), strict=True):
            assert isinstance(tensor, Tensor)
            tensor.fill_(value)
        adam.update("table", actual, gradient(step), on_device)
    expected = ours(Adam(decay=0.1, decoupled=True), lambda _: None)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_a_table_whose_rows_are_all_touched_moves_as_with_torch(name: str) -> None:
    def in_any_order(step: int) -> Tensor:
        return torch.randperm(ROWS, generator=torch.Generator().manual_seed(step))

    actual = ours(OPTIMISERS[name](), in_any_order)
    torch.testing.assert_close(actual, plain(PLAIN[name], lambda _: None), rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["sgd", "adagrad"])
def test_touched_rows_move_as_in_a_dense_update(name: str) -> None:
    actual = ours(OPTIMISERS[name](), some_rows)
    torch.testing.assert_close(actual, plain(PLAIN[name], some_rows), rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_untouched_rows_and_their_state_do_not_change_by_a_bit(name: str) -> None:
    optimiser = OPTIMISERS[name]()
    parameter = table()
    optimiser.update("table", parameter, gradient(0), at(0))
    before, state = (
        parameter.clone(),
        {key: value.clone() for key, value in optimiser.state.items()},
    )
    rows = torch.tensor([2, 5])
    optimiser.update("table", parameter, gradient(1)[rows], at(1), rows)
    untouched = torch.ones(ROWS, dtype=torch.bool)
    untouched[rows] = False
    assert torch.equal(parameter[untouched], before[untouched])
    assert not bool((parameter[rows] == before[rows]).any())
    for key, value in optimiser.state.items():
        assert torch.equal(value[untouched], state[key][untouched])
        assert not torch.equal(value[rows], state[key][rows])


def test_state_is_kept_by_name() -> None:
    adam = Adam()
    adam.update("first", table(), gradient(0), at(0))
    adam.update("second", table(), gradient(1), at(1))
    names = {"first.mean", "first.variance", "second.mean", "second.variance"}
    assert set(adam.state) == names
    assert not torch.equal(adam.state["first.mean"], adam.state["second.mean"])
    assert Sgd().slots == ()
    assert Adagrad().slots == ("squares",)


def test_an_optimiser_resumes_from_its_state() -> None:
    whole = OPTIMISERS["adam"]()
    expected = ours(whole, some_rows)
    actual, optimiser = table(), OPTIMISERS["adam"]()
    for step in range(STEPS):
        fresh = OPTIMISERS["adam"]()
        fresh.state = optimiser.state
        optimiser = fresh
        rows = some_rows(step)
        optimiser.update("table", actual, gradient(step)[rows], at(step), rows)
    assert torch.equal(actual, expected)


def ours_where(optimiser: Optimiser, rows_of: Callable[[int], Tensor]) -> Tensor:
    """The table after all steps, each with a gradient of the whole and some rows to be changed."""
    parameter = table()
    for step in range(STEPS):
        changed = torch.zeros(ROWS, 1, dtype=torch.bool)
        changed[rows_of(step)] = True
        on_device = (torch.tensor(n, dtype=torch.float64) for n in (rate_of(step), step + 1.0))
        optimiser.update_where(changed, "table", parameter, gradient(step), StepRate(*on_device))
    return parameter


@pytest.mark.parametrize("name", OPTIMISERS)
def test_a_masked_dense_update_is_the_update_of_those_rows(name: str) -> None:
    by_rows, by_where = OPTIMISERS[name](), OPTIMISERS[name]()
    actual, expected = ours_where(by_where, some_rows), ours(by_rows, some_rows)
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-6)
    assert by_where.state.keys() == by_rows.state.keys()
    for key, value in by_rows.state.items():
        torch.testing.assert_close(by_where.state[key], value)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_where_masked_a_gradient_that_is_not_finite_changes_nothing(
    name: str,
) -> None:
    optimiser, parameter = OPTIMISERS[name](), table()
    optimiser.update("table", parameter, gradient(0), at(0))
    before, state = (
        parameter.clone(),
        {key: value.clone() for key, value in optimiser.state.items()},
    )
    broken = torch.full((ROWS, SIZE), torch.nan)
    on_device = StepRate(torch.tensor(RATE), torch.tensor(2.0))
    optimiser.update_where(torch.tensor(False), "table", parameter, broken, on_device)
    assert torch.equal(parameter, before)
    for key, value in optimiser.state.items():
        assert torch.equal(value, state[key])


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
    before_steps = []
    for step, loss in enumerate(losses):
        before_steps.append(schedule.rate(step))
        schedule.observe(step, loss)
    return before_steps


def test_a_falling_loss_keeps_the_rate() -> None:
    assert rates([9.0 - step for step in range(9)]) == [1.0] * 9


def test_the_rate_shrinks_when_the_loss_has_not_fallen_for_so_many_steps() -> None:
    assert rates([5.0, 5.0, 6.0, 5.0, 5.0, 5.0, 5.0, 5.0]) == [1, 1, 1, 1, 0.5, 0.5, 0.5, 0.25]


def test_a_lower_loss_resets_the_count() -> None:
    assert rates([5.0, 6.0, 6.0, 4.0, 6.0, 6.0, 6.0, 6.0]) == [1, 1, 1, 1, 1, 1, 1, 0.5]


def cuts(losses: NDArray[np.float64], steps: int, means: int = 10) -> int:
    """How often a rate is halved."""
    schedule = Plateau(1.0, plateau_steps=steps, plateau_factor=0.5, means=means)
    for step, loss in enumerate(losses.tolist()):
        schedule.observe(step, loss)
    return round(-math.log2(schedule.rate(len(losses))))


def test_noise_does_not_cut_the_rate_of_a_loss_that_falls() -> None:
    steps = 3_000
    noise = np.random.default_rng(0).normal(0, 0.1, 10 * steps)
    falling = 2 - 0.5 * np.arange(10 * steps) / (10 * steps)
    assert cuts(falling + noise, steps) == 0
    # Compared by single losses it is cut: the lowest of many is low by chance.
    slowly = 2 - 0.2 * np.arange(10 * steps) / (10 * steps)
    assert cuts(slowly + noise, steps) == 0
    assert cuts(slowly + noise, steps, means=steps) > 0
    # Where it does not fall, it is cut about once in so many steps.
    assert 6 <= cuts(2 + noise, steps) <= 9


def test_a_mean_that_is_lower_by_less_than_a_thousandth_is_not_lower() -> None:
    assert cuts(np.array([2.0, 1.9999, 1.9985, 1.9999]), 3) == 1
    assert cuts(np.array([2.0, 1.9999, 1.9975, 1.9999]), 3) == 0


def test_a_plateau_resumes_from_its_state() -> None:
    losses = [5.0, 6.0, 4.0, 4.5, 4.5, 4.5, 4.5, 3.0, 3.5, 3.5, 3.5, 3.5]
    expected = rates(losses)
    schedule = Plateau(1.0, plateau_steps=3, plateau_factor=0.5)
    actual = []
    for step, loss in enumerate(losses):
        resumed = Plateau(1.0, plateau_steps=3, plateau_factor=0.5)
        resumed.state.update(schedule.state)
        schedule = resumed
        actual.append(schedule.rate(step))
        schedule.observe(step, loss)
    assert actual == expected
    assert len(set(expected)) == 3


@pytest.mark.parametrize("patience", [0, 1, 2])
def test_the_rate_falls_with_dev_scores_as_torch_lets_it(patience: int) -> None:
    scores = [0.5, 0.6, 0.6, 0.55, 0.7, 0.7, 0.7, 0.7, 0.7, 0.8, 0.1, 0.1, 0.1]
    weights = torch.nn.Parameter(torch.zeros(1))
    optimiser = torch.optim.SGD([weights], lr=1.0)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimiser, mode="max", factor=0.5, patience=patience, threshold=0
    )
    plateau = DevPlateau(1.0, factor=0.5, patience=patience)
    for score in scores:
        plateau.observe(score)
        schedule.step(score)
        assert plateau.rate == optimiser.param_groups[0]["lr"]


def test_only_a_higher_score_is_a_better_one() -> None:
    plateau = DevPlateau(1.0, factor=0.5, patience=0)
    is_best = [plateau.observe(score) for score in (0.5, 0.5, 0.6, 0.4)]
    assert is_best == [True, False, True, False]
    assert (plateau.best, plateau.epochs_since_best) == (0.6, 1)


@pytest.mark.parametrize("factor", [0.5, 0.3])
def test_a_dev_plateau_restored_from_json_continues_as_an_unbroken_one(factor: float) -> None:
    plateau = DevPlateau(0.1, factor=factor, patience=1)
    restored = DevPlateau(0.1, factor=factor, patience=1)
    for score in (0.3, 0.2, 0.2, 0.1, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4):
        saved = json.loads(json.dumps(plateau.to_json(), allow_nan=False))
        restored = DevPlateau(0.1, factor=factor, patience=1)
        restored.restore(saved)
        assert restored.to_json() == saved
        assert restored.observe(score) == plateau.observe(score)
        assert restored.to_json() == plateau.to_json()
    assert plateau.rate == 0.1 * factor * factor * factor

"""Our optimisers, which step single rows, against torch's, which step whole tables."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from pair2vec.training.optim import OPTIMISERS, Adagrad, Adam, Optimiser, Sgd

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


def ours(optimiser: Optimiser, rows_of: Callable[[int], Tensor | None]) -> Tensor:
    """The table after all steps."""
    found = table()
    for step in range(STEPS):
        rows = rows_of(step)
        given = gradient(step) if rows is None else gradient(step)[rows]
        optimiser.update("table", found, given, rate_of(step), rows)
        optimiser.steps += 1
    return found


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
    found = ours(OPTIMISERS[name](), lambda _: None)
    torch.testing.assert_close(found, plain(PLAIN[name], lambda _: None), rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_a_table_whose_rows_are_all_touched_moves_as_with_torch(name: str) -> None:
    def in_any_order(step: int) -> Tensor:
        return torch.randperm(ROWS, generator=torch.Generator().manual_seed(step))

    found = ours(OPTIMISERS[name](), in_any_order)
    torch.testing.assert_close(found, plain(PLAIN[name], lambda _: None), rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["sgd", "adagrad"])
def test_touched_rows_move_as_in_a_dense_update(name: str) -> None:
    found = ours(OPTIMISERS[name](), some_rows)
    torch.testing.assert_close(found, plain(PLAIN[name], some_rows), rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_untouched_rows_and_their_state_do_not_change_by_a_bit(name: str) -> None:
    optimiser = OPTIMISERS[name]()
    found = table()
    optimiser.update("table", found, gradient(0), RATE)
    before, state = found.clone(), {key: value.clone() for key, value in optimiser.state.items()}
    rows = torch.tensor([2, 5])
    optimiser.update("table", found, gradient(1)[rows], RATE, rows)
    untouched = torch.ones(ROWS, dtype=torch.bool)
    untouched[rows] = False
    assert torch.equal(found[untouched], before[untouched])
    assert not bool((found[rows] == before[rows]).any())
    for key, value in optimiser.state.items():
        assert torch.equal(value[untouched], state[key][untouched])
        assert not torch.equal(value[rows], state[key][rows])


def test_state_is_kept_by_name() -> None:
    adam = Adam()
    adam.update("first", table(), gradient(0), RATE)
    adam.update("second", table(), gradient(1), RATE)
    names = {"first.mean", "first.variance", "second.mean", "second.variance"}
    assert set(adam.state) == names
    assert not torch.equal(adam.state["first.mean"], adam.state["second.mean"])
    assert Sgd().slots == ()
    assert Adagrad().slots == ("squares",)


def test_the_state_is_all_that_an_optimiser_remembers() -> None:
    whole = OPTIMISERS["adam"]()
    expected = ours(whole, some_rows)
    found, optimiser = table(), OPTIMISERS["adam"]()
    for step in range(STEPS):
        fresh = OPTIMISERS["adam"]()
        fresh.state, fresh.steps = optimiser.state, step
        optimiser = fresh
        rows = some_rows(step)
        optimiser.update("table", found, gradient(step)[rows], rate_of(step), rows)
    assert torch.equal(found, expected)


def ours_where(optimiser: Optimiser, rows_of: Callable[[int], Tensor]) -> Tensor:
    """The table after all steps, each with a gradient of the whole and some rows to be changed."""
    found = table()
    for step in range(STEPS):
        changed = torch.zeros(ROWS, 1, dtype=torch.bool)
        changed[rows_of(step)] = True
        rate, number = (torch.tensor(n, dtype=torch.float64) for n in (rate_of(step), step + 1.0))
        optimiser.update_where(changed, "table", found, gradient(step), rate, number)
    return found


@pytest.mark.parametrize("name", OPTIMISERS)
def test_rows_picked_from_a_whole_gradient_move_as_those_with_one_of_their_own(name: str) -> None:
    by_rows, by_where = OPTIMISERS[name](), OPTIMISERS[name]()
    found, expected = ours_where(by_where, some_rows), ours(by_rows, some_rows)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)
    assert by_where.state.keys() == by_rows.state.keys()
    for key, value in by_rows.state.items():
        torch.testing.assert_close(by_where.state[key], value)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_where_nothing_is_to_be_changed_a_gradient_that_is_no_number_does_no_harm(
    name: str,
) -> None:
    optimiser, found = OPTIMISERS[name](), table()
    optimiser.update("table", found, gradient(0), RATE)
    before, state = found.clone(), {key: value.clone() for key, value in optimiser.state.items()}
    broken = torch.full((ROWS, SIZE), torch.nan)
    rate, number = torch.tensor(RATE), torch.tensor(2.0)
    optimiser.update_where(torch.tensor(False), "table", found, broken, rate, number)
    assert torch.equal(found, before)
    for key, value in optimiser.state.items():
        assert torch.equal(value, state[key])

"""Ranges of settings: every number that ``--set`` reaches has one."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.errors import UsageError
from pair2vec.experiments.miniworld.world import WorldConfig
from pair2vec.experiments.nli.classifier import NliSettings
from pair2vec.experiments.qa.answerer import QaSettings
from pair2vec.ranges import OneOf, Range, check_ranges, declared_ranges
from pair2vec.relations.mlp import MlpConfig
from pair2vec.teaching.teach import TeachRecipe
from pair2vec.training.recipes import RECIPES, Recipe, paper, with_settings
from pair2vec.word_vectors.fasttext import FasttextConfig

ROOTS: list[Any] = [paper(), TeachRecipe(), NliSettings(), QaSettings()]
"""What ``--set`` changes: of train, teach, nli train and qa train."""
OTHERS: list[Any] = [FasttextConfig(), MlpConfig(), WorldConfig()]


def numbers(config: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The path of each number in `config`, and the group that it is in."""
    for field in fields(config):
        value, below = getattr(config, field.name), (*path, field.name)
        if is_dataclass(value):
            yield from numbers(value, below)
        elif isinstance(value, int | float | tuple) and not isinstance(value, bool):
            yield below, config


NUMBERS = [
    pytest.param(root, path, group, id=f"{type(root).__name__}.{'.'.join(path)}")
    for root in [*ROOTS, *OTHERS]
    for path, group in numbers(root)
]
SET = [case for case in NUMBERS if case.values[0] in ROOTS]


@pytest.mark.parametrize(("root", "path", "group"), NUMBERS)
def test_every_number_has_a_range_that_its_default_is_in(
    root: Any, path: tuple[str, ...], group: object
) -> None:
    del root
    allowed = declared_ranges(type(group))[path[-1]]
    assert isinstance(allowed, Range)
    value = getattr(group, path[-1])
    for number in value if isinstance(value, tuple) else [value]:
        assert number in allowed
    assert math.nan not in allowed
    assert math.inf not in allowed
    assert -math.inf not in allowed


@pytest.mark.parametrize(("root", "path", "group"), SET)
def test_a_number_outside_is_refused_with_setting_value_and_range(
    root: Any, path: tuple[str, ...], group: object
) -> None:
    allowed, kind = declared_ranges(type(group))[path[-1]], type(getattr(group, path[-1]))
    assert isinstance(allowed, Range)
    lower = allowed.above if allowed.least is None else allowed.least
    upper = allowed.below if allowed.most is None else allowed.most
    assert lower is not None
    assert upper is not None
    outside = [kind(lower - 1), kind(upper + 1)]
    for value in outside if kind is int else [*outside, math.nan, math.inf, -math.inf]:
        settings: Any = value
        for name in reversed(path):
            settings = {name: settings}
        with pytest.raises(UsageError) as raised:
            with_settings(root, settings)
        assert str(raised.value) == f"{'.'.join(path)} is {value!r}; it must be {allowed}"


def test_every_recipe_is_in_range() -> None:
    for make in RECIPES.values():
        assert isinstance(make(), Recipe)


@pytest.mark.parametrize(
    ("allowed", "inside", "outside", "text"),
    [
        (Range(least=1, most=1_000), [1, 1_000], [0, 1_001, 10**400], "from 1 to 1,000"),
        (Range(least=0, below=1), [0, 0.999], [-1e-9, 1], "from 0 to below 1"),
        (Range(above=0, most=1), [1e-300, 1], [0, 1.1], "above 0 and at most 1"),
        (Range(above=0, below=0.5), [0.25], [0, 0.5], "above 0 and below 0.5"),
    ],
)
def test_a_range_has_its_ends_or_not(
    allowed: Range, inside: list[float], outside: list[float], text: str
) -> None:
    assert all(value in allowed for value in inside)
    assert not any(value in allowed for value in [*outside, math.nan, math.inf, -math.inf])
    assert str(allowed) == text


def test_a_range_has_two_ends() -> None:
    with pytest.raises(AssertionError):
        Range(least=1)
    with pytest.raises(AssertionError):
        Range(least=1, above=1, most=3)


@dataclass(frozen=True, kw_only=True)
class Example:
    size: Annotated[int, Range(least=1, most=9)] = 1
    ends: Annotated[tuple[int, int], Range(least=0, most=9)] = (0, 0)
    mode: Literal["fast", "exact"] = "fast"
    name: Annotated[str, OneOf(("a", "b"))] = "a"
    free: str = ""

    def __post_init__(self) -> None:
        check_ranges(self)


@given(st.integers(), st.tuples(st.integers(-3, 12), st.integers(-3, 12)))
def test_a_config_is_made_where_all_its_numbers_are_in_range(
    size: int, ends: tuple[int, int]
) -> None:
    if 1 <= size <= 9 and all(0 <= end <= 9 for end in ends):
        assert Example(size=size, ends=ends).size == size
    else:
        with pytest.raises(UsageError, match=r"^(size|ends) is .*; it must be from \d to 9$"):
            Example(size=size, ends=ends)


def test_names_are_checked_in_the_same_place() -> None:
    with pytest.raises(UsageError, match="mode is 'slow'; it must be one of fast, exact"):
        Example(mode="slow")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="name is 'c'; it must be one of a, b"):
        Example(name="c")

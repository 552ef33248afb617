"""Any value is either parsed, or refused in one line."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.errors import UsageError
from pair2vec.server.parameters import Parameter, parse_parameters

TOP = Parameter(
    name="top", description="How many.", value_type="integer", default=10, minimum=1, maximum=100
)
SHARE = Parameter(name="share", description="Of all.", value_type="number", minimum=0, maximum=1)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.integers(1, 100))
def test_a_number_is_the_same_from_a_query_string_and_from_json(number: int) -> None:
    assert TOP.parse(number) == TOP.parse(str(number)) == TOP.parse(float(number)) == number
    assert isinstance(TOP.parse(str(number)), int)


@given(st.floats(0, 1))
def test_a_share_is_parsed_exactly(share: float) -> None:
    assert SHARE.parse(repr(share)) == SHARE.parse(share) == share


@given(ANYTHING)
def test_anything_else_is_refused_and_nothing_else_is_raised(value: object) -> None:
    for parameter in (TOP, SHARE):
        try:
            parsed = parameter.parse(value)
        except UsageError as error:
            assert "\n" not in str(error)
        else:
            assert math.isfinite(parsed)
            assert parameter.minimum is not None
            assert parameter.maximum is not None
            assert parameter.minimum <= parsed <= parameter.maximum


def test_a_missing_or_empty_value_is_the_default() -> None:
    assert parse_parameters([TOP, SHARE], {}) == {"top": 10, "share": None}
    assert parse_parameters([TOP], {"top": ""}) == {"top": 10}


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="'tip' is not a parameter; there are share, top"):
        parse_parameters([TOP, SHARE], {"tip": 3})

"""Any value is either read as it is meant, or refused in one line."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.errors import UsageError
from pair2vec.server.parameters import Parameter, read_all

TOP = Parameter(name="top", says="How many.", kind="integer", default=10, least=1, most=100)
SHARE = Parameter(name="share", says="Of all.", kind="number", least=0, most=1)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.integers(1, 100))
def test_a_number_is_the_same_from_an_address_and_from_json(number: int) -> None:
    assert TOP.read(number) == TOP.read(str(number)) == TOP.read(float(number)) == number
    assert isinstance(TOP.read(str(number)), int)


@given(st.floats(0, 1))
def test_a_share_is_read_exactly(share: float) -> None:
    assert SHARE.read(repr(share)) == SHARE.read(share) == share


@given(ANYTHING)
def test_anything_else_is_refused_and_nothing_else_is_raised(value: object) -> None:
    for parameter in (TOP, SHARE):
        try:
            read = parameter.read(value)
        except UsageError as error:
            assert "\n" not in str(error)
        else:
            assert math.isfinite(read)
            assert parameter.least is not None
            assert parameter.most is not None
            assert parameter.least <= read <= parameter.most


def test_what_is_left_out_or_empty_has_its_default() -> None:
    assert read_all([TOP, SHARE], {}) == {"top": 10, "share": None}
    assert read_all([TOP], {"top": ""}) == {"top": 10}


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="'tip' is not asked for; there are share, top"):
        read_all([TOP, SHARE], {"tip": 3})

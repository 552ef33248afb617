"""Forms of a word are told by their endings, or are known."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pair2vec.relations.word_forms import is_form


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ("cheap", "cheaper", True),
        ("cheaply", "cheap", True),
        ("study", "studied", True),
        ("make", "making", True),
        ("big", "bigger", True),
        ("stands", "standing", True),
        ("makes", "making", True),
        ("studies", "studied", True),
        ("studies", "studying", True),
        ("stopped", "stops", True),
        ("stand", "stood", True),
        ("standing", "stood", True),
        ("wrote", "writing", True),
        ("written", "wrote", True),
        ("man", "men", True),
        ("better", "best", True),
        ("tried", "trying", True),
        ("highest", "higher", True),
        ("cheap", "expensive", False),
        ("car", "cart", False),
        ("increase", "decrease", False),
        ("bus", "business", False),
        ("stands", "sitting", False),
        ("bed", "being", False),
        ("forest", "ford", False),
        ("mothers", "moths", False),
        ("bought", "sold", False),
        ("better", "worse", False),
        ("men", "women", False),
        ("left", "right", False),
        ("employer", "employee", False),
        ("highest", "lower", False),
    ],
)
def test_forms_of_a_word_are_told_from_other_words(x: str, y: str, expected: bool) -> None:
    assert is_form(x, y) is expected
    assert is_form(y, x) is expected


SHORT = st.text("abe", min_size=1, max_size=3)
ENDED = st.builds(
    str.__add__, SHORT, st.sampled_from(["", "e", "y", "s", "ed", "ing", "ies", "est"])
)


@given(ENDED, ENDED)
@example("noise", "noisy")
def test_being_forms_is_mutual(x: str, y: str) -> None:
    assert is_form(x, y) == is_form(y, x)

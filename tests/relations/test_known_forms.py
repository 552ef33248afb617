"""Known words for unknown ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.relations.classifier import closest_known_form, spelling_variants

KNOWN = frozenset(
    "part trousers book case color organize screw cork cheap the soo ten fat stand-up berry".split()
)


@pytest.mark.parametrize(
    ("word", "read_as"),
    [
        ("Part", "part"),
        ("body_part", "part"),
        ("trouser", "trousers"),
        ("bookcase", "case"),
        ("corkscrew", "screw"),
        ("colour", "color"),
        ("organise", "organize"),
        ("berries", "berry"),
        ("stand_up", "stand-up"),
        ("cases", "case"),
        ("soothe", None),  # not "the"
        ("fatten", None),  # not "ten"
        ("xylophone", None),
    ],
)
def test_an_unknown_word_is_read_as_a_known_one(word: str, read_as: str | None) -> None:
    assert closest_known_form(word, KNOWN) == read_as


@given(st.text("abXY-_ e", min_size=1, max_size=8))
def test_the_first_spelling_is_the_word_itself(word: str) -> None:
    assert next(iter(spelling_variants(word))) == word.lower()
    assert closest_known_form(word, {word.lower()}) == word.lower()
    found = closest_known_form(word, KNOWN)
    assert found is None or found in KNOWN

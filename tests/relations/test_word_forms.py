"""Inflections, negations and known forms by spelling."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pair2vec.relations.word_forms import (
    closest_known_form,
    differ_by_prefix,
    is_form,
    is_negated_form,
    spelling_variants,
)


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
def test_forms_of_a_word_are_distinguished_from_other_words(x: str, y: str, expected: bool) -> None:
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


WORDS = st.text("acdeilmnrsu-", max_size=9)


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("fair", "unfair"),
        ("possible", "impossible"),
        ("legal", "illegal"),
        ("agree", "disagree"),
        ("profit", "non-profit"),
        ("useful", "useless"),
        ("port", "import"),
    ],
)
def test_a_word_with_a_negating_prefix_or_less_for_ful_is_a_negation(word: str, other: str) -> None:
    assert is_negated_form(word, other)
    assert is_negated_form(other, word)


@pytest.mark.parametrize(
    ("word", "other"),
    [("to", "into"), ("fair", "fairly"), ("use", "useless"), ("rise", "sunrise"), ("", "un")],
)
def test_other_words_that_share_letters_are_no_negations(word: str, other: str) -> None:
    assert not is_negated_form(word, other)
    assert not is_negated_form(other, word)


@pytest.mark.parametrize(
    ("word", "other", "expected"),
    [
        ("encrypt", "decrypt", True),
        ("upload", "download", True),
        ("offline", "online", True),
        ("fair", "unfair", True),
        ("upon", "down", False),
        ("enter", "exit", False),
        ("online", "line", False),
        ("upload", "upload", False),
    ],
)
def test_words_with_opposite_beginnings_differ_by_a_prefix(
    word: str, other: str, expected: bool
) -> None:
    assert differ_by_prefix(word, other) is expected
    assert differ_by_prefix(other, word) is expected


@given(WORDS, WORDS)
def test_negation_is_mutual_and_never_of_a_word_itself(word: str, other: str) -> None:
    assert is_negated_form(word, other) == is_negated_form(other, word)
    assert not is_negated_form(word, word)

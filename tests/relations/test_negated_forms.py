"""Words that deny each other by their letters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.relations.features import is_negated_form

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
def test_a_word_with_a_negating_prefix_or_less_for_ful_is_a_denial(word: str, other: str) -> None:
    assert is_negated_form(word, other)
    assert is_negated_form(other, word)


@pytest.mark.parametrize(
    ("word", "other"),
    [("to", "into"), ("fair", "fairly"), ("use", "useless"), ("rise", "sunrise"), ("", "un")],
)
def test_other_words_that_share_letters_are_none(word: str, other: str) -> None:
    assert not is_negated_form(word, other)
    assert not is_negated_form(other, word)


@given(WORDS, WORDS)
def test_denial_is_mutual_and_never_of_a_word_itself(word: str, other: str) -> None:
    assert is_negated_form(word, other) == is_negated_form(other, word)
    assert not is_negated_form(word, word)

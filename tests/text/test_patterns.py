"""Patterns as a user may type them."""

import pytest

from pair2vec.errors import UsageError
from pair2vec.text.patterns import (
    Pattern,
    context_text,
    nearest_context_pattern,
    parse_pattern,
)
from pair2vec.text.vocabulary import BOUNDARY, Vocabulary, WordCount, X, Y

WORDS = "neither nor in , . 's hot cold cola called well-known x y and".split()
VOCABULARY = Vocabulary([WordCount(word, 1) for word in WORDS])


def ids(text: str) -> tuple[int, ...]:
    return tuple(VOCABULARY.ids[word] for word in text.split())


@pytest.mark.parametrize(
    ("text", "left", "between", "right"),
    [
        ("neither X nor Y", "neither", "nor", ""),
        ("X nor Y", "", "nor", ""),
        ("X Y", "", "", ""),
        ("  in   X ,\nY . ", "in", ",", "."),
        ("In X, Y.", "in", ",", "."),
        ("X's Y", "", "'s", ""),
        ("x X y Y x", "x", "y", "x"),
        ("X Well-Known and in , Y", "", "well-known and in ,", ""),
    ],
)
def test_a_pattern_fixes_typed_words_and_has_wildcards_elsewhere(
    text: str, left: str, between: str, right: str
) -> None:
    outer = [ids(word)[0] if word else None for word in (left, right)]
    assert parse_pattern(text, VOCABULARY) == Pattern(outer[0], ids(between), outer[1])


def test_an_edge_may_be_typed() -> None:
    assert parse_pattern("<s> X and Y", VOCABULARY) == Pattern(BOUNDARY, ids("and"), None)
    assert parse_pattern("<s>X Y<s>", VOCABULARY) == Pattern(BOUNDARY, (), BOUNDARY)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no X that stands alone"),
        ("nor Y", "no X that stands alone"),
        ("x nor Y", "no X that stands alone"),
        ("X-Y", "no X that stands alone"),
        ("neither X nor", "no Y that stands alone"),
        ("X Y nor Y", "2 of Y"),
        ("X X Y", "2 of X"),
        ("neither Y nor X", "Y comes before X"),
        ("in neither X nor Y", "2 words left of X .in neither.; .* at most 1"),
        ("<s> in X nor Y", "2 words left of X"),
        ("X nor Y , and", "2 words right of Y"),
        ("X and and and and and Y", "5 words between X and Y .* at most 4"),
        ("X <s> Y", "<s> between X and Y"),
        ("X calld Y", "'calld' is not in the vocabulary; did you mean called"),
        ("<pad> X Y", "3 words left of X"),
    ],
)
def test_a_wrong_pattern_is_an_error_that_names_the_problem(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        parse_pattern(text, VOCABULARY)


def test_a_context_reads_as_it_is_typed() -> None:
    context = (*ids("neither"), X, *ids("nor"), Y, BOUNDARY)
    assert context_text(context, VOCABULARY) == "neither X nor Y <s>"
    assert parse_pattern("neither X nor Y <s>", VOCABULARY) == Pattern(
        context[0], context[2:3], context[4]
    )


@pytest.mark.parametrize(
    ("typed", "nearest", "is_exchanged"),
    [
        ("the capital of X is Y", "X , the capital of Y", True),
        ("the opposites of X are Y .", "X , the opposites of Y", True),
        ("the X is Y", "the X is Y", False),
        ("such as X and other Y", "as X and other Y", False),
        ("he was born in X , Y in 1920", "in X , Y in", False),
        ("a much too long start of X is Y", "of X is Y", False),
        ("Y such as X", "X such as Y", True),
        ("most Y such as X and", "most X such as Y and", True),
        ("<s> the X of a Y", "the X of a Y", False),
        ("x X of y's Y", "x X of y's Y", False),
    ],
)
def test_the_nearest_pattern_has_the_form_of_a_context(
    typed: str, nearest: str, is_exchanged: bool
) -> None:
    found = nearest_context_pattern(typed, VOCABULARY)
    assert found[:2] == (nearest, is_exchanged)
    assert bool(found.reason) == (typed != nearest)
    assert nearest_context_pattern(nearest, VOCABULARY) == (nearest, False, "")


def test_a_phrase_is_one_word_of_a_pattern() -> None:
    phrases = Vocabulary([WordCount(word, 1) for word in ("in", "is", "new york", "the")])
    assert nearest_context_pattern("new york X is Y", phrases).text == "new york X is Y"
    assert nearest_context_pattern("in the new york X Y", phrases).text == "new york X Y"


def test_a_pattern_that_is_too_long_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="to ask for is 'X , the in Y', with the words of X and Y"):
        parse_pattern("the in X is Y", VOCABULARY)
    with pytest.raises(UsageError, match=r"to ask for is 'in X and Y'$"):
        parse_pattern("neither in X and Y", VOCABULARY)

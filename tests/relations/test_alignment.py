"""Words of two sentences: tokens, equal words, forms of one word, and places."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.relations.alignment import Alignment, align, gaps, tokens_of

SENTENCES = st.lists(st.sampled_from("the a cat cats dog not run ran never 5 colour color".split()))


def aligned(a: str, b: str) -> Alignment:
    return align(tokens_of(a), tokens_of(b))


def words_without_partner(a: str, b: str) -> tuple[list[str], list[str]]:
    found = aligned(a, b)
    return [found.a[i].word for i in found.rest_a], [found.b[j].word for j in found.rest_b]


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("I can't stop.", ["i", "can", "not", "stop"]),
        ("It won't; she doesn’t.", ["it", "will", "not", "she", "does", "not"]),
        ("dont cannot isnt", ["do", "not", "can", "not", "is", "not"]),
        ("I'm, we've, they'll", ["i", "am", "we", "have", "they", "will"]),
        ("Ann's non-stop train", ["ann", "non", "stop", "train"]),
        ("twenty 3.5 1,000", ["20", "3.5", "1,000"]),
        ("… ?!", []),
    ],
)
def test_contractions_are_expanded_and_punctuation_left_out(
    sentence: str, words: list[str]
) -> None:
    assert [token.word for token in tokens_of(sentence)] == words


def test_a_name_is_capitalised_inside_a_sentence() -> None:
    tokens = tokens_of("Paris loves the NASA office of Rome in June 1990")
    assert [token.text for token in tokens if token.is_name] == ["NASA", "Rome", "June"]
    assert [token.text for token in tokens if token.is_number] == ["1990"]
    assert not any(token.is_content for token in tokens if token.word in {"the", "of", "1990"})
    assert not any(token.is_name for token in tokens_of("WHO SHOUTS AT ROME"))


@pytest.mark.parametrize(
    ("a", "b", "rest"),
    [
        ("enable the cache", "disable the cache", (["enable"], ["disable"])),
        ("he runs fast", "he ran fast", ([], [])),
        ("the colour organised", "the color organized", ([], [])),
        ("to paris from rome", "from rome to paris", ([], [])),
        ("it is no longer open", "it is open", (["no", "longer"], [])),
    ],
)
def test_equal_words_other_spellings_and_forms_are_partners(
    a: str, b: str, rest: tuple[list[str], list[str]]
) -> None:
    assert words_without_partner(a, b) == rest


def test_longer_is_a_content_word_unless_no_precedes_it() -> None:
    assert tokens_of("a longer day")[1].is_content
    assert not tokens_of("no longer")[1].is_content


def test_words_in_one_place_have_one_gap() -> None:
    found = aligned("please enable the cache now", "please disable the cache today")
    gaps_a, gaps_b = gaps(found)
    assert gaps_a == gaps_b == [(0, 2), (3, 5)]


def test_texts_that_are_too_long_for_a_table_are_aligned_as_bags_of_words() -> None:
    first = " ".join(f"w{n}" for n in range(250))
    second = " ".join(f"w{n}" for n in reversed(range(250)))
    found = aligned(f"a {first} b", f"c {second} d")
    assert len(found.rest_a) == len(found.rest_b) == 2


@given(SENTENCES, SENTENCES)
def test_partners_are_mutual_and_equal_sentences_have_no_rest(a: list[str], b: list[str]) -> None:
    found = aligned(" ".join(a), " ".join(b))
    for i, j in enumerate(found.partner_a):
        assert j < 0 or found.partner_b[j] == i
    for j, i in enumerate(found.partner_b):
        assert i < 0 or found.partner_a[i] == j
    assert words_without_partner(" ".join(a), " ".join(a)) == ([], [])
    gaps_a, gaps_b = gaps(found)
    assert len(gaps_a) == len(found.rest_a)
    assert len(gaps_b) == len(found.rest_b)
    assert all(left < right for left, right in gaps_b)

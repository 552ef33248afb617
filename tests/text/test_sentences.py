"""The rules of sentences and tokens, against examples and plain regular expressions."""

import re
import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pair2vec.text import sentences
from pair2vec.text.sentences import cased_tokens, fold, split_sentences, tokenize

TEXT = st.text(
    st.one_of(
        st.sampled_from(list("aAbBsS .,!?'\"-_&()[]019\n\t’“”…éÉİßΣ\u0301\u00ad\ufffd字。")),
        st.characters(codec="utf-8"),
    ),
    max_size=80,
)

# Everything the rules mention, in every order, with and without white space of every kind.
PROSE = st.lists(
    st.one_of(
        st.sampled_from([" ", " ", " ", "  ", "\t", "\r", "\v", "\x1c", "\xa0", "\u2028", "\n"]),
        st.sampled_from(
            [".", ". ", "! ", "?", "…", '"', "'", ")", "]", "»", "(", "[", "«", ",", "。", "।"]
        ),
        st.sampled_from([*sentences._TITLES, *sentences._NUMBERED, *sentences._STARTERS]),
        st.sampled_from(
            ["J.", "U.S.", "é.", "Émile", "ος", "字", "5", "1,000.5", "x_y", "i.", "ａ"]
        ),
        st.sampled_from(["'s", "don't", "AT&T", "-", "&#10;", "()", "www.a.b", "\u200e", "\x00"]),
    ),
    max_size=40,
).map("".join)

LOWER = "".join(filter(str.islower, map(chr, range(sys.maxunicode + 1))))
STARTER_NEXT = rf"[^\S\n]+(?:{'|'.join(sentences._STARTERS)})\b"
SENTENCE_END = re.compile(
    rf"""
    ( [.!?…]
      (?! {sentences._after_abbreviation(sentences._TITLES)} )
      (?! (?:{sentences._after_abbreviation(sentences._NUMBERED)}) [^\S\n]+ \d )
      (?! (?<=\b[^\W\d_]\.) (?!{STARTER_NEXT}) )
      ["')\]»]*
    )
    [^\S\n]+ (?= ["'(\[«]* [^\W_{LOWER}] )
    """,
    re.VERBOSE,
)


def plain_sentences(text: str) -> list[list[str]]:
    """The rules as regular expressions over the whole text."""
    text = re.sub(r"[\x00-\x09\x0b-\x1f]", " ", sentences.normalise_text(text))
    lines = SENTENCE_END.sub("\\1\n", text).split("\n")
    split = [[fold(token) for token in sentences._TOKEN.findall(line)] for line in lines]
    return [sentence for sentence in split if sentence]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Don't", ["don't"]),
        ("don’t", ["don't"]),
        ("O'Brien's mother-in-law", ["o'brien", "'s", "mother-in-law"]),
        ("France's capital", ["france", "'s", "capital"]),
        ("the dogs' bowls", ["the", "dogs", "'", "bowls"]),
        ("'quoted' 'so'", ["'", "quoted", "'", "'", "so", "'"]),
        ("a well-known 20-year-old", ["a", "well-known", "20-year-old"]),
        ("1990-1995 and 1990–95", ["1990", "-", "1995", "and", "1990", "–", "95"]),
        ("COVID-19", ["covid-19"]),
        ("$1,000.50, 3.14%", ["$", "1,000.50", ",", "3.14", "%"]),
        ("1,2,3 the 1990s", ["1", ",", "2", ",", "3", "the", "1990s"]),
        ("the U.S. and e.g. J.K. Rowling", ["the", "u.s.", "and", "e.g.", "j.k.", "rowling"]),
        ("AT&T", ["at&t"]),
        ("AT&amp;T &lt;b&gt;", ["at&t", "<", "b", ">"]),
        ("new_york _now_ __x__", ["new_york", "now", "x"]),
        ("so-called -- x", ["so-called", "-", "-", "x"]),
        ("where formula_12 holds ( ) []", ["where", "holds"]),
        ("see https://a.org/b?c=d now", ["see", "now"]),
        ("soft\u00adhyphen zero\u200bwidth", ["softhyphen", "zerowidth"]),
        ("e\u0301te\u0301", ["été"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("\x00a\x07b\ufffdc", ["a", "b", "c"]),
        ("", []),
    ],
)
def test_tokens_follow_the_rules(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It rained. We left.", 2),
        ("It rained.\nWe left", 2),
        ("Really?! Yes! No…  Perhaps.", 4),
        ('He said "Go." Then he left.', 2),
        ('"Why?" he asked.', 1),
        ("It rose (by 5 %.) It fell.", 2),
        ("Dr. Smith met Mrs. Jones vs. Mr. Brown.", 1),
        ("J. K. Rowling and George W. Bush met.", 1),
        ("It is rich in vitamin C. The peel is not.", 2),
        ("The U.S. Army left the U.S. The rest stayed.", 2),
        ("At 5 p.m. it began, i.e. Monday.", 1),
        ("See No. 5 of Jan. 12 on p. 7.", 1),
        ("He said no. Five left.", 2),
        ("Pi is 3.14 or so. 25 people agreed.", 2),
        ("It ended in 1990. A new era began. Émile wept. Überall.", 4),
        ("He works at Yahoo! and eBay.", 1),
        ("我们来了。他们走了！", 2),
        ("वह आया।वह गया।", 2),
        ("见 www.a.org。他们走了", 2),
    ],
)
def test_sentence_ends_follow_the_rules(text: str, count: int) -> None:
    assert len(list(split_sentences(text))) == count


@pytest.mark.parametrize(
    "space", [*filter(str.isspace, map(chr, range(sys.maxunicode + 1)))], ids=ascii
)
def test_a_sentence_ends_before_white_space_of_any_kind(space: str) -> None:
    split = list(split_sentences(f"It rained.{space}We left."))
    assert split == [["it", "rained", "."], ["we", "left", "."]]


@pytest.mark.parametrize("title", sentences._TITLES)
def test_no_sentence_ends_between_a_title_and_its_name(title: str) -> None:
    assert len(list(split_sentences(f"To {title}. Smith ({title}.) The"))) == 1


@pytest.mark.parametrize("word", sentences._NUMBERED)
def test_no_sentence_ends_between_an_abbreviation_and_its_number(word: str) -> None:
    assert len(list(split_sentences(f"In {word}. 5"))) == 1
    assert len(list(split_sentences(f"Said {word}. The"))) == 2


def test_punctuation_and_possessives_are_kept() -> None:
    assert [
        " ".join(sentence) for sentence in split_sentences("In Portland, Oregon. It’s big.")
    ] == [
        "in portland , oregon .",
        "it 's big .",
    ]


@given(TEXT)
@example("a.b.c U.S.S.R.")
@example("İ'S 's's")
def test_tokenising_tokens_again_changes_nothing(text: str) -> None:
    tokens = tokenize(text)
    assert tokenize(" ".join(tokens)) == tokens


@given(st.text("aAbBzZsS'.-é1 ", max_size=6))
@example("CANNOT")
def test_a_plain_word_is_tokenised_as_by_the_rules(text: str) -> None:
    assert tokenize(text) == [fold(token) for token in cased_tokens(text)]


@given(TEXT)
def test_tokens_are_lower_case_composed_and_without_space(text: str) -> None:
    for token in tokenize(text):
        assert token
        assert not any(character.isspace() for character in token)
        assert fold(token) == token
        assert unicodedata.is_normalized("NFC", token)


@given(TEXT)
def test_sentences_lose_and_add_no_token(text: str) -> None:
    line = " ".join(text.split())
    tokens = [token for sentence in split_sentences(line) for token in sentence]
    assert tokens == [fold(token) for token in cased_tokens(line)]
    assert tokens == tokenize(line)


@given(st.one_of(TEXT, PROSE))
@example("It is. Dr. No. 5 left. A. B. The U.S. The end")
@example('He (Dr.) "No." 5 said no. 5 (p.) 7 in "C." The «Oui.» (It.')
def test_sentences_from_whitespace_tokens_equal_those_found_in_the_whole_text(text: str) -> None:
    assert list(split_sentences(text)) == plain_sentences(text)


@given(TEXT)
def test_no_sentence_is_empty_or_spans_two_lines(text: str) -> None:
    assert all(split_sentences(text))
    by_line = [sentence for line in text.split("\n") for sentence in split_sentences(line)]
    assert list(split_sentences(text)) == by_line


@given(TEXT)
def test_every_letter_and_digit_of_plain_words_survives(text: str) -> None:
    plain = "".join(character if character.isascii() else " " for character in text)
    plain = plain.translate(dict.fromkeys(map(ord, "&_"), " "))
    letters = [character.lower() for character in plain if character.isalnum()]
    kept = [character for token in tokenize(plain) for character in token if character.isalnum()]
    assert kept == letters

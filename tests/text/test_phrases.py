"""Phrases in arrays of ids, against plain loops over tokens."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.text.phrases import (
    PhraseTable,
    join_phrases,
    join_tokens,
    joined_counts,
    leftmost,
    occurrences,
    spell_phrase,
)
from pair2vec.text.sentences import tokenize

LETTERS = "abc"
TOKENS = st.lists(st.sampled_from([*LETTERS, "d", "."]), max_size=60)
PHRASES = st.sets(
    st.lists(st.sampled_from(LETTERS), min_size=2, max_size=5).map(" ".join), max_size=8
).map(sorted)


def encoded(tokens: list[str]) -> tuple[np.ndarray, list[str]]:
    """As a piece's ids and words; a full stop ends a sentence."""
    words = sorted(set(tokens) - {"."})
    ids = [0 if token == "." else 1 + words.index(token) for token in tokens]
    return np.array(ids, np.uint16), words


def sentences(tokens: list[str]) -> list[list[str]]:
    return [part.split() for part in " ".join(tokens).split(".")]


@given(TOKENS, PHRASES)
def test_joining_arrays_equals_a_plain_loop(tokens: list[str], phrases: list[str]) -> None:
    ids, words = encoded(tokens)
    table = PhraseTable(phrases)
    spelled = [".", *words, *phrases]
    joined = [spelled[n] for n in join_phrases(ids, words, table).tolist()]
    expected = [join_tokens(sentence, set(phrases)) for sentence in sentences(tokens)]
    assert joined == [token for sentence in expected for token in [".", *sentence]][1:]
    counts = Counter(token for sentence in expected for token in sentence)
    assert joined_counts(ids, words, table).tolist() == [counts[phrase] for phrase in phrases]


@given(TOKENS, PHRASES)
def test_occurrences_are_counted_within_longer_phrases_too(
    tokens: list[str], phrases: list[str]
) -> None:
    counts = Counter(
        " ".join(sentence[start:end])
        for sentence in sentences(tokens)
        for start in range(len(sentence))
        for end in range(start + 1, len(sentence) + 1)
    )
    found = occurrences(*encoded(tokens), PhraseTable(phrases))
    assert found.tolist() == [counts[phrase] for phrase in phrases]


@given(st.lists(st.integers(1, 5), max_size=80), st.data())
def test_intervals_are_taken_from_left_to_right(lengths: list[int], data: st.DataObject) -> None:
    steps = data.draw(
        st.lists(st.integers(1, 3), min_size=len(lengths), max_size=len(lengths)), "steps"
    )
    starts = np.cumsum(np.array(steps, np.intp))
    expected, end = [], 0
    for start, length in zip(starts.tolist(), lengths, strict=True):
        expected.append(start >= end)
        end = start + length if start >= end else end
    assert leftmost(starts, np.array(lengths, np.int8)).tolist() == expected


def test_a_long_chain_of_overlaps_takes_few_rounds() -> None:
    starts = np.arange(1 << 16)
    assert leftmost(starts, np.full(len(starts), 2, np.int8)).sum() == 1 << 15


@pytest.mark.parametrize(
    ("line", "phrase"),
    [
        ("New  York", "new york"),
        ("New_York_City", "new york city"),
        ("Washington, D.C.", "washington , d.c."),
        ("rock'n'roll", None),
        ("one two three four five six", None),
        ("Yahoo!", None),
        ("<pad>", None),
    ],
)
def test_a_line_of_a_list_is_a_phrase_or_none(line: str, phrase: str | None) -> None:
    assert spell_phrase(line) == phrase


@given(st.lists(st.text("abZſKé'-1", min_size=1, max_size=4), min_size=1, max_size=6))
def test_a_phrase_is_spelled_as_the_tokeniser_spells_it(words: list[str]) -> None:
    spelled = spell_phrase("_".join(words))
    assert spelled is None or spelled.split(" ") == tokenize(" ".join(words))
    if all(word.isascii() and word.isalpha() for word in words):
        assert (spelled is not None) == (2 <= len(words) <= 5)


def test_the_longest_phrase_is_joined_and_the_leftmost() -> None:
    words = {"new york", "new york city", "york city hall", "city hall"}
    tokens = "the new york city hall of york city hall".split()
    joined = ["the", "new york city", "hall", "of", "york city hall"]
    assert join_tokens(tokens, words) == joined

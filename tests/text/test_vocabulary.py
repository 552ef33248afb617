"""Counting words, choosing the vocabulary, its file, and looking up typed words."""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.errors import InputError, UsageError
from pair2vec.text.phrases import join_tokens
from pair2vec.text.vocabulary import (
    SPECIAL_TOKENS,
    IncludedWords,
    Vocabulary,
    WordCount,
    WordCounter,
    WordPair,
    look_up_pair,
    most_frequent,
)

WORDS = st.lists(st.text("abcé字", min_size=1, max_size=3), max_size=30)
KNOWN = Vocabulary([WordCount(word, 1) for word in ("hot", "cold", "cola", "called")])


@given(st.lists(WORDS, max_size=20), st.integers(1, 20))
def test_counts_spilled_to_disk_equal_counts_in_memory(pieces: list[list[str]], limit: int) -> None:
    expected = Counter(word for piece in pieces for word in piece)
    with TemporaryDirectory() as folder:
        totals = WordCounter(Path(folder), limit)
        for piece in pieces:
            counts = Counter(piece)
            totals.add(counts.keys(), counts.values())
        items = list(totals.items())
    assert len(items) == len(expected)
    assert dict(items) == expected


@given(st.lists(WORDS, max_size=20), st.integers(1, 20))
def test_counts_may_be_asked_for_at_any_time_and_again(pieces: list[list[str]], limit: int) -> None:
    """The files of what was summed are summed anew once there is more."""
    expected: Counter[str] = Counter()
    with TemporaryDirectory() as folder:
        totals = WordCounter(Path(folder), limit)
        for piece in pieces:
            expected.update(piece)
            totals.add(Counter(piece).keys(), Counter(piece).values())
            for _ in range(2):
                items = list(totals.items())
                assert len(items) == len(expected)
                assert dict(items) == expected


def test_counts_left_by_a_killed_run_are_not_added(tmp_path: Path) -> None:
    killed = WordCounter(tmp_path, limit=1)
    killed.add(["a", "b"], [1, 1])
    totals = WordCounter(tmp_path, limit=1)
    totals.add(["a", "c"], [5, 6])
    assert dict(totals.items()) == {"a": 5, "c": 6}


@given(st.dictionaries(st.text("abc", min_size=1), st.integers(1, 4)), st.integers(1, 10))
def test_the_vocabulary_does_not_depend_on_the_order_of_words(
    counts: dict[str, int], size: int
) -> None:
    rows = [WordCount(word, count) for word, count in counts.items()]
    kept, dropped = most_frequent(rows, size, min_count=2)
    assert (kept, dropped) == most_frequent(reversed(rows), size, min_count=2)
    ranked = sorted(rows, key=lambda row: (-row.frequency, row.word))
    assert kept == [row for row in ranked if row.frequency >= 2][:size]
    assert dropped == ranked[len(kept) : len(kept) + 10]


@given(
    st.dictionaries(st.text("abc", min_size=1), st.integers(1, 4), min_size=20),
    st.integers(1, 3),
)
def test_selection_with_bounded_memory_equals_a_full_sort(
    counts: dict[str, int], size: int
) -> None:
    kept, dropped = most_frequent(counts.items(), size, min_count=1, examples=1)
    ranked = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    assert [*kept, *dropped] == ranked[: size + 1]


@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=3), st.integers(1, 4)),
    st.sets(st.text("abc", min_size=1, max_size=3), min_size=1),
    *(st.integers(low, high) for low, high in ((1, 10), (1, 4), (0, 3))),
)
def test_included_words_come_first_and_the_most_frequent_fill_up(
    counts: dict[str, int], words: set[str], size: int, min_count: int, include_count: int
) -> None:
    include = IncludedWords(words=frozenset(words), min_count=include_count)
    kept, dropped = most_frequent(counts.items(), size, min_count, examples=2, include=include)

    def ranked(chosen: set[str]) -> list[str]:
        return sorted(chosen, key=lambda word: (-counts.get(word, 0), word))

    first = {word for word in words if counts.get(word, 0) >= include_count}
    others = {word for word in counts.keys() - first if counts[word] >= min_count}
    expected = (ranked(first) + ranked(others))[:size]
    assert kept == [WordCount(word, counts.get(word, 0)) for word in ranked(set(expected))]
    left = ranked(counts.keys() - set(expected))[:2]
    assert dropped == [WordCount(word, counts[word]) for word in left]


@pytest.mark.parametrize("wrong", [{"words": frozenset()}, {"min_count": -1}])
def test_a_list_of_no_words_or_a_negative_count_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"no words to include|included word is -1"):
        IncludedWords(**{"words": frozenset({"hot"}), **wrong})


def test_a_token_without_spaces_for_hundreds_of_characters_is_no_word() -> None:
    kept, _ = most_frequent([WordCount("a" * 500, 9), WordCount("word", 1)], 10, min_count=1)
    assert kept == [WordCount("word", 1)]


@given(st.lists(st.sampled_from("abcd"), max_size=8))
def test_tokens_are_joined_to_the_phrases_of_a_vocabulary(tokens: list[str]) -> None:
    phrases = ["a b", "a b c", "c c"]
    vocabulary = Vocabulary((word, 1) for word in [*"abcd", *phrases])
    assert vocabulary.join(tokens) == join_tokens(tokens, set(phrases))


def test_a_vocabulary_is_read_back_as_written(tmp_path: Path) -> None:
    vocabulary = Vocabulary([WordCount("été", 5), WordCount("'s", 2)])
    (tmp_path / "v.tsv").write_bytes(vocabulary.to_tsv())
    again = Vocabulary.from_tsv(tmp_path / "v.tsv")
    assert again.words == (*SPECIAL_TOKENS, "été", "'s")
    assert again.counts.tolist() == [0, 0, 0, 0, 5, 2]
    assert again.ids["'s"] == 5


@pytest.mark.parametrize("row", ["word", "word\t", "word\t1\t2", "word\tx", "word\t-1", "word\t²"])
def test_a_row_without_word_and_count_is_an_error_with_its_line(row: str, tmp_path: Path) -> None:
    listing = Vocabulary([WordCount("a", 5)]).to_tsv() + f"{row}\n".encode()
    (tmp_path / "v.tsv").write_bytes(listing)
    with pytest.raises(InputError, match=r"v\.tsv, line 6: expected a word, a tab and a count"):
        Vocabulary.from_tsv(tmp_path / "v.tsv")


def test_a_vocabulary_begins_with_the_special_tokens(tmp_path: Path) -> None:
    (tmp_path / "v.tsv").write_bytes(b"word\t1\n")
    with pytest.raises(InputError, match="does not begin with <pad> <x> <y> <s>"):
        Vocabulary.from_tsv(tmp_path / "v.tsv")


def test_a_pair_is_looked_up_in_any_case() -> None:
    assert look_up_pair(" Hot", "COLD", KNOWN) == WordPair(
        *(KNOWN.ids[word] for word in ("hot", "cold"))
    )


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("colt", "'colt' is not in the vocabulary; did you mean cold, cola?"),
        ("zzzz", "'zzzz' is not in the vocabulary$"),
        ("Hot  cold", "'hot cold' is not in the vocabulary; did you mean hot, cold?"),
        ("<s>", "'< s >' is not in the vocabulary"),
        (" ", "is nothing to the tokeniser"),
    ],
)
def test_an_unknown_word_is_an_error_with_suggestions(word: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        look_up_pair("hot", word, KNOWN)

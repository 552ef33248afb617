from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.errors import InputError
from pair2vec.text.vocabulary import (
    SPECIAL_TOKENS,
    Vocabulary,
    WordCount,
    WordTotals,
    most_frequent,
)

WORDS = st.lists(st.text("abcé字", min_size=1, max_size=3), max_size=30)


@given(st.lists(WORDS, max_size=20), st.integers(1, 20))
def test_totals_with_runs_on_disk_equal_totals_in_memory(
    pieces: list[list[str]], limit: int
) -> None:
    expected = Counter(word for piece in pieces for word in piece)
    with TemporaryDirectory() as folder:
        totals = WordTotals(Path(folder), limit)
        for piece in pieces:
            counts = Counter(piece)
            totals.add(counts.keys(), counts.values())
        found = list(totals.items())
    assert len(found) == len(expected)
    assert dict(found) == expected


def test_totals_are_not_those_of_a_run_that_was_killed(tmp_path: Path) -> None:
    killed = WordTotals(tmp_path, limit=1)
    killed.add(["a", "b"], [1, 1])
    totals = WordTotals(tmp_path, limit=1)
    totals.add(["a", "c"], [5, 6])
    assert dict(totals.items()) == {"a": 5, "c": 6}


@given(st.dictionaries(st.text("abc", min_size=1), st.integers(1, 4)), st.integers(1, 10))
def test_the_vocabulary_is_one_whatever_the_order(counts: dict[str, int], size: int) -> None:
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
def test_the_choice_is_the_same_from_more_words_than_are_held_at_a_time(
    counts: dict[str, int], size: int
) -> None:
    kept, dropped = most_frequent(counts.items(), size, min_count=1, examples=1)
    ranked = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    assert [*kept, *dropped] == ranked[: size + 1]


def test_a_token_without_spaces_for_hundreds_of_characters_is_no_word() -> None:
    kept, _ = most_frequent([WordCount("a" * 500, 9), WordCount("word", 1)], 10, min_count=1)
    assert kept == [WordCount("word", 1)]


def test_a_vocabulary_survives_its_file(tmp_path: Path) -> None:
    vocabulary = Vocabulary([WordCount("été", 5), WordCount("'s", 2)])
    (tmp_path / "v.tsv").write_bytes(vocabulary.to_tsv())
    again = Vocabulary.from_tsv(tmp_path / "v.tsv")
    assert again.words == (*SPECIAL_TOKENS, "été", "'s")
    assert again.counts.tolist() == [0, 0, 0, 0, 5, 2]
    assert again.ids["'s"] == 5


@pytest.mark.parametrize("row", ["word", "word\t", "word\t1\t2", "word\tx", "word\t-1", "word\t²"])
def test_a_row_that_is_no_word_and_count_is_named(row: str, tmp_path: Path) -> None:
    listing = Vocabulary([WordCount("a", 5)]).to_tsv() + f"{row}\n".encode()
    (tmp_path / "v.tsv").write_bytes(listing)
    with pytest.raises(InputError, match=r"v\.tsv, line 6: expected a word, a tab and a count"):
        Vocabulary.from_tsv(tmp_path / "v.tsv")


def test_a_vocabulary_begins_with_the_special_tokens(tmp_path: Path) -> None:
    (tmp_path / "v.tsv").write_bytes(b"word\t1\n")
    with pytest.raises(InputError, match="does not begin with <pad> <x> <y> <s>"):
        Vocabulary.from_tsv(tmp_path / "v.tsv")

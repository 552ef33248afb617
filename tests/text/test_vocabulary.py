from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

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


@given(st.dictionaries(st.text("abc", min_size=1), st.integers(1, 4)), st.integers(1, 10))
def test_the_vocabulary_is_one_whatever_the_order(counts: dict[str, int], size: int) -> None:
    rows = [WordCount(word, count) for word, count in counts.items()]
    kept, dropped = most_frequent(rows, size, min_count=2)
    assert (kept, dropped) == most_frequent(reversed(rows), size, min_count=2)
    ranked = sorted(rows, key=lambda row: (-row.frequency, row.word))
    assert kept == [row for row in ranked if row.frequency >= 2][:size]
    assert dropped == ranked[len(kept) : len(kept) + 10]


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

"""Files of words and pairs to choose from: what is read, and what is refused."""

from pathlib import Path

import pytest

from pair2vec.cli.questions import read_pairs, read_words
from pair2vec.errors import InputError, UsageError
from pair2vec.text.vocabulary import Vocabulary, WordCount

VOCABULARY = Vocabulary([WordCount(word, 1) for word in ("hot", "cold", "up", "down")])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "list.txt"


def test_words_are_read_one_a_line(path: Path) -> None:
    path.write_text("Hot\n\n  up \r\ncold")
    assert read_words(path, VOCABULARY, "error") == ["Hot", "up", "cold"]


def test_pairs_are_read_with_tabs_or_white_space(path: Path) -> None:
    path.write_text("hot\tcold\nup   down\n")
    assert read_pairs(path, VOCABULARY, "error") == [("hot", "cold"), ("up", "down")]


def test_an_unknown_word_is_named_with_its_line(path: Path) -> None:
    path.write_text("hot\n\ncolld\n")
    with pytest.raises(InputError, match=r"list.txt, line 3: 'colld' is not .* mean cold\?"):
        read_words(path, VOCABULARY, "error")
    path.write_text("hot cold\nup above\n")
    with pytest.raises(InputError, match="line 2: 'above' is not in the vocabulary"):
        read_pairs(path, VOCABULARY, "error")


def test_what_is_skipped_is_counted(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path.write_text("hot\ncolld\nnew york\n")
    assert read_words(path, VOCABULARY, "skip") == ["hot"]
    assert "list.txt: 2 of 3 lines left out" in capsys.readouterr().err
    path.write_text("hot\tcold\nnew york\tup\n")
    assert read_pairs(path, VOCABULARY, "skip") == [("hot", "cold")]


def test_a_line_that_is_no_pair_is_named_even_if_unknown_words_are_skipped(path: Path) -> None:
    path.write_text("hot cold\nup\n")
    with pytest.raises(InputError, match="line 2: expected two words"):
        read_pairs(path, VOCABULARY, "skip")


def test_a_list_with_nothing_to_choose_from_is_refused(path: Path) -> None:
    for content in ("", "colld\n"):
        path.write_text(content)
        with pytest.raises(InputError, match=r"list\.txt: has nothing to choose from"):
            read_words(path, VOCABULARY, "skip")


def test_what_is_no_text_or_no_policy_is_refused(path: Path) -> None:
    path.write_bytes(b"hot\n\xff")
    with pytest.raises(InputError, match="is not UTF-8 at byte 5"):
        read_words(path, VOCABULARY, "error")
    path.write_text("hot")
    with pytest.raises(UsageError, match="--unknown zero: it must be one of error, skip"):
        read_words(path, VOCABULARY, "zero")
    with pytest.raises(UsageError, match="no such file"):
        read_words(path.with_name("no.txt"), VOCABULARY, "error")

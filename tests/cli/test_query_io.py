"""Tables of answers on a terminal and elsewhere, and files of words and pairs to choose from."""

import io
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from pair2vec.api import DirectedPair
from pair2vec.cli.query_io import RankingTable, pair_table, read_pairs, read_words
from pair2vec.errors import InputError, UsageError
from pair2vec.query.search import Match, PairMatch, PatternMatch
from pair2vec.text.vocabulary import Vocabulary, WordCount

VOCABULARY = Vocabulary([WordCount(word, 1) for word in ("hot", "cold", "up", "down")])
WORDS = [Match("oregon", 4.0), Match("[b]maine[/b]", 2.0), Match("gov", -1.0)]


def shown(answer: RenderableType, *, terminal: bool = False, width: int = 80) -> list[str]:
    file = io.StringIO()
    Console(file=file, force_terminal=terminal, width=width, color_system=None).print(answer)
    return [line.rstrip() for line in file.getvalue().splitlines()]


def test_a_ranking_is_plain_columns_where_there_is_no_terminal() -> None:
    assert shown(RankingTable("in X", WORDS, "score: a fit")) == [
        "in X",
        " rank  word           score",
        "    1  oregon         4.000",
        "    2  [b]maine[/b]   2.000",
        "    3  gov           -1.000",
        "score: a fit",
    ]


def test_a_terminal_shows_bars_as_long_as_the_score_is_high() -> None:
    lines = shown(RankingTable("in X", WORDS), terminal=True)
    assert [line.count("█") for line in lines if ".000" in line] == [20, 10, 0]


def test_no_score_above_zero_makes_no_bar() -> None:
    lines = shown(RankingTable("in X", [Match("gov", 0.0), Match("st", -1.0)]), terminal=True)
    assert "█" not in "".join(lines)


def test_pairs_have_a_column_a_word() -> None:
    lines = shown(RankingTable("as hot and cold", [PairMatch("up", "down", 0.9)]))
    assert lines[1:] == [" rank  x   y     score", "    1  up  down  0.900"]


def test_an_empty_ranking_says_so() -> None:
    assert shown(RankingTable("in X", [])) == ["in X", "nothing to choose from"]


def test_a_narrow_screen_folds_words_and_loses_nothing() -> None:
    word = "abcdefghijklmnopqrstuvwxyz"
    lines = shown(RankingTable("in X", [Match(word, 1.0)]), width=30)
    assert "".join(line.replace("1.000", "").strip(" 1") for line in lines[2:]) == word


def test_a_pair_shows_its_first_numbers_or_all() -> None:
    pair = DirectedPair("hot", "cold", 2.5, [0.25] * 8, [PatternMatch("X or Y", 1.0)])
    short, whole = shown(pair_table([pair])), shown(pair_table([pair], whole=True))
    assert short[1].split() == ["hot", "→", "cold", "2.500", *["0.2500"] * 5, "…"]
    assert whole[1].split() == ["hot", "→", "cold", "2.500", *["0.2500"] * 8]
    assert short[2] == "Patterns with X = hot, Y = cold"


def test_a_pair_without_patterns_shows_none() -> None:
    assert len(shown(pair_table([DirectedPair("hot", "cold", 2.5, [0.25], None)]))) == 2


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


def test_skipped_words_are_counted(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_invalid_utf8_unknown_policies_and_missing_files_are_refused(path: Path) -> None:
    path.write_bytes(b"hot\n\xff")
    with pytest.raises(InputError, match="is not UTF-8 at byte 5"):
        read_words(path, VOCABULARY, "error")
    path.write_text("hot")
    with pytest.raises(UsageError, match="--unknown zero: it must be one of error, skip"):
        read_words(path, VOCABULARY, "zero")
    with pytest.raises(UsageError, match="no such file"):
        read_words(path.with_name("no.txt"), VOCABULARY, "error")

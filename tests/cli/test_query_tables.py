"""Answers on a terminal and elsewhere."""

import io

from rich.console import Console, RenderableType

from pair2vec.api import DirectedPair
from pair2vec.cli.questions import RankingTable, pair_table
from pair2vec.query.search import Match, PairMatch, PatternMatch

WORDS = [Match("oregon", 4.0), Match("[b]maine[/b]", 2.0), Match("gov", -1.0)]


def shown(answer: RenderableType, *, terminal: bool = False, width: int = 80) -> list[str]:
    file = io.StringIO()
    Console(file=file, force_terminal=terminal, width=width, color_system=None).print(answer)
    return [line.rstrip() for line in file.getvalue().splitlines()]


def test_elsewhere_than_on_a_terminal_a_ranking_is_plain_columns() -> None:
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


def test_nothing_found_is_said() -> None:
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

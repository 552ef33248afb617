"""An exam in analogies and the paper's slots, as they are shown."""

import io
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console, RenderableType
from tests.tiny_model import save_tiny_model

from pair2vec.api import load
from pair2vec.cli import messages as counting
from pair2vec.cli.evaluate import analogy_tables, protocol_lines, slot_rows
from pair2vec.cli.messages import show_count
from pair2vec.errors import Pair2vecError, UsageError
from pair2vec.experiments.evaluation.analogies import (
    AnalogyProtocol,
    AnalogyResult,
    RelationOutcome,
    analogy_accuracies,
)
from pair2vec.experiments.evaluation.slots import fill_rows, paper_rows
from pair2vec.experiments.report.figures import AlphaFigure, alpha_plot

PROTOCOL = AnalogyProtocol(
    model="some/model",
    vectors="words.vec",
    data="bats",
    direction="both",
    whitening=0.5,
    vocabulary=60_000,
    relations=3,
    questions=98_000,
    dropped=12.34,
    alphas=(0.0, 1.0),
    device="cpu",
    workers=2,
    seconds=812.3,
)


def shown(content: RenderableType, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(content)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def result() -> AnalogyResult:
    def outcome(name: str, group: str, best: int) -> RelationOutcome:
        right = np.zeros((40, 21), np.bool_)
        right[:10, 0] = right[:20, 20] = right[:30, best] = True
        return RelationOutcome(name, group, 50, np.arange(40), right)

    outcomes = [
        outcome("I05 [verb_inf - 3pSg]", "inflectional", 8),
        outcome("I06 [verb_inf - Ving]", "inflectional", 9),
        outcome("E01 [country - capital]", "encyclopedic", 17),
    ]
    return AnalogyResult(analogy_accuracies(outcomes), PROTOCOL)


def test_tables_have_groups_with_spread_and_relations_with_alpha_on_80_columns() -> None:
    lines = [" ".join(line.split()) for line in shown(analogy_tables(result())).splitlines()]
    (group,) = [line for line in lines if line.startswith("inflectional")]
    assert group.startswith("inflectional 80 20.0 25.0 ±")
    assert group.count("±") == 4
    # A relation of a group of one has no α from others.
    assert "E01 [country - capital] 40 20.0 25.0 50.0 75.0 0.85 –" in lines
    assert "I05 [verb_inf - 3pSg] 40 20.0 25.0 50.0 75.0 0.40 0.0 0.45" in lines
    assert max(map(len, lines)) <= 80


def test_the_protocol_is_shown_with_the_tables() -> None:
    text = " ".join(shown(analogy_tables(result())).split())
    assert "98,000 questions, 12.3 % dropped as unknown; 60,000 words to choose from" in text
    assert (
        "direction both, whitening 0.5. Model some/model, 3CosAdd on words.vec; 812.3 s on cpu, 2"
        in text
    )


def test_the_plot_has_a_mark_at_the_height_of_each_accuracy() -> None:
    rising, flat = [4.0 * number for number in range(21)], [40.0] * 21
    lines = shown(alpha_plot({"rising": rising, "flat": flat})).splitlines()
    plot = [line.partition("│")[2] for line in lines[:17]]
    assert plot[0].rstrip().endswith("●")  # 80 % at α = 1, in the last column
    assert plot[0].index("●") == 60
    assert plot[16][0] == "●"
    assert plot[8].count("▲") == 20
    assert plot[8][30] == "✕"  # both have 40 % at α = 0.5
    assert [line[:5].strip() for line in lines[:17:8]] == ["80 %", "40 %", "0 %"]
    assert "● rising" in lines[-1]
    assert "▲ flat" in lines[-1]


def test_the_plot_is_drawn_without_any_questions_too() -> None:
    assert "● empty" in shown(alpha_plot({"empty": []}))


def test_a_missing_matplotlib_is_one_line_that_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(Pair2vecError, match=r"needs matplotlib: pip install 'pair2vec\[plot\]'"):
        AlphaFigure(Path("alpha.png"))


def test_the_figure_is_a_picture_and_what_hinders_it_is_said_at_once(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
    path = tmp_path / "alpha.png"
    AlphaFigure(path).draw({"inflectional": [1.0 * number for number in range(21)], "none": []})
    assert path.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UsageError, match="no kind of picture"):
        AlphaFigure(tmp_path / "alpha.docx")
    with pytest.raises(UsageError, match="no such folder"):
        AlphaFigure(tmp_path / "nowhere" / "alpha.png")


def test_questions_done_are_a_bar_on_a_terminal_and_lines_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counting, "_SECONDS_BETWEEN_LINES", 0.0)
    for terminal, expected in {True: "500/98000", False: "500 of 98,000 questions"}.items():
        file = io.StringIO()
        console = Console(file=file, force_terminal=terminal, width=100, color_system=None)
        with show_count("questions", console) as report:
            report(500, 98_000)
        assert expected in file.getvalue()


def test_slots_are_shown_beside_the_papers_and_unknown_words_counted(tmp_path: Path) -> None:
    rows = paper_rows()
    words = {word for row in rows for word in (row.x, *row.pattern.split())} - {"X", "Y", "monet"}
    model = load(save_tiny_model(tmp_path / "model", sorted(words | {"reject"})))
    filled = fill_rows(model, rows)
    text = shown(slot_rows(filled), width=120)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    right = filled[0].right
    best = ", ".join(m.word + "*" * (m.word in right) for m in filled[0].answers)
    assert f"either X or Y accept reject, refuse, recognise {best}" in lines
    assert "X , a famous Y , monet painter, painting, butterfly unknown: monet" in lines
    assert "hypernymy" in lines
    shared = sum(match.word in f.row.paper for f in filled for match in f.answers)
    assert f"{shared} of the model's 39 words are the paper's, too" in text
    assert "1 of 14 rows have an unknown word: monet." in lines
    rows_right = sum(bool(f.right) for f in filled)
    assert f"{rows_right} of 14 rows have a word in the top 3 that is right (marked *;" in text
    assert "Words are scored" not in text
    assert "Words are scored by R·C + 0.5 · log" in shown(slot_rows(filled, 0.5), width=120)


def test_a_half_is_named_with_the_questions() -> None:
    text = shown(protocol_lines(replace(PROTOCOL, half="choose")))
    assert text.startswith("98,000 questions of the half “choose”, 12.3 % dropped")

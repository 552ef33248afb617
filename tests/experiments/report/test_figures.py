"""Accuracy against α on a terminal and as a picture."""

import sys
from pathlib import Path

import pytest
from tests.rendering import rendered

from pair2vec.errors import Pair2vecError, UsageError
from pair2vec.experiments.report.figures import AlphaFigure, alpha_plot


def test_the_plot_has_a_mark_at_the_height_of_each_accuracy() -> None:
    rising, flat = [4.0 * number for number in range(21)], [40.0] * 21
    lines = rendered(alpha_plot({"rising": rising, "flat": flat})).splitlines()
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
    assert "● empty" in rendered(alpha_plot({"empty": []}))


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

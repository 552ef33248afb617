"""The paper's figure of accuracy against α (`fig:dlie`): on a terminal, as a file, and as SVG."""

import io
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from math import ceil
from pathlib import Path
from typing import Any

from rich.text import Text

from pair2vec.errors import Pair2vecError, UsageError
from pair2vec.experiments.evaluation.alpha_sweep import ALPHAS

Curves = Mapping[str, Sequence[float]]
"""By group, the accuracy at each α in percent."""

_MARKS = (("●", "green"), ("▲", "yellow"), ("■", "magenta"), ("◆", "cyan"))
_SEVERAL = ("✕", "")
_HEIGHT = 16
_STEP = 3
"""Characters from one α to the next."""
_WIDTH = _STEP * (len(ALPHAS) - 1) + 1
_MARGIN = 7

_INK = "#808080"
"""Of the SVG's lines and letters: readable on a light and on a dark background."""
_COLOURS = ("#2a9d5c", "#c98a00", "#b455b6", "#2a8fbb")


def alpha_plot(curves: Curves) -> Text:
    """For a terminal: a mark for each group and α, the axes, and a legend."""
    marks = {name: _MARKS[number % len(_MARKS)] for number, name in enumerate(curves)}
    highest = max((max(curve) for curve in curves.values() if curve), default=0)
    top = max(10, 10 * ceil(highest / 10))
    cells: dict[tuple[int, int], tuple[str, str]] = {}
    for name, curve in curves.items():
        for column, accuracy in enumerate(curve):
            cell = (round(_HEIGHT * accuracy / top), _STEP * column)
            cells[cell] = _SEVERAL if cell in cells else marks[name]
    plot = Text()
    for row in range(_HEIGHT, -1, -1):
        label = f"{top * row / _HEIGHT:.0f} %" if row % (_HEIGHT // 2) == 0 else ""
        plot.append(f"{label:>{_MARGIN - 2}} │")
        for column in range(_WIDTH):
            plot.append(*cells.get((row, column), (" ", "")))
        plot.append("\n")
    return plot.append_text(_axis()).append_text(_legend(marks))


def _axis() -> Text:
    left, right = "0, words alone", "pairs alone, 1"
    middle = f"{'α':^{_WIDTH - len(left) - len(right)}}"
    return Text(f"{'└':>{_MARGIN}}{'─' * _WIDTH}\n{'':{_MARGIN}}{left}{middle}{right}\n")


def _legend(marks: Mapping[str, tuple[str, str]]) -> Text:
    legend = Text(" " * _MARGIN)
    for name, (mark, style) in {**marks, "several": _SEVERAL}.items():
        legend.append(mark, style).append(f" {name}   ")
    return legend


class AlphaFigure:
    """A picture to draw later: what would prevent it is raised before a long evaluation."""

    def __init__(self, path: Path) -> None:
        try:
            # By name, because its types are not there where it is not.
            self._figure = import_module("matplotlib.figure").Figure(figsize=(6, 4), dpi=150)
        except ImportError as error:
            raise Pair2vecError("--plot needs matplotlib: pip install 'pair2vec[plot]'") from error
        if path.suffix.removeprefix(".") not in self._figure.canvas.get_supported_filetypes():
            raise UsageError(f"{path}: no kind of picture; its name must end in .png or .svg")
        if not path.parent.is_dir():
            raise UsageError(f"{path.parent}: no such folder; make it, or give another --plot")
        self._path = path

    def draw(self, curves: Curves) -> None:
        """Write the picture: one line a group."""
        _draw(self._figure.subplots(), curves).legend()
        self._figure.savefig(self._path, bbox_inches="tight")


def alpha_svg(curves: Curves) -> str | None:
    """An SVG with one line a group; None without matplotlib."""
    try:
        matplotlib, figures = import_module("matplotlib"), import_module("matplotlib.figure")
    except ImportError:
        return None
    # The same picture has the same ids in it, and text stays text.
    with matplotlib.rc_context({"svg.hashsalt": "pair2vec", "svg.fonttype": "none"}):
        figure = figures.Figure(figsize=(6, 4))
        axes = _draw(figure.subplots(), curves, _COLOURS, color=_INK)
        axes.tick_params(colors=_INK)
        axes.spines[:].set_color(_INK)
        axes.legend(frameon=False, labelcolor=_INK)
        file = io.StringIO()
        figure.savefig(file, format="svg", bbox_inches="tight", transparent=True)
    return file.getvalue()


def _draw(axes: Any, curves: Curves, colours: Sequence[str] = (), **ink: str) -> Any:  # noqa: ANN401
    """Lines, labels and grid on matplotlib's axes, which are returned."""
    for number, (name, curve) in enumerate(curves.items()):
        if curve:
            colour = {"color": colours[number % len(colours)]} if colours else {}
            axes.plot(ALPHAS, curve, marker=".", label=name, **colour)
    axes.set_xlabel("α: 0 is 3CosAdd alone, 1 is pair2vec alone", **ink)
    axes.set_ylabel("accuracy, %", **ink)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3, **ink)
    return axes


def inline_svg(svg: str) -> str:
    """An SVG file as part of an HTML page: no prologue, nothing that names another resource."""
    inner = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    inner = re.sub(r'\s+xmlns(?::\w+)?="[^"]*"', "", inner)
    inner = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", inner, count=1)
    inner = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", inner, count=1)
    return inner.replace(_INK, "currentColor")

"""The paper's figure of accuracy against α (`fig:dlie`) on a terminal."""

from collections.abc import Mapping, Sequence
from math import ceil

from rich.text import Text

from pair2vec.evaluation.contest import ALPHAS

Curves = Mapping[str, Sequence[float]]
"""By group, the accuracy at each α in percent."""

_MARKS = (("●", "green"), ("▲", "yellow"), ("■", "magenta"), ("◆", "cyan"))
_SEVERAL = ("✕", "")
_HEIGHT = 16
_STEP = 3
"""Characters from one α to the next."""
_WIDTH = _STEP * (len(ALPHAS) - 1) + 1
_MARGIN = 7


def alpha_plot(curves: Curves) -> Text:
    """A mark for each group and α, the axes, and a legend."""
    marks = {name: _MARKS[number % len(_MARKS)] for number, name in enumerate(curves)}
    top = _nice_top(curves)
    cells: dict[tuple[int, int], tuple[str, str]] = {}
    for name, curve in curves.items():
        for place, accuracy in enumerate(curve):
            cell = (round(_HEIGHT * accuracy / top), _STEP * place)
            cells[cell] = _SEVERAL if cell in cells else marks[name]
    plot = Text()
    for row in range(_HEIGHT, -1, -1):
        label = f"{top * row / _HEIGHT:.0f} %" if row % (_HEIGHT // 2) == 0 else ""
        plot.append(f"{label:>{_MARGIN - 2}} │")
        for column in range(_WIDTH):
            plot.append(*cells.get((row, column), (" ", "")))
        plot.append("\n")
    return plot.append_text(_axis()).append_text(_legend(marks))


def _nice_top(curves: Curves) -> int:
    """The next multiple of ten above all of them."""
    highest = max((max(curve) for curve in curves.values() if curve), default=0)
    return max(10, 10 * ceil(highest / 10))


def _axis() -> Text:
    left, right = "0, words alone", "pairs alone, 1"
    middle = f"{'α':^{_WIDTH - len(left) - len(right)}}"
    return Text(f"{'└':>{_MARGIN}}{'─' * _WIDTH}\n{'':{_MARGIN}}{left}{middle}{right}\n")


def _legend(marks: Mapping[str, tuple[str, str]]) -> Text:
    legend = Text(" " * _MARGIN)
    for name, (mark, style) in {**marks, "several": _SEVERAL}.items():
        legend.append(mark, style).append(f" {name}   ")
    return legend

"""The paper's figure of accuracy against α (`fig:dlie`), as SVG for a page."""

import io
import re
from importlib import import_module

from pair2vec.display.alpha_plot import Curves
from pair2vec.evaluation.contest import ALPHAS

_INK = "#808080"
"""Of lines and letters: readable on a light ground and on a dark one."""

_COLOURS = ("#2a9d5c", "#c98a00", "#b455b6", "#2a8fbb")


def alpha_svg(curves: Curves) -> str | None:
    """One line a group; None without matplotlib."""
    try:
        # By name, because its types are not there where it is not.
        matplotlib, figures = import_module("matplotlib"), import_module("matplotlib.figure")
    except ImportError:
        return None
    # The same picture has the same names in it, and text stays text.
    with matplotlib.rc_context({"svg.hashsalt": "pair2vec", "svg.fonttype": "none"}):
        figure = figures.Figure(figsize=(6, 4))
        axes = figure.subplots()
        for (name, curve), colour in zip(curves.items(), _COLOURS, strict=False):
            axes.plot(ALPHAS, curve, marker=".", label=name, color=colour)
        axes.set_xlabel("α: 0 is 3CosAdd alone, 1 is pair2vec alone", color=_INK)
        axes.set_ylabel("accuracy, %", color=_INK)
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3, color=_INK)
        axes.tick_params(colors=_INK)
        axes.spines[:].set_color(_INK)
        axes.legend(frameon=False, labelcolor=_INK)
        file = io.StringIO()
        figure.savefig(file, format="svg", bbox_inches="tight", transparent=True)
    return file.getvalue()


def inline_svg(svg: str) -> str:
    """An SVG file as part of an HTML page: no prologue, nothing that names another place."""
    inner = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    inner = re.sub(r'\s+xmlns(?::\w+)?="[^"]*"', "", inner)
    inner = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", inner, count=1)
    inner = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", inner, count=1)
    return inner.replace(_INK, "currentColor")

"""Two classifiers as pictures: accuracies by category, and examples with what decided them."""

import io
import textwrap
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from pair2vec.errors import Pair2vecError
from pair2vec.evaluation.nli import Accuracy
from pair2vec.evaluation.nli_comparison import PAIRS_SHOWN, Comparison, Telling, Verdict

_BASE, _MODEL, _AGAINST = "#9aa5b1", "#2a6fbb", "#c8553d"
_COLUMNS = 2
_PANEL = (6.4, 2.9)
"""Inches of the panel of one example."""
_LINE = 74
"""Characters that are as wide as a panel."""
_WORD = 20
"""The most characters of a word beside a bar."""
_THROUGH = {"pairs": "what is known of it", "words": "the alignment of the two"}


class ComparisonFigures:
    """Pictures to draw later: a missing matplotlib shows before the classifiers are asked."""

    def __init__(self, base: str, model: str) -> None:
        try:
            # By name, because its types are not there where it is not.
            self._figure = import_module("matplotlib.figure").Figure
        except ImportError as error:
            raise Pair2vecError(
                "nli compare needs matplotlib: pip install 'pair2vec[plot]'"
            ) from error
        self._names = (base, model)

    def categories(self, comparison: Comparison) -> bytes:
        """A bar for each classifier, of all examples and of each category, as a .png."""
        rows = comparison.rows
        figure = self._figure(figsize=(8, 1.6 + 0.5 * len(rows)), dpi=150)
        axes = figure.subplots()
        for side, (name, colour) in enumerate(zip(self._names, (_BASE, _MODEL), strict=True)):
            _bars(axes, [gain[side] for _, gain in rows], 0.4 * side - 0.2, name, colour)
        labels = [f"{name} ({gain.base.n:,})" for name, gain in rows]
        axes.set_yticks(range(len(rows)), labels, parse_math=False)
        axes.invert_yaxis()
        axes.margins(y=0.01)
        axes.set_xlim(0, 100)
        axes.set_xlabel("right labels, %, with Wilson's interval of 95 %")
        axes.grid(axis="x", alpha=0.3)
        axes.set_axisbelow(True)
        legend = axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
        for text in legend.get_texts():
            text.set_parse_math(False)
        return _png(figure)

    def examples(self, comparison: Comparison) -> bytes:
        """A panel for each example, numbered as on the page, as a .png."""
        rows = -(-len(comparison.examples) // _COLUMNS)
        width, height = _PANEL
        size = (width * _COLUMNS, height * rows)
        figure = self._figure(figsize=size, dpi=120, layout="constrained")
        figure.suptitle(
            f"What each pair of words adds, through {_THROUGH[comparison.through]}, to the score "
            "of the right label over the mean of the others: blue speaks for it, red against it",
            fontsize=9,
        )
        panels = figure.subplots(rows, _COLUMNS, squeeze=False).flatten()
        for number, one in enumerate(comparison.examples):
            self._draw_example(panels[number], number + 1, one)
        for unused in panels[len(comparison.examples) :]:
            unused.set_axis_off()
        return _png(figure)

    def _draw_example(self, axes: Any, number: int, one: Telling) -> None:  # noqa: ANN401
        sentences = (" ".join(sentence) for sentence in one.example.sentences)
        head = [f"{number}. {one.example.category or ''}".rstrip(". ")]
        for mark, sentence in zip(("", "→ "), sentences, strict=True):
            head += textwrap.wrap(mark + sentence, _LINE, max_lines=2, placeholder=" …")
        axes.set_title("\n".join(head), loc="left", fontsize=8, parse_math=False)
        values = [pair.share for pair in one.pairs]
        colours = [_MODEL if value > 0 else _AGAINST for value in values]
        axes.barh(range(len(values)), values, color=colours, height=0.7)
        labels = [f"{_short(pair.premise)} – {_short(pair.hypothesis)}" for pair in one.pairs]
        axes.set_yticks(range(len(values)), labels, fontsize=8, parse_math=False)
        # Bars are as wide where there are fewer pairs.
        axes.set_ylim(PAIRS_SHOWN - 0.5, -0.5)
        axes.axvline(0, color="black", linewidth=0.6)
        axes.tick_params(axis="x", labelsize=7)
        said = zip(self._names, (one.base, one.model), strict=True)
        verdicts = "\n".join(f"{name}: {_chances(verdict)}" for name, verdict in said)
        axes.set_xlabel(verdicts, fontsize=7.5, parse_math=False)


def _bars(
    axes: Any,  # noqa: ANN401
    bars: Sequence[Accuracy],
    shift: float,
    name: str,
    colour: str,
) -> None:
    below = [one.right - one.low for one in bars]
    above = [one.high - one.right for one in bars]
    axes.barh(
        [place + shift for place in range(len(bars))],
        [one.right for one in bars],
        height=0.38,
        xerr=[below, above],
        color=colour,
        ecolor="black",
        error_kw={"elinewidth": 0.8, "capsize": 2},
        label=name,
    )


def _chances(verdict: Verdict) -> str:
    chances = ", ".join(f"{name} {share:.0%}" for name, share in verdict.probabilities.items())
    return f"{verdict.label} ({chances})"


def _short(word: str) -> str:
    return word if len(word) <= _WORD else f"{word[: _WORD - 1]}…"


def _png(figure: Any) -> bytes:  # noqa: ANN401
    file = io.BytesIO()
    figure.savefig(file, format="png", bbox_inches="tight")
    return file.getvalue()

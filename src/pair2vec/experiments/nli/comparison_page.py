"""The page of `pair2vec nli compare`: two classifiers in Markdown, with bar charts (matplotlib)."""

import io
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from pair2vec.errors import Pair2vecError, UsageError
from pair2vec.experiments.nli.comparison import (
    PAIRS_SHOWN,
    Comparison,
    DecisiveExample,
    LabelPrediction,
)
from pair2vec.experiments.nli.evaluate import LabelAccuracy
from pair2vec.experiments.report.grid import escaped, markdown_row
from pair2vec.runtime.jobs import LOCK_FILE, exclusive_lock
from pair2vec.runtime.storage import PARTIAL, write_file

COMPARISON_PAGE = "index.md"
CATEGORIES = "categories.png"
EXAMPLES = "examples.png"
_FILES = (CATEGORIES, EXAMPLES, COMPARISON_PAGE)
_TITLE = "# Two classifiers of natural language inference"

_PATHWAYS = {
    "pairs": "the relation vector of the pair of words",
    "words": "the alignment of the two words, because this classifier has no relation vectors",
}
_PATHWAYS_IN_FIGURES = {"pairs": "its relation vector", "words": "the alignment of the two"}

_BASE, _MODEL, _AGAINST = "#9aa5b1", "#2a6fbb", "#c8553d"
_COLUMNS = 2
_PANEL = (6.4, 2.9)
"""Inches of the panel of one example."""
_LINE = 74
"""Characters that fit the width of a panel."""
_WORD = 20
"""The most characters of a word beside a bar."""


@dataclass(frozen=True, kw_only=True)
class ComparisonProtocol:
    """How the figures of a page were made; names are without folders."""

    base: str
    """Its name."""
    model: str
    base_config: Mapping[str, Any]
    model_config: Mapping[str, Any]
    data: str
    """The name of the examples' file."""
    dropped: int
    """Examples without a gold label."""
    date: str


def check_page_folder(folder: Path) -> None:
    """Refuse a folder of anything but an earlier page.

    Raises:
        UsageError: it is a file, or a folder of other things.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: is a file, not a folder; give another --out")
    page = folder / COMPARISON_PAGE
    if not folder.exists() or (page.is_file() and page.read_bytes().startswith(_TITLE.encode())):
        return
    pictures = (CATEGORIES, EXAMPLES, LOCK_FILE)
    names = sorted(path.name for path in folder.iterdir() if path.name not in pictures)
    if others := [name for name in names if not name.endswith(PARTIAL)]:
        raise UsageError(
            f"{folder}: is not a comparison and not empty ({others[0]}); give another --out"
        )


def write_page(folder: Path, page: str, pictures: Mapping[str, bytes]) -> Path:
    """Write a page over an earlier one in `folder`; the page is written last."""
    folder.mkdir(parents=True, exist_ok=True)
    with exclusive_lock(folder):
        for name in _FILES:
            (folder / name).unlink(missing_ok=True)
        for name, picture in pictures.items():
            write_file(folder / name, picture)
        write_file(folder / COMPARISON_PAGE, page.encode())
    return folder / COMPARISON_PAGE


def comparison_page(comparison: Comparison, protocol: ComparisonProtocol) -> str:
    """In Markdown: accuracies, disagreements, explained examples, and the protocol."""
    parts = [
        [
            _TITLE,
            f"**{escaped(protocol.base)}** against **{escaped(protocol.model)}** on "
            f"{escaped(protocol.data)}.",
        ],
        [
            "## Accuracy",
            _table(comparison, protocol),
            _picture(CATEGORIES, "Accuracy by category"),
        ],
        ["## Where they differ", _differences(comparison, protocol)],
        ["## Examples", *_examples(comparison, protocol)],
        ["## Protocol", "\n".join(f"- {line}" for line in _protocol(protocol))],
    ]
    return "\n\n".join(block for part in parts for block in part) + "\n"


def _table(comparison: Comparison, protocol: ComparisonProtocol) -> str:
    head = ("category", "n", escaped(protocol.base), escaped(protocol.model), "gain")
    rows = [
        (escaped(name), f"{gain.base.n:,}", *map(_accuracy, gain), f"{gain.points:+.2f}")
        for name, gain in comparison.rows
    ]
    lines = "\n".join(map(markdown_row, [head, ("---", *["---:"] * 4), *rows]))
    return f"{lines}\n\nRight labels in percent, with Wilson's interval of 95 %; gain in points."


def _accuracy(figure: LabelAccuracy) -> str:
    return f"{figure.accuracy:.2f} ({figure.low:.1f}–{figure.high:.1f})"


def _differences(comparison: Comparison, protocol: ComparisonProtocol) -> str:
    base, model = escaped(protocol.base), escaped(protocol.model)
    return (
        f"Only {base} is right on {comparison.only_base:,} examples, only {model} on "
        f"{comparison.only_model:,}. If each were as likely to be the one that is right, a "
        f"difference this large would have probability {_p_value(comparison.p_value)} (McNemar's "
        "exact test, two-sided).\n\nThe test is of these two classifiers, not of others trained "
        "with other seeds, and assumes independent examples; those that share a premise are not "
        "quite independent."
    )


def _p_value(value: float) -> str:
    """The smallest ones underflow a float."""
    return f"{value:.2g}" if value > 1e-300 else "below 1e-300"


def _examples(comparison: Comparison, protocol: ComparisonProtocol) -> list[str]:
    base, model = escaped(protocol.base), escaped(protocol.model)
    if not comparison.examples:
        return [f"There is none that {model} gets right and {base} wrong."]
    return [
        f"{len(comparison.examples)} of the {comparison.only_model:,} that only {model} gets "
        "right: of each category that whose right label gains most probability, then the next.",
        f"An **attribution** is what the score of {model}'s label, less the mean of the others, "
        f"would lose to first order without a pair's term in the attention, through "
        f"{_PATHWAYS[comparison.pathway]}. A positive one supports the label, a negative one "
        "opposes it.",
        _picture(EXAMPLES, "Examples, and the pairs of words that decided them"),
        *(_example(n, shown, protocol) for n, shown in enumerate(comparison.examples, start=1)),
    ]


def _example(number: int, shown: DecisiveExample, protocol: ComparisonProtocol) -> str:
    premise, hypothesis = (escaped(" ".join(sentence)) for sentence in shown.example.sentences)
    title = ". ".join(
        [f"{number}", *([escaped(shown.example.category)] if shown.example.category else [])]
    )
    pairs = ", ".join(
        f"*{escaped(pair.premise)}* – *{escaped(pair.hypothesis)}* {pair.attribution:+.3f}"
        for pair in shown.pairs
    )
    return "\n".join(
        [
            f"### {title}\n",
            f"“{premise}” → “{hypothesis}”: {shown.example.label}\n",
            f"- {escaped(protocol.base)} predicts {_prediction(shown.base, 1)}",
            f"- {escaped(protocol.model)} predicts {_prediction(shown.model, 1)}",
            f"- decisive pairs: {pairs or 'none; no pair has a relation vector'}",
        ]
    )


def _prediction(predicted: LabelPrediction, digits: int) -> str:
    shares = (f"{name} {share:.{digits}%}" for name, share in predicted.probabilities.items())
    return f"{predicted.label} ({', '.join(shares)})"


def _protocol(protocol: ComparisonProtocol) -> list[str]:
    left_out = f"; {protocol.dropped:,} without a gold label left out" if protocol.dropped else ""
    return [
        f"{escaped(protocol.base)}: {_provenance(protocol.base_config)}",
        f"{escaped(protocol.model)}: {_provenance(protocol.model_config)}",
        f"examples: {escaped(protocol.data)}{left_out}",
        f"date: {protocol.date}",
    ]


def _provenance(config: Mapping[str, Any]) -> str:
    """How a classifier was trained."""
    inputs = config["inputs"]
    files = " + ".join(f"{count:,} of {escaped(name)}" for name, count in config["train"].items())
    return (
        f"{config['model']}, pairs {inputs['pairs']}, words {escaped(Path(inputs['words']).name)}, "
        f"seed {config['settings']['training']['seed']}, trained on {files}, "
        f"{config['dev_score']:.2f} % of dev right"
    )


def _picture(name: str, what: str) -> str:
    return f"![{what}]({name})"


class ComparisonFigures:
    """Draws the charts; made early, so that a missing matplotlib shows before anything is run."""

    def __init__(self, base: str, model: str) -> None:
        try:
            # By name: without matplotlib, mypy has no types for it.
            self._figure = import_module("matplotlib.figure").Figure
        except ImportError as error:
            raise Pair2vecError(
                "nli compare needs matplotlib: pip install 'pair2vec[plot]'"
            ) from error
        self._names = (base, model)

    def categories(self, comparison: Comparison) -> bytes:
        """A bar of each classifier's accuracy on all examples and on each category, as a .png."""
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
        axes.set_xlabel("accuracy, %, with Wilson's 95 % interval")
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
            f"What each pair of words adds, through {_PATHWAYS_IN_FIGURES[comparison.pathway]}, to "
            "the score of the right label less the mean of the others: blue supports it, red "
            "opposes it",
            fontsize=9,
        )
        panels = figure.subplots(rows, _COLUMNS, squeeze=False).flatten()
        for number, shown in enumerate(comparison.examples):
            self._draw_example(panels[number], number + 1, shown)
        for unused in panels[len(comparison.examples) :]:
            unused.set_axis_off()
        return _png(figure)

    def _draw_example(self, axes: Any, number: int, shown: DecisiveExample) -> None:  # noqa: ANN401
        sentences = (" ".join(sentence) for sentence in shown.example.sentences)
        head = [f"{number}. {shown.example.category or ''}".rstrip(". ")]
        for mark, sentence in zip(("", "→ "), sentences, strict=True):
            head += textwrap.wrap(mark + sentence, _LINE, max_lines=2, placeholder=" …")
        axes.set_title("\n".join(head), loc="left", fontsize=8, parse_math=False)
        values = [pair.attribution for pair in shown.pairs]
        colours = [_MODEL if value > 0 else _AGAINST for value in values]
        axes.barh(range(len(values)), values, color=colours, height=0.7)
        labels = [f"{_short(pair.premise)} – {_short(pair.hypothesis)}" for pair in shown.pairs]
        axes.set_yticks(range(len(values)), labels, fontsize=8, parse_math=False)
        # Bars keep their width where there are fewer pairs.
        axes.set_ylim(PAIRS_SHOWN - 0.5, -0.5)
        axes.axvline(0, color="black", linewidth=0.6)
        axes.tick_params(axis="x", labelsize=7)
        predicted = zip(self._names, (shown.base, shown.model), strict=True)
        lines = (f"{name}: {_prediction(label, 0)}" for name, label in predicted)
        axes.set_xlabel("\n".join(lines), fontsize=7.5, parse_math=False)


def _bars(
    axes: Any,  # noqa: ANN401
    bars: Sequence[LabelAccuracy],
    shift: float,
    name: str,
    colour: str,
) -> None:
    below = [bar.accuracy - bar.low for bar in bars]
    above = [bar.high - bar.accuracy for bar in bars]
    axes.barh(
        [row + shift for row in range(len(bars))],
        [bar.accuracy for bar in bars],
        height=0.38,
        xerr=[below, above],
        color=colour,
        ecolor="black",
        error_kw={"elinewidth": 0.8, "capsize": 2},
        label=name,
    )


def _short(word: str) -> str:
    return word if len(word) <= _WORD else f"{word[: _WORD - 1]}…"


def _png(figure: Any) -> bytes:  # noqa: ANN401
    file = io.BytesIO()
    figure.savefig(file, format="png", bbox_inches="tight")
    return file.getvalue()

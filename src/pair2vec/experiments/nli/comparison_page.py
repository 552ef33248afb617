"""Two classifiers as pictures: accuracies by category, and examples with what decided them."""

import io
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from pair2vec.errors import Pair2vecError, UsageError
from pair2vec.experiments.nli.comparison import PAIRS_SHOWN, Comparison, DecisiveExample, Verdict
from pair2vec.experiments.nli.evaluate import LabelAccuracy
from pair2vec.experiments.report.grid import plain, table_row
from pair2vec.runtime.storage import PARTIAL, write_file

_BASE, _MODEL, _AGAINST = "#9aa5b1", "#2a6fbb", "#c8553d"
_COLUMNS = 2
_PANEL = (6.4, 2.9)
"""Inches of the panel of one example."""
_LINE = 74
"""Characters that are as wide as a panel."""
_WORD = 20
"""The most characters of a word beside a bar."""
_THROUGH_IN_FIGURES = {"pairs": "what is known of it", "words": "the alignment of the two"}


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
            f"What each pair of words adds, through {_THROUGH_IN_FIGURES[comparison.through]}, to the score "
            "of the right label over the mean of the others: blue speaks for it, red against it",
            fontsize=9,
        )
        panels = figure.subplots(rows, _COLUMNS, squeeze=False).flatten()
        for number, one in enumerate(comparison.examples):
            self._draw_example(panels[number], number + 1, one)
        for unused in panels[len(comparison.examples) :]:
            unused.set_axis_off()
        return _png(figure)

    def _draw_example(self, axes: Any, number: int, one: DecisiveExample) -> None:  # noqa: ANN401
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
    bars: Sequence[LabelAccuracy],
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


# == Two classifiers on a page: how often each is right, and what decided where only one was.


COMPARISON_PAGE = "index.md"
CATEGORIES = "categories.png"
EXAMPLES = "examples.png"
_FILES = (CATEGORIES, EXAMPLES, COMPARISON_PAGE)
_TITLE = "# Two classifiers of natural language inference"

_THROUGH = {
    "pairs": "what is known of the pair of words",
    "words": "the alignment of the two words, because this classifier knows nothing of pairs",
}


@dataclass(frozen=True, kw_only=True)
class ComparisonProtocol:
    """What the figures of a page depend on; nothing in it names a folder of the machine."""

    base: str
    """The name of the classifier."""
    model: str
    base_config: Mapping[str, Any]
    model_config: Mapping[str, Any]
    data: str
    """The name of the file of examples."""
    dropped: int
    """Examples without a gold label."""
    date: str


def check_page_place(folder: Path) -> None:
    """Refuse a place that holds something else than an earlier page.

    Raises:
        UsageError: it is a file, or a folder of other things.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: is a file, not a folder; give another --out")
    page = folder / COMPARISON_PAGE
    if not folder.exists() or (page.is_file() and page.read_bytes().startswith(_TITLE.encode())):
        return
    pictures = (CATEGORIES, EXAMPLES)
    names = sorted(path.name for path in folder.iterdir() if path.name not in pictures)
    if others := [name for name in names if not name.endswith(PARTIAL)]:
        raise UsageError(
            f"{folder}: is not a comparison and not empty ({others[0]}); give another --out"
        )


def write_page(folder: Path, page: str, pictures: Mapping[str, bytes]) -> Path:
    """Write a page over whatever one is in `folder`; it is there only with all its pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in _FILES:
        (folder / name).unlink(missing_ok=True)
    for name, picture in pictures.items():
        write_file(folder / name, picture)
    write_file(folder / COMPARISON_PAGE, page.encode())
    return folder / COMPARISON_PAGE


def comparison_page(comparison: Comparison, protocol: ComparisonProtocol) -> str:
    """In Markdown: accuracies, disagreements, examples, and how all that was found."""
    parts = [
        [
            _TITLE,
            f"**{plain(protocol.base)}** against **{plain(protocol.model)}** on "
            f"{plain(protocol.data)}.",
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
    head = ("category", "n", plain(protocol.base), plain(protocol.model), "gain")
    rows = [
        (plain(name), f"{gain.base.n:,}", *map(_accuracy, gain), f"{gain.points:+.2f}")
        for name, gain in comparison.rows
    ]
    lines = "\n".join(map(table_row, [head, ("---", *["---:"] * 4), *rows]))
    return f"{lines}\n\nRight labels in percent, with Wilson's interval of 95 %; gain in points."


def _accuracy(one: LabelAccuracy) -> str:
    return f"{one.right:.2f} ({one.low:.1f}–{one.high:.1f})"


def _differences(comparison: Comparison, protocol: ComparisonProtocol) -> str:
    base, model = plain(protocol.base), plain(protocol.model)
    return (
        f"Only {base} is right on {comparison.only_base:,} examples, only {model} on "
        f"{comparison.only_model:,}. If each were as likely to be the one that is right, a "
        f"difference this large would have probability {_p_value(comparison.p_value)} (McNemar's "
        "exact test, two-sided).\n\nThe test speaks of these two classifiers, not of others "
        "trained with other seeds, and takes examples as independent; those that share a premise "
        "are not quite."
    )


def _p_value(value: float) -> str:
    """The smallest ones are below what a float can tell."""
    return f"{value:.2g}" if value > 1e-300 else "below 1e-300"


def _examples(comparison: Comparison, protocol: ComparisonProtocol) -> list[str]:
    base, model = plain(protocol.base), plain(protocol.model)
    if not comparison.examples:
        return [f"There is none that {model} gets right and {base} wrong."]
    return [
        f"{len(comparison.examples)} of the {comparison.only_model:,} that only {model} gets "
        "right: of each category that whose right label gains most probability, then the next.",
        f"A **share** is what the score of {model}'s label, over the mean of the others, would "
        f"lose to first order without a pair's part in the attention, through "
        f"{_THROUGH[comparison.through]}. A positive share speaks for the label, a negative one "
        "against it.",
        _picture(EXAMPLES, "Examples, and the pairs of words that decided them"),
        *(_example(n, one, protocol) for n, one in enumerate(comparison.examples, start=1)),
    ]


def _example(number: int, one: DecisiveExample, protocol: ComparisonProtocol) -> str:
    premise, hypothesis = (plain(" ".join(sentence)) for sentence in one.example.sentences)
    title = ". ".join(
        [f"{number}", *([plain(one.example.category)] if one.example.category else [])]
    )
    pairs = ", ".join(
        f"*{plain(pair.premise)}* – *{plain(pair.hypothesis)}* {pair.share:+.3f}"
        for pair in one.pairs
    )
    return "\n".join(
        [
            f"### {title}\n",
            f"“{premise}” → “{hypothesis}”: {one.example.label}\n",
            f"- {plain(protocol.base)} says {_verdict(one.base)}",
            f"- {plain(protocol.model)} says {_verdict(one.model)}",
            f"- deciding pairs: {pairs or 'none; nothing is known of any'}",
        ]
    )


def _verdict(verdict: Verdict) -> str:
    chances = ", ".join(f"{name} {share:.1%}" for name, share in verdict.probabilities.items())
    return f"{verdict.label} ({chances})"


def _protocol(protocol: ComparisonProtocol) -> list[str]:
    left_out = f"; {protocol.dropped:,} without a gold label left out" if protocol.dropped else ""
    return [
        f"{plain(protocol.base)}: {_made(protocol.base_config)}",
        f"{plain(protocol.model)}: {_made(protocol.model_config)}",
        f"examples: {plain(protocol.data)}{left_out}",
        f"date: {protocol.date}",
    ]


def _made(config: Mapping[str, Any]) -> str:
    """How a classifier was trained."""
    inputs = config["inputs"]
    learnt = " + ".join(f"{count:,} of {plain(name)}" for name, count in config["train"].items())
    return (
        f"{config['model']}, pairs {inputs['pairs']}, words {plain(Path(inputs['words']).name)}, "
        f"seed {config['settings']['training']['seed']}, trained on {learnt}, "
        f"{config['dev_score']:.2f} % of dev right"
    )


def _picture(name: str, what: str) -> str:
    return f"![{what}]({name})"

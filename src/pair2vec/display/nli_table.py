"""Accuracies of NLI: of one classifier, and of many runs beside the paper's figures."""

from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from pair2vec.evaluation.nli import Accuracy, SetAccuracy
from pair2vec.evaluation.nli_results import RULE
from pair2vec.evaluation.nli_summary import Row, Spread, Summary, printed

_MODELS = {
    RULE: "WordNet rule",
    "none": "ESIM",
    "wordnet": "KIM (ESIM + WordNet)",
    "pair_distance": "ESIM + PairDistance",
    "pair2vec": "ESIM + pair2vec",
}
_SETS = {
    "snli_test": "SNLI test",
    "multinli_matched": "MultiNLI matched",
    "multinli_mismatched": "MultiNLI mismatched",
    "breaking_nli": "Breaking NLI",
}
_NOTHING = "–"
_MISSING = "missing"


def accuracy_tables(scores: Mapping[str, SetAccuracy]) -> Group:
    """The accuracy on each set, and by category where there are any."""
    whole = _accuracies("set", {name: score.whole for name, score in scores.items()})
    parts = [
        _accuracies(f"{_SETS.get(name, name)} by category", score.categories)
        for name, score in scores.items()
        if score.categories
    ]
    notes = [
        f"{_SETS.get(name, name)}: {100 - score.answered:.1f} % got no label, counted as wrong."
        for name, score in scores.items()
        if score.answered < 100
    ]
    notes += [
        f"{_SETS.get(name, name)}: {score.dropped:,} examples without a gold label left out."
        for name, score in scores.items()
        if score.dropped
    ]
    caption = "Right labels in percent, with Wilson's interval of 95 %."
    return Group(whole, *parts, Text("\n".join([caption, *notes]), style="dim"))


def _accuracies(title: str, found: Mapping[str, Accuracy]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column(title)
    for name in ("n", "right", "95 %"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, one in found.items():
        label = Text(_SETS.get(name, name))
        table.add_row(label, f"{one.n:,}", f"{one.right:.2f}", f"{one.low:.1f}–{one.high:.1f}")
    return table


def summary_tables(summary: Summary) -> Group:
    """The paper's `tab:nli_res` and `tab:glockner_res`, measured beside printed, and categories."""
    sets = [name for name in _SETS if any(name in row.figures for row in summary.rows)]
    others = [name for name in sets if name != "breaking_nli"]
    return Group(
        _measured("SNLI and MultiNLI (tab:nli_res)", summary.rows, others, "multinli_matched"),
        _measured(
            "Breaking NLI (tab:glockner_res)", summary.rows, ["breaking_nli"], "breaking_nli"
        ),
        _categories(summary.rows),
        _protocol(summary),
    )


def _measured(title: str, rows: Sequence[Row], sets: Sequence[str], paper: str) -> Table:
    """Rows of models, columns of sets, and what the paper prints of one of them."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("words")
    table.add_column("model")
    for name in (*(_SETS[one] for one in sets), f"paper: {_SETS[paper]}", "seeds"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        said = printed(paper, row)
        runs = max((row.figures[name].runs for name in sets if name in row.figures), default=0)
        table.add_row(
            Text(row.words or ""),
            Text(" ".join([_MODELS[row.model], *([f"({row.note})"] if row.note else [])])),
            *(_figure(row.figures.get(name)) for name in sets),
            _NOTHING if said is None else f"{said:g}",
            f"{runs or _NOTHING}",
        )
    return table


def _categories(rows: Sequence[Row]) -> Table:
    """Breaking NLI by category: a column a model that was run."""
    shown = [row for row in rows if row.categories]
    table = Table(
        title="Breaking NLI by category", title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1)
    )
    table.add_column("category")
    for row in shown:
        table.add_column(Text(f"{_MODELS[row.model]}\n{row.words or ''}"), justify="right")
    for name in dict.fromkeys(name for row in shown for name in row.categories):
        table.add_row(Text(name), *(_figure(row.categories.get(name)) for row in shown))
    return table


def _figure(spread: Spread | None) -> str:
    if spread is None:
        return _MISSING
    deviation = "" if spread.deviation is None else f" ±{spread.deviation:.2f}"
    return f"{spread.mean:.2f}{deviation}"


def _protocol(summary: Summary) -> Text:
    """What every figure above depends on."""
    train, sizes = summary.protocol
    learnt = " + ".join(f"{count:,} of {name}" for name, count in train) or "no examples"
    tested = ", ".join(f"{_SETS.get(name, name)} {count:,}" for name, count in sizes.items())
    return Text(
        f"Measured: trained on {learnt}; tested on {tested}. Right labels in percent, mean "
        "±standard deviation over seeds.\nPaper: trained on all of SNLI and MultiNLI, some 943,000 "
        "examples; its MultiNLI figures are with ELMo.",
        style="dim",
    )

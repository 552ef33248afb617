"""Accuracies of NLI: of one classifier, and of many runs beside the paper's figures."""

from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from pair2vec.display.grid import NOTHING, Grid, counted, figure, grid_table, said_of_most
from pair2vec.evaluation.nli import RULE, Accuracy, SetAccuracy
from pair2vec.evaluation.nli_summary import DEV, Row, Summary, printed

_MODELS = {
    RULE: "WordNet rule",
    "none": "ESIM",
    "wordnet": "KIM (ESIM + WordNet)",
    "pair_distance": "ESIM + PairDistance",
    "pair2vec": "ESIM + pair2vec",
    "pair2vec+wordnet": "ESIM + pair2vec + WordNet",
}
_SETS = {
    "snli_test": "SNLI test",
    "multinli_matched": "MultiNLI matched",
    "multinli_mismatched": "MultiNLI mismatched",
    "breaking_nli": "Breaking NLI",
    "replaced_words": "replaced words",
}
_OF_THE_PAPER = tuple(name for name in _SETS if name != "replaced_words")


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
    notes = Text("\n".join(nli_protocol(summary)), style="dim")
    return Group(*map(grid_table, nli_grids(summary)), notes)


def nli_grids(summary: Summary, always: Sequence[str] = ()) -> list[Grid]:
    """The same as plain text; sets that nothing was tested on are shown if `always` has them."""
    rows = [row for row in summary.rows if not row.is_attempt]
    tested = {name for row in summary.rows for name in row.figures}
    sets = [name for name in _OF_THE_PAPER if name in tested or name in always]
    others = [name for name in sets if name != "breaking_nli"]
    multinli = [name for name in others if name.startswith("multinli")] or ["multinli_matched"]
    return [
        _measured("SNLI and MultiNLI (tab:nli_res)", rows, others, multinli),
        _measured("Breaking NLI (tab:glockner_res)", rows, ["breaking_nli"], ["breaking_nli"]),
        *_categories(rows),
        *_attempts(summary.rows, [name for name in _SETS if name in tested]),
    ]


def _attempts(rows: Sequence[Row], sets: Sequence[str]) -> list[Grid]:
    """Other settings beside the usual ones, with what they can be chosen by: a grid for words."""
    head = ("model", "dev", *(_SETS[name] for name in sets), "runs")
    return [
        Grid(
            f"All settings that were tried, {words}",
            head,
            [
                (
                    _named(row),
                    *(figure(row.figures.get(name)) for name in (DEV, *sets)),
                    counted([*row.figures.values()]),
                )
                for row in rows
                if row.words == words and row.figures
            ],
        )
        for words in dict.fromkeys(row.words for row in rows if row.is_attempt)
    ]


def _measured(title: str, rows: Sequence[Row], sets: Sequence[str], paper: Sequence[str]) -> Grid:
    """Rows of models, columns of sets, and what the paper prints of some of them."""
    printed_sets = (f"paper: {_SETS[name]}" for name in paper)
    head = ("words", "model", *(_SETS[name] for name in sets), *printed_sets, "runs")
    shown = [
        (
            row.words or "",
            _named(row),
            *(figure(row.figures.get(name)) for name in sets),
            *(_printed(name, row) for name in paper),
            counted([row.figures[name] for name in sets if name in row.figures]),
        )
        for row in rows
    ]
    return Grid(title, head, shown, labels=2)


def _printed(name: str, row: Row) -> str:
    said = printed(name, row)
    return NOTHING if said is None else f"{said:g}"


def _named(row: Row) -> str:
    name = _MODELS.get(row.model, f"ESIM + {row.model}")
    return f"{name} ({row.note})" if row.note else name


def _categories(rows: Sequence[Row]) -> list[Grid]:
    """Breaking NLI by category: a grid for each kind of words, with a column a model."""
    run = [row for row in rows if row.categories]
    return [
        _categories_of([row for row in run if row.words == words], words)
        for words in dict.fromkeys(row.words for row in run)
    ]


def _categories_of(rows: Sequence[Row], words: str | None) -> Grid:
    names = dict.fromkeys(name for row in rows for name in row.categories)
    return Grid(
        f"Breaking NLI by category{f', {words}' if words else ''}",
        ("category", *map(_named, rows)),
        [(name, *(figure(row.categories.get(name)) for row in rows)) for name in names],
    )


def nli_protocol(summary: Summary) -> list[str]:
    """What every figure depends on."""
    train, sizes, usual = summary.protocol
    learnt = " + ".join(f"{count:,} of {name}" for name, count in train) or "no examples"
    tested = ", ".join(f"{_SETS.get(name, name)} {count:,}" for name, count in sizes.items())
    return [
        f"Measured: trained on {learnt}; tested on {tested}. Right labels in percent, mean "
        f"±standard deviation over runs.{said_of_most(usual)}",
        "Paper: trained on all of SNLI and MultiNLI, some 943,000 examples; its MultiNLI figures "
        "are with ELMo.",
    ]

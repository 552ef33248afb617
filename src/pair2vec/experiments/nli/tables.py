"""What the results of NLI runs say together: runs of one model, models beside the paper's."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from pair2vec.experiments.evaluation.results import (
    Spread,
    by_note,
    spreads,
    usual_settings,
)
from pair2vec.experiments.nli.evaluate import RULE, LabelAccuracy, SetAccuracy
from pair2vec.experiments.report.grid import (
    NOTHING,
    Grid,
    count_runs,
    figure,
    grid_table,
    usual_settings_sentence,
)

PAIRS = ("none", "wordnet", "pair_distance", "pair2vec")
"""The paper's, in the order of the tables."""

BEYOND = ("pair2vec+wordnet",)
"""Not the paper's, but in its tables where there are runs."""

DEV = "dev"
"""In the place of a set: the examples that the best weights were chosen by."""

PAPER_NLI = {
    # `tab:glockner_res`
    ("breaking_nli", None, RULE): 85.8,
    ("breaking_nli", "GloVe", "none"): 77.0,
    ("breaking_nli", "GloVe", "wordnet"): 87.7,
    ("breaking_nli", "GloVe", "pair2vec"): 92.9,
    ("breaking_nli", "ELMo", "none"): 84.6,
    ("breaking_nli", "ELMo", "pair2vec"): 93.4,
    # `tab:nli_res`
    ("multinli_matched", "ELMo", "none"): 79.68,
    ("multinli_matched", "ELMo", "pair2vec"): 81.03,
    ("multinli_mismatched", "ELMo", "none"): 78.80,
    ("multinli_mismatched", "ELMo", "pair2vec"): 80.12,
}
"""What the paper prints, by set, word input and pairs; trained on all of SNLI and MultiNLI."""


class NliRow(NamedTuple):
    """The runs of one model."""

    words: str | None
    model: str
    """`RULE`, one of `PAIRS` or `BEYOND`, or what a matrix of runs calls a pair model."""
    figures: dict[str, Spread]
    """By set, `DEV` among them; none for a run that is missing."""
    categories: dict[str, Spread]
    """Of Breaking NLI."""
    note: str
    """What sets it apart from others of its pairs and words."""
    is_attempt: bool = False
    """Whether it is one more of its kind: the paper's tables have another in its place."""


class NliProtocol(NamedTuple):
    """What runs must share to stand in one table."""

    train: tuple[tuple[str, int], ...]
    """Files and how many examples of each."""
    examples: dict[str, int]
    """Of each set that was tested on."""
    usual: tuple[str, ...] = ()
    """Settings of most runs that are not the default."""


class NliSummary(NamedTuple):
    """Rows for all combinations that the paper has, whether they were run or not."""

    protocol: NliProtocol
    rows: list[NliRow]


def nli_summaries(results: Sequence[Mapping[str, Any]]) -> list[NliSummary]:
    """Results that were trained on the same examples, together; the rule joins all of them."""
    rule = [result for result in results if result.get("model") == RULE]
    trained = [result for result in results if result.get("model") != RULE]
    by_train: dict[tuple[tuple[str, int], ...], list[Mapping[str, Any]]] = {}
    for result in trained:
        by_train.setdefault(tuple(sorted(result["train"].items())), []).append(result)
    if not by_train:
        by_train[()] = []
    return [_summary(train, found, rule) for train, found in by_train.items()]


def _summary(
    train: tuple[tuple[str, int], ...],
    trained: Sequence[Mapping[str, Any]],
    rule: Sequence[Mapping[str, Any]],
) -> NliSummary:
    rows, usual = [_row(None, RULE, rule)], usual_settings(trained)
    kinds = dict.fromkeys([*PAIRS, *BEYOND, *(result["pairs"] for result in trained)])
    for words in sorted({result["words"] for result in trained}):
        for pairs in kinds:
            runs = [r for r in trained if r["words"] == words and r["pairs"] == pairs]
            rows += _variants(words, pairs, runs, usual)
    sizes: dict[str, int] = {}
    for result in (*trained, *rule):
        sizes |= result.get("protocol", {}).get("examples", {})
    return NliSummary(NliProtocol(train, sizes, usual), rows)


def _variants(
    words: str, pairs: str, runs: Sequence[Mapping[str, Any]], usual: Sequence[str]
) -> list[NliRow]:
    """A row for each note; where there is no run, an empty one for what the paper has."""
    noted = by_note(runs, usual) or ({"": []} if pairs in PAIRS else {})
    has_place = pairs in PAIRS or pairs in BEYOND
    return [
        _row(words, pairs, found, note, is_attempt=not has_place or note != min(noted))
        for note, found in noted.items()
    ]


def _row(
    words: str | None,
    model: str,
    runs: Sequence[Mapping[str, Any]],
    note: str = "",
    *,
    is_attempt: bool = False,
) -> NliRow:
    dev = [run.get("protocol", {}).get("dev_score") for run in runs]
    figures = [{DEV: score, **run["metrics"]} for score, run in zip(dev, runs, strict=True)]
    by_category = [found.get("breaking_nli_by_category", {}) for found in figures]
    return NliRow(words, model, spreads(figures), spreads(by_category), note, is_attempt)


def kind_of_words(words: str | None) -> str | None:
    """As the paper calls it: GloVe or ELMo; None for others, of which it says nothing."""
    name = (words or "").lower()
    return "GloVe" if "glove" in name else "ELMo" if "elmo" in name else None


def printed(name: str, row: NliRow) -> float | None:
    """What the paper prints of a set for a row, if anything."""
    return PAPER_NLI.get((name, kind_of_words(row.words), row.model))


def unrun(found: Sequence[NliSummary]) -> list[NliRow]:
    """The paper's rows of which no run is in any summary."""
    run = {(kind_of_words(r.words), r.model) for one in found for r in one.rows if r.figures}
    rows = dict.fromkeys((words, model) for _, words, model in PAPER_NLI)
    return [NliRow(words, model, {}, {}, "") for words, model in rows if (words, model) not in run]


# == Accuracies of NLI: of one classifier, and of many runs beside the paper's figures.


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


def _accuracies(title: str, found: Mapping[str, LabelAccuracy]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column(title)
    for name in ("n", "right", "95 %"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, one in found.items():
        label = Text(_SETS.get(name, name))
        table.add_row(label, f"{one.n:,}", f"{one.right:.2f}", f"{one.low:.1f}–{one.high:.1f}")
    return table


def summary_tables(summary: NliSummary) -> Group:
    """The paper's `tab:nli_res` and `tab:glockner_res`, measured beside printed, and categories."""
    notes = Text("\n".join(nli_protocol(summary)), style="dim")
    return Group(*map(grid_table, nli_grids(summary)), notes)


def nli_grids(summary: NliSummary, always: Sequence[str] = ()) -> list[Grid]:
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


def _attempts(rows: Sequence[NliRow], sets: Sequence[str]) -> list[Grid]:
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
                    count_runs([*row.figures.values()]),
                )
                for row in rows
                if row.words == words and row.figures
            ],
        )
        for words in dict.fromkeys(row.words for row in rows if row.is_attempt)
    ]


def _measured(
    title: str, rows: Sequence[NliRow], sets: Sequence[str], paper: Sequence[str]
) -> Grid:
    """Rows of models, columns of sets, and what the paper prints of some of them."""
    printed_sets = (f"paper: {_SETS[name]}" for name in paper)
    head = ("words", "model", *(_SETS[name] for name in sets), *printed_sets, "runs")
    shown = [
        (
            row.words or "",
            _named(row),
            *(figure(row.figures.get(name)) for name in sets),
            *(_printed(name, row) for name in paper),
            count_runs([row.figures[name] for name in sets if name in row.figures]),
        )
        for row in rows
    ]
    return Grid(title, head, shown, labels=2)


def _printed(name: str, row: NliRow) -> str:
    said = printed(name, row)
    return NOTHING if said is None else f"{said:g}"


def _named(row: NliRow) -> str:
    name = _MODELS.get(row.model, f"ESIM + {row.model}")
    return f"{name} ({row.note})" if row.note else name


def _categories(rows: Sequence[NliRow]) -> list[Grid]:
    """Breaking NLI by category: a grid for each kind of words, with a column a model."""
    run = [row for row in rows if row.categories]
    return [
        _categories_of([row for row in run if row.words == words], words)
        for words in dict.fromkeys(row.words for row in run)
    ]


def _categories_of(rows: Sequence[NliRow], words: str | None) -> Grid:
    names = dict.fromkeys(name for row in rows for name in row.categories)
    return Grid(
        f"Breaking NLI by category{f', {words}' if words else ''}",
        ("category", *map(_named, rows)),
        [(name, *(figure(row.categories.get(name)) for row in rows)) for name in names],
    )


def nli_protocol(summary: NliSummary) -> list[str]:
    """What every figure depends on."""
    train, sizes, usual = summary.protocol
    learnt = " + ".join(f"{count:,} of {name}" for name, count in train) or "no examples"
    tested = ", ".join(f"{_SETS.get(name, name)} {count:,}" for name, count in sizes.items())
    return [
        f"Measured: trained on {learnt}; tested on {tested}. Right labels in percent, mean "
        f"±standard deviation over runs.{usual_settings_sentence(usual)}",
        "Paper: trained on all of SNLI and MultiNLI, some 943,000 examples; its MultiNLI figures "
        "are with ELMo.",
    ]

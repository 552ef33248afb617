"""Tables of NLI results: one evaluation, and means over seeds beside the paper's figures."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from pair2vec.experiments.evaluation.results import RunGroup, Spread, by_note, group_runs, spreads
from pair2vec.experiments.nli.evaluate import KIM, RULE, LabelAccuracy, SetAccuracy
from pair2vec.experiments.report.data_faults import data_faults
from pair2vec.experiments.report.grid import (
    NOTHING,
    Grid,
    StoredRun,
    count_seeds,
    format_spread,
    grid_table,
    stored_runs,
    usual_settings_sentence,
)

PAPER_PAIRS = ("none", KIM, "pair_distance", "pair2vec")
"""The paper's rows, in the order of its tables: pair sources of ESIM, and KIM."""

EXTRA_PAIRS = ("wordnet", "pair2vec+wordnet")
"""Not in the paper, but in its tables where there are runs."""

DEV = "dev"
"""In place of a test set: the examples that the best weights were selected by."""

PAPER_NLI = {
    # `tab:glockner_res`
    ("breaking_nli", None, RULE): 85.8,
    ("breaking_nli", "GloVe", "none"): 77.0,
    ("breaking_nli", "GloVe", KIM): 87.7,
    ("breaking_nli", "GloVe", "pair2vec"): 92.9,
    ("breaking_nli", "ELMo", "none"): 84.6,
    ("breaking_nli", "ELMo", "pair2vec"): 93.4,
    # `tab:nli_res`
    ("multinli_matched", "ELMo", "none"): 79.68,
    ("multinli_matched", "ELMo", "pair2vec"): 81.03,
    ("multinli_mismatched", "ELMo", "none"): 78.80,
    ("multinli_mismatched", "ELMo", "pair2vec"): 80.12,
}
"""The paper's accuracies by test set, embedding family and row."""


class NliRow(NamedTuple):
    """The runs of one model."""

    words: str | None
    model: str
    """`RULE`, one of `PAPER_PAIRS` or `EXTRA_PAIRS`, or a pair model's name in a matrix of runs."""
    figures: dict[str, Spread]
    """By test set, `DEV` among them; empty without runs."""
    categories: dict[str, Spread]
    """Of Breaking NLI."""
    note: str
    """What distinguishes it from others of its pairs and words."""
    is_variant: bool = False
    """Whether the paper's tables show another row in its place."""
    runs: tuple[StoredRun, ...] = ()


class NliProtocol(NamedTuple):
    """What the runs of one table share."""

    train: tuple[tuple[str, int], ...]
    """Files, and how many examples of each."""
    examples: dict[str, int]
    """By test set, how many."""
    usual: tuple[str, ...] = ()
    """Settings of most runs that are not the default."""


class NliSummary(NamedTuple):
    """Rows for all combinations of the paper, whether there are runs or not."""

    protocol: NliProtocol
    rows: list[NliRow]


def nli_summaries(results: Sequence[Mapping[str, Any]]) -> list[NliSummary]:
    """A summary for each set of training examples; the WordNet rule is in all of them."""
    rule = [result for result in results if result.get("model") == RULE]
    trained = group_runs([result for result in results if result.get("model") != RULE])
    return [_summary(group, rule) for group in trained]


def _summary(group: RunGroup, rule: list[Mapping[str, Any]]) -> NliSummary:
    train, trained = group
    rows, usual = [_row(None, RULE, rule)], group.usual
    all_pairs = dict.fromkeys([*_MODELS, *(run["pairs"] for run in trained)])
    del all_pairs[RULE]
    for words in sorted({run["words"] for run in trained}):
        for pairs in all_pairs:
            runs = [run for run in trained if run["words"] == words and run["pairs"] == pairs]
            rows += _variants(words, pairs, runs, usual)
    examples = RunGroup(train, [*trained, *rule]).examples
    return NliSummary(NliProtocol(train, examples, usual), rows)


def _variants(
    words: str, pairs: str, runs: Sequence[Mapping[str, Any]], usual: Sequence[str]
) -> list[NliRow]:
    """A row for each note; without runs, an empty one if the paper has it."""
    variants = by_note(runs, usual) or ({"": []} if pairs in PAPER_PAIRS else {})
    in_tables = pairs in PAPER_PAIRS or pairs in EXTRA_PAIRS
    plainest = min(variants, key=lambda note: (len(note.split()), note), default="")
    return [
        _row(words, pairs, noted, note, is_variant=not in_tables or note != plainest)
        for note, noted in variants.items()
    ]


def _row(
    words: str | None,
    model: str,
    runs: Sequence[Mapping[str, Any]],
    note: str = "",
    *,
    is_variant: bool = False,
) -> NliRow:
    metrics = [
        (run.get("seed"), {DEV: run.get("protocol", {}).get("dev_score"), **run["metrics"]})
        for run in runs
    ]
    by_category = [(seed, own.get("breaking_nli_by_category", {})) for seed, own in metrics]
    figures = spreads(metrics), spreads(by_category)
    return NliRow(words, model, *figures, note, is_variant, stored_runs(runs))


def embedding_family(words: str | None) -> str | None:
    """The paper's name of a word input: GloVe or ELMo; None for others."""
    name = (words or "").lower()
    return "GloVe" if "glove" in name else "ELMo" if "elmo" in name else None


def paper_accuracy(test_set: str, row: NliRow) -> float | None:
    """The paper's figure for a row, if it has one."""
    return PAPER_NLI.get((test_set, embedding_family(row.words), row.model))


def missing_rows(summaries: Sequence[NliSummary]) -> list[NliRow]:
    """The paper's rows without a run in any summary."""
    have_runs = {
        (embedding_family(row.words), row.model)
        for summary in summaries
        for row in summary.rows
        if row.figures
    }
    rows = dict.fromkeys((words, model) for _, words, model in PAPER_NLI)
    return [NliRow(*row, {}, {}, "") for row in rows if row not in have_runs]


_MODELS = {
    RULE: "WordNet rule",
    "none": "ESIM",
    "wordnet": "ESIM + WordNet features",
    KIM: "KIM",
    "pair_distance": "ESIM + PairDistance",
    "pair2vec": "ESIM + pair2vec",
    "pair2vec+wordnet": "ESIM + pair2vec + WordNet features",
}
_SETS = {
    "snli_test": "SNLI test",
    "multinli_matched": "MultiNLI matched",
    "multinli_mismatched": "MultiNLI mismatched",
    "breaking_nli": "Breaking NLI",
    "replaced_words": "replaced words",
}
_PAPER_SETS = tuple(name for name in _SETS if name != "replaced_words")


def accuracy_tables(scores: Mapping[str, SetAccuracy]) -> Group:
    """The accuracy on each set, and by category where there are any."""
    overall = _accuracies("set", {name: score.overall for name, score in scores.items()})
    by_category = [
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
    notes += data_faults("nli", scores)
    caption = "Right labels in percent, with Wilson's interval of 95 %."
    return Group(overall, *by_category, Text("\n".join([caption, *notes]), style="dim"))


def _accuracies(title: str, accuracies: Mapping[str, LabelAccuracy]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column(title)
    for name in ("n", "right", "95 %"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, (n, accuracy, low, high) in accuracies.items():
        label = Text(_SETS.get(name, name))
        table.add_row(label, f"{n:,}", f"{accuracy:.2f}", f"{low:.1f}–{high:.1f}")
    return table


def summary_tables(summary: NliSummary) -> Group:
    """The paper's `tab:nli_res` and `tab:glockner_res` beside our runs, for a terminal."""
    notes = Text("\n".join(nli_protocol(summary)), style="dim")
    return Group(*map(grid_table, nli_grids(summary)), notes)


def nli_grids(summary: NliSummary, always: Sequence[str] = ()) -> list[Grid]:
    """The tables of a summary; test sets without results are shown if they are in `always`."""
    rows = [row for row in summary.rows if not row.is_variant]
    tested = {name for row in summary.rows for name in row.figures}
    sets = [name for name in _PAPER_SETS if name in tested or name in always]
    others = [name for name in sets if name != "breaking_nli"]
    multinli = [name for name in others if name.startswith("multinli")] or ["multinli_matched"]
    return [
        _measured("SNLI and MultiNLI (tab:nli_res)", rows, others, multinli),
        _measured("Breaking NLI (tab:glockner_res)", rows, ["breaking_nli"], ["breaking_nli"]),
        *_categories(rows),
        *_variant_grids(summary.rows, [name for name in _SETS if name in tested]),
    ]


def _variant_grids(rows: Sequence[NliRow], sets: Sequence[str]) -> list[Grid]:
    """All settings, with the dev score to choose by: a grid per word input."""
    return [
        _tried(words, [row for row in rows if row.words == words and row.figures], sets)
        for words in dict.fromkeys(row.words for row in rows if row.is_variant)
    ]


def _tried(words: str | None, rows: Sequence[NliRow], sets: Sequence[str]) -> Grid:
    cells = [
        (
            _named(row),
            *(format_spread(row.figures.get(name)) for name in (DEV, *sets)),
            count_seeds([*row.figures.values()]),
        )
        for row in rows
    ]
    head = ("model", "dev", *(_SETS[name] for name in sets), "seeds")
    title = f"All settings that were tried, {words}"
    return Grid(title, head, cells, runs=[row.runs for row in rows])


def _measured(
    title: str, rows: Sequence[NliRow], sets: Sequence[str], paper: Sequence[str]
) -> Grid:
    """A row per model, a column per test set, and the paper's figures for some of them."""
    paper_sets = (f"paper: {_SETS[name]}" for name in paper)
    head = ("words", "model", *(_SETS[name] for name in sets), *paper_sets, "seeds")
    cells = [
        (
            row.words or "",
            _named(row),
            *(format_spread(row.figures.get(name)) for name in sets),
            *(_paper_cell(name, row) for name in paper),
            count_seeds([row.figures[name] for name in sets if name in row.figures]),
        )
        for row in rows
    ]
    return Grid(title, head, cells, labels=2, runs=[row.runs for row in rows])


def _paper_cell(test_set: str, row: NliRow) -> str:
    accuracy = paper_accuracy(test_set, row)
    return NOTHING if accuracy is None else f"{accuracy:g}"


def _named(row: NliRow) -> str:
    name = _MODELS.get(row.model, f"ESIM + {row.model}")
    return f"{name} ({row.note})" if row.note else name


def _categories(rows: Sequence[NliRow]) -> list[Grid]:
    """Breaking NLI by category: a grid per word input, with a column per model."""
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
        [(name, *(format_spread(row.categories.get(name)) for row in rows)) for name in names],
    )


def nli_protocol(summary: NliSummary) -> list[str]:
    """How the figures were measured, line by line."""
    train, sizes, usual = summary.protocol
    files = " + ".join(f"{count:,} of {name}" for name, count in train) or "no examples"
    tested = ", ".join(f"{_SETS.get(name, name)} {count:,}" for name, count in sizes.items())
    return [
        f"Measured: trained on {files}; tested on {tested}. Right labels in percent, mean "
        "±standard deviation over seeds, each by the mean of its runs."
        f"{usual_settings_sentence(usual)}",
        *data_faults("nli", [name for name, _ in train] + [*sizes]),
        "Paper: trained on all of SNLI and MultiNLI, some 943,000 examples; its MultiNLI figures "
        "are with ELMo.",
    ]

"""The parts of the report: each table of the paper beside what was measured."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pair2vec.experiments.evaluation.analogy_accuracy import SCORES
from pair2vec.experiments.evaluation.analogy_sets import BATS_GROUPS
from pair2vec.experiments.evaluation.results import RunResult
from pair2vec.experiments.evaluation.slots import SLOT_ANSWERS, SlotRow, paper_rows
from pair2vec.experiments.nli.tables import (
    NliProtocol,
    NliSummary,
    missing_rows,
    nli_grids,
    nli_protocol,
    nli_summaries,
)
from pair2vec.experiments.qa.tables import (
    ablation_grid,
    qa_grid,
    qa_summaries,
    squad_protocol,
)
from pair2vec.experiments.report.grid import (
    MISSING,
    NOTHING,
    Grid,
    ReportPart,
    StoredRun,
    stored_runs,
)

_PAPER_GAINS = {"encyclopedic": "+356 %", "lexicographic": "+51 %"}
"""From the paper's text on its figure: by how much the combination is better than 3CosAdd."""

_PAPER_RELATIONS = {
    "E01 [country - capital]": ("Country:Capital", 1.2, 86.1, 0.9),
    "E05 [name - occupation]": ("Name:Occupation", 1.8, 44.6, 0.8),
    "E04 [name - nationality]": ("Name:Nationality", 0.1, 42.0, 0.9),
    "E03 [UK_city - county]": ("UK City:County", 0.7, 31.7, 1.0),
    "E02 [country - language]": ("Country:Language", 4.0, 28.4, 0.8),
    "I10 [verb_3pSg - Ved]": ("Verb 3pSg:Ved", 49.1, 61.7, 0.6),
    "I09 [verb_Ving - Ved]": ("Verb Ving:Ved", 61.1, 73.3, 0.5),
    "I07 [verb_inf - Ved]": ("Verb Inf:Ved", 58.5, 70.1, 0.5),
    "D01 [noun+less_reg]": ("Noun+less", 4.8, 16.0, 0.2),
    "L04 [meronyms - substance]": ("Substance Meronym", 3.8, 14.5, 0.6),
}
"""`tab:top_relations`, by BATS's name: the paper's name, 3CosAdd, the combination, its best α."""

_MULTINLI = ("multinli_matched", "multinli_mismatched")

_MEASURES = {
    "si1": ("SI1", "log P(x,y,·) P(x,·,c) P(·,y,c) / (P(x,·,·) P(·,y,·) P(·,·,c) P(x,y,c))"),
    "si2": ("SI2", "log P(x,y,c) / (P(x,·,·) P(·,y,·) P(·,·,c))"),
    "si3": ("SI3 = PMI", "log P(x,y,c) / (P(x,y,·) P(·,·,c))"),
    "si4": ("SI4", "log P(x,y,c) P(·,·,c) / (P(x,·,c) P(·,y,c))"),
    "mvpmi": (
        "MVPMI",
        "log P(x,y,c) / (k_c P(·,·,c) P(x,y,·) + k_x P(x,·,·) P(·,y,c) + k_y P(·,y,·) P(x,·,c))",
    ),
}
"""`tab:pmi_generalizations`."""


class _BatsRun(NamedTuple):
    name: str
    metrics: Mapping[str, Any]
    """Scores by group."""
    protocol: Mapping[str, Any]
    runs: tuple[StoredRun, ...] = ()


def analogies_part(
    results: Sequence[RunResult], recorded: Mapping[str, Any], model: str
) -> ReportPart:
    """`fig:dlie` and `tab:top_relations`.

    Args:
        results: Of the task bats.
        recorded: The metrics of BATS in the config of `model`; {} if there are none.
        model: Its name; its config is used where no result is of it.
    """
    runs = [
        _BatsRun(_name(result), result["metrics"], result["protocol"], stored_runs([result]))
        for result in results
    ]
    if recorded and model not in {result["model"] for result in results}:
        runs.append(_BatsRun(f"{model} (its config)", recorded, recorded.get("protocol", {})))
    # The figure is of one run: that of this model, if there is one.
    by_alpha = sorted(filter(_has_curves, results), key=lambda result: result["model"] != model)
    shown = by_alpha[0] if by_alpha else None
    return ReportPart(
        "Analogies: BATS",
        [_groups_grid(runs), _alpha_grid(shown), _relations_grid(shown)],
        [
            "Right answers in percent. Oracle α is the best for the very questions of a relation, "
            "as in the paper; held-out α the best for the other relations of its group.",
            *(f"{run.name}: {_protocol_text(run.protocol)}" for run in runs),
            "Paper: 100,000 words of the whole English Wikipedia of 2018; it prints a figure, of "
            "which its text says the two gains that are shown.",
        ],
        {name: group["by_alpha"] for name, group in shown["groups"].items()} if shown else {},
    )


def _name(result: Mapping[str, Any]) -> str:
    half = result["protocol"].get("half")
    return f"{result['model']} (half “{half}”)" if half else str(result["model"])


def _has_curves(result: Mapping[str, Any]) -> bool:
    groups = result.get("groups", {}).values()
    return bool(groups) and all(group.get("by_alpha") for group in groups)


def _groups_grid(runs: Sequence[_BatsRun]) -> Grid:
    head = ("model", "group", "3CosAdd", "pair2vec", "both, oracle α", "both, held-out α")
    shown = runs or [_BatsRun(MISSING, {}, {})]
    rows = [
        (
            run.name,
            group,
            *(_percent(run.metrics.get(group, {}).get(score)) for score in SCORES),
            _relative_gain(run.metrics.get(group, {})),
            _PAPER_GAINS.get(group, NOTHING),
        )
        for run in shown
        for group in BATS_GROUPS.values()
    ]
    behind = [run.runs for run in shown for _ in BATS_GROUPS]
    return Grid("Groups (fig:dlie)", (*head, "gain", "paper: gain"), rows, labels=2, runs=behind)


def _relative_gain(scores: Mapping[str, float]) -> str:
    """By how much the combination at the oracle's α is better than 3CosAdd."""
    base, both = scores.get("three_cos_add"), scores.get("oracle_alpha")
    if base is None or both is None:
        return MISSING
    return f"{100 * (both / base - 1):+.0f} %" if base else NOTHING


def _alpha_grid(result: RunResult | None) -> Grid:
    """Accuracy by α: the figure in numbers."""
    title = "Accuracy by α (fig:dlie)"
    if result is None:
        return Grid(title, ("α", *BATS_GROUPS.values()), [(MISSING,) * 5])
    curves = [group["by_alpha"] for group in result["groups"].values()]
    rows = [
        (f"{alpha:.2f}", *map(_percent, values))
        for alpha, *values in zip(result["protocol"]["alphas"], *curves, strict=True)
    ]
    return Grid(f"{title}: {_name(result)}", ("α", *result["groups"]), rows)


def _relations_grid(result: RunResult | None) -> Grid:
    head = ("relation", "paper: 3CosAdd", "paper: both", "paper: α*")
    measured_head = ("3CosAdd", "both, oracle α", "α*")
    measured = result["relations"] if result else {}
    rows = [
        (name, _percent(base), _percent(both), f"{alpha:g}", *_relation(measured.get(bats, {})))
        for bats, (name, base, both, alpha) in _PAPER_RELATIONS.items()
    ]
    title = "Relations that gain most in the paper (tab:top_relations)"
    return Grid(f"{title}: {_name(result)}" if result else title, (*head, *measured_head), rows)


def _relation(accuracy: Mapping[str, Any]) -> tuple[str, ...]:
    alpha = accuracy.get("alphas", {}).get("oracle_alpha")
    scores = (_percent(accuracy.get(name)) for name in ("three_cos_add", "oracle_alpha"))
    return (*scores, MISSING if alpha is None else f"{alpha:g}")


def _percent(value: float | None) -> str:
    return MISSING if value is None else f"{value:.1f}"


def _protocol_text(protocol: Mapping[str, Any]) -> str:
    named = ("vocabulary", "half", "direction", "whitening", "dropped", "questions", "vectors")
    shown = [f"{name} {protocol[name]}" for name in named if protocol.get(name) is not None]
    return ", ".join(shown) or "no protocol is recorded"


def slots_part(results: Sequence[RunResult], recorded: Mapping[str, Any], model: str) -> ReportPart:
    """`tab:kbc_word_prediction`.

    Args:
        results: Of the task slots.
        recorded: The metrics of slots in the config of `model`; {} if there are none.
        model: Its name.
    """
    filled = [{(r["pattern"], r["x"]): r for r in result["rows"]} for result in results]
    names = [str(result["model"]) for result in results] or ["measured"]
    rows = [
        (
            row.relation,
            row.pattern,
            row.x,
            _printed(row),
            *(_filled(answers, row) for answers in filled or [{}]),
        )
        for row in paper_rows()
    ]
    notes = [
        f"The first {SLOT_ANSWERS} words; * marks those that are right, by the paper or by us."
    ]
    notes += [
        f"{name}: {_correct_rows(result)}{_in_file(result)}"
        for name, result in zip(names, results, strict=False)
    ]
    if recorded:
        by_config = {"metrics": recorded, "protocol": recorded}
        notes.append(f"{model}, by its config: {_correct_rows(by_config)}")
    head = ("relation", "pattern", "X", "Y, the paper's", *(f"Y, {name}" for name in names))
    grid = Grid("Slot filling (tab:kbc_word_prediction)", head, rows, labels=len(head))
    return ReportPart("Slots", [grid], notes)


def _printed(row: SlotRow) -> str:
    return ", ".join(f"{word}*" if word in row.paper_correct else word for word in row.paper)


def _filled(answers: Mapping[tuple[str, str], Mapping[str, Any]], row: SlotRow) -> str:
    if (stored := answers.get((row.pattern, row.x))) is None:
        return MISSING
    if stored.get("unknown"):
        return f"unknown: {', '.join(stored['unknown'])}"
    words = [match["word"] for match in stored["matches"]]
    return ", ".join(f"{word}*" if word in stored["right"] else word for word in words)


def _in_file(result: Mapping[str, Any]) -> str:
    """For a table that has a column for each run: which file a column is."""
    return f" ({result['file']})" if "file" in result else ""


def _correct_rows(result: Mapping[str, Any]) -> str:
    metrics, prior = result["metrics"], result["protocol"].get("prior", 0)
    shown = f"a right word in {metrics['right_rows']} of {metrics['rows']} rows"
    return f"{shown}, prior {prior:g}" if prior else shown


_RELATE_COLUMNS = {
    "macro-F1": ("macro_f1",),
    "antonym F1": ("antonym_f1",),
    "synonym or antonym": ("synonym_or_antonym",),
    "calibration error": ("calibration_error",),
    "opposites": ("opposites_called_antonym", "opposites"),
    "synonyms": ("synonyms_called_antonym", "synonyms"),
    "AUC": ("auc",),
    "random pairs": ("random_called_related",),
    "Word tab": ("word_tab_right", "word_tab_entries"),
}
"""By title, a metric of `eval relate`, and the one that it is a count of."""


def relate_parts(results: Sequence[RunResult]) -> list[ReportPart]:
    """Which relation holds between two words; nothing without a run: the paper has no such table.

    Args:
        results: Of the task relate.
    """
    if not results:
        return []
    rows = [
        (str(run["model"]), str(run["protocol"]["predicts"]), *_relate_figures(run["metrics"]))
        for run in results
    ]
    head = ("model", "predicted by", *_RELATE_COLUMNS)
    notes = [
        "In percent, of WordNet's pairs of words that were held out from teaching: F1, its mean "
        "over eight classes, synonyms and antonyms told apart, calibration error. Then pairs of "
        "software talk that are called antonyms: opposites, and synonyms; the AUC between them; "
        "the percentage of random pairs called related; and right entries of the Word tab. "
        "pair2vec eval relate prints the protocol and what is wrong with the data.",
    ]
    behind = [stored_runs([run]) for run in results]
    grid = Grid("Relations of two words", head, rows, labels=2, runs=behind)
    return [ReportPart("Which relation holds", [grid], notes)]


def _relate_figures(metrics: Mapping[str, Any]) -> list[str]:
    shown = {name: str(value) for name, value in metrics.items() if value is not None}
    return [
        " of ".join(shown.get(name, MISSING) for name in names)
        for names in _RELATE_COLUMNS.values()
    ]


def pmi_part(results: Sequence[RunResult]) -> ReportPart:
    """`tab:pmi_generalizations`, with values where triples were counted."""
    triples = [f"{r['x']}, {r['y']}: {r['pattern']}" for r in results] or ["measured"]
    rows = [
        (name, formula, *([_value(key, r["metrics"]) for r in results] or [MISSING]))
        for key, (name, formula) in _MEASURES.items()
    ]
    notes = ["Logarithms are natural; k_x = k_y = 3 and k_c = 2. The paper prints no values."]
    notes += [
        f"{triple}: {r['counts']['xyc']:,} times in a corpus of {r['corpus']['tokens']:,} tokens"
        f"{_in_file(r)}"
        for triple, r in zip(triples, results, strict=False)
    ]
    head = ("measure", "definition", *triples)
    grid = Grid("Generalisations of PMI (tab:pmi_generalizations)", head, rows, labels=2)
    return ReportPart("PMI of three", [grid], notes)


def _value(measure: str, metrics: Mapping[str, float | None]) -> str:
    if measure not in metrics:
        return MISSING
    value = metrics[measure]
    # JSON has no infinity. What never occurs has it, and SI1 falls as the three attract.
    return ("∞" if measure == "si1" else "−∞") if value is None else f"{value:.2f}"


def nli_part(results: Sequence[RunResult]) -> ReportPart:
    """`tab:nli_res` and `tab:glockner_res`: one pair of tables a training set."""
    summaries = nli_summaries(results)
    grids = [grid for summary in summaries for grid in nli_grids(summary, _MULTINLI)]
    notes = [line for summary in summaries for line in nli_protocol(summary)]
    if rows := missing_rows(summaries):
        missing = nli_grids(NliSummary(NliProtocol((), {}), rows), _MULTINLI)[:2]
        grids += [grid._replace(title=f"{grid.title}: not run") for grid in missing]
    return ReportPart(
        "Natural language inference", [grid for grid in grids if grid.rows], [*dict.fromkeys(notes)]
    )


def qa_parts(results: Sequence[RunResult]) -> list[ReportPart]:
    """`tab:qa_res` and `tab:ablations`: one of each a training set."""
    summaries = qa_summaries(results)
    notes = [*dict.fromkeys(line for summary in summaries for line in squad_protocol(summary))]
    return [
        ReportPart("Question answering", [qa_grid(summary) for summary in summaries], notes),
        ReportPart("Ablations", [ablation_grid(summary) for summary in summaries], notes),
    ]


def runs_part(results: Sequence[RunResult]) -> ReportPart:
    """All runs that the report is of, with the commands that reproduce them."""
    head = ("task", "of", "recipe", "seed", "date", "corpus", "command")
    rows = [
        (
            str(run["task"]),
            _subject(run),
            str(run.get("recipe") or _settings(run) or NOTHING),
            NOTHING if run.get("seed") is None else f"{run['seed']}",
            str(run.get("date", NOTHING)),
            _corpus(run),
            str(run.get("command", NOTHING)),
        )
        for run in results
    ]
    notes = ["One file a run, as --results writes it."] if rows else ["No run is stored."]
    # Its rows have their date already.
    behind = [[run._replace(date="") for run in stored_runs([result])] for result in results]
    grid = Grid("Stored runs", head, rows, labels=len(head), runs=behind)
    return ReportPart("Runs", [grid] if rows else [], notes)


def _subject(run: Mapping[str, Any]) -> str:
    if run["task"] == "pmi":
        return f"{run['x']}, {run['y']}: {run['pattern']}"
    parts = (run.get("model"), run.get("pairs"), run.get("words"))
    return ", ".join(str(part) for part in parts if part)


def _settings(run: Mapping[str, Any]) -> str:
    return " ".join(run.get("protocol", {}).get("settings", []))


def _corpus(run: Mapping[str, Any]) -> str:
    """The training data of a pair model or a network."""
    if train := run.get("train"):
        return ", ".join(f"{name} ({count:,})" for name, count in train.items())
    corpus = run.get("corpus") or {}
    tokens = f"{corpus['tokens']:,} tokens: " if corpus.get("tokens") else ""
    return f"{tokens}{', '.join(corpus.get('sources', []))}" or NOTHING


def definitions_part() -> ReportPart:
    """The paper's tables and figure that have nothing to measure, and where they are found."""
    rows = [
        ("tab:patterns", "pairs of words and their contexts", "pair2vec contexts CORPUS hot cold"),
        ("tab:objectives", "the objectives", "pair2vec train: negatives.words=0 is bivariate"),
        ("fig:pair2vec_integration", "pair vectors in attention", "pair2vec.injection"),
    ]
    return ReportPart(
        "Without figures",
        [Grid("Tables without figures", ("", "what", "here"), rows, labels=3)],
        [],
    )

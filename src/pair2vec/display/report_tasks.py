"""The report on what pair vectors are worth to other models, and on the runs themselves."""

from collections.abc import Mapping, Sequence
from typing import Any

from pair2vec.display.grid import NOTHING, Grid
from pair2vec.display.nli_table import nli_grids, nli_protocol
from pair2vec.display.report_part import Part
from pair2vec.display.squad_table import ablation_grid, qa_grid, squad_protocol
from pair2vec.evaluation import nli_summary, squad_summary
from pair2vec.evaluation.results import Result

_MULTINLI = ("multinli_matched", "multinli_mismatched")


def nli_part(results: Sequence[Result]) -> Part:
    """`tab:nli_res` and `tab:glockner_res`: one pair of tables a training set."""
    found = nli_summary.summaries(results)
    grids = [grid for one in found for grid in nli_grids(one, _MULTINLI)]
    notes = [line for one in found for line in nli_protocol(one)]
    if lacking := nli_summary.unrun(found):
        unrun = nli_summary.Summary(nli_summary.Protocol((), {}), lacking)
        missing = nli_grids(unrun, _MULTINLI)[:2]
        grids += [grid._replace(title=f"{grid.title}: not run") for grid in missing]
    return Part(
        "Natural language inference", [grid for grid in grids if grid.rows], [*dict.fromkeys(notes)]
    )


def qa_parts(results: Sequence[Result]) -> list[Part]:
    """`tab:qa_res` and `tab:ablations`: one of each a training set."""
    found = squad_summary.summaries(results)
    notes = [*dict.fromkeys(line for one in found for line in squad_protocol(one))]
    return [
        Part("Question answering", [qa_grid(one) for one in found], notes),
        Part("Ablations", [ablation_grid(one) for one in found], notes),
    ]


def runs_part(results: Sequence[Result]) -> Part:
    """All runs that the report is of, with what made them."""
    head = ("task", "of", "recipe", "seed", "date", "corpus", "command")
    rows = [
        (
            str(run["task"]),
            _subject(run),
            str(run.get("recipe") or " ".join(_settings(run)) or NOTHING),
            NOTHING if run.get("seed") is None else f"{run['seed']}",
            str(run.get("date", NOTHING)),
            _corpus(run),
            str(run.get("command", NOTHING)),
        )
        for run in results
    ]
    notes = ["One file a run, as --results writes it."] if rows else ["No run is stored."]
    return Part("Runs", [Grid("Stored runs", head, rows, labels=len(head))] if rows else [], notes)


def _subject(run: Mapping[str, Any]) -> str:
    if run["task"] == "pmi":
        return f"{run['x']}, {run['y']}: {run['pattern']}"
    parts = (run.get("model"), run.get("pairs"), run.get("words"))
    return ", ".join(str(part) for part in parts if part)


def _settings(run: Mapping[str, Any]) -> list[str]:
    return [*run.get("protocol", {}).get("settings", [])]


def _corpus(run: Mapping[str, Any]) -> str:
    """What a model of pairs, or a network, learnt from."""
    if train := run.get("train"):
        return ", ".join(f"{name} ({count:,})" for name, count in train.items())
    corpus = run.get("corpus") or {}
    tokens = f"{corpus['tokens']:,} tokens: " if corpus.get("tokens") else ""
    return f"{tokens}{', '.join(corpus.get('sources', []))}" or NOTHING


def definitions_part() -> Part:
    """The paper's tables and figure that have nothing to measure, and where they are found."""
    rows = [
        ("tab:patterns", "pairs of words and their contexts", "pair2vec contexts CORPUS hot cold"),
        ("tab:objectives", "the objectives", "pair2vec train: negatives.words=0 is bivariate"),
        ("fig:pair2vec_integration", "pair vectors in attention", "pair2vec.injection"),
    ]
    return Part(
        "Without figures",
        [Grid("Tables without figures", ("", "what", "here"), rows, labels=3)],
        [],
    )

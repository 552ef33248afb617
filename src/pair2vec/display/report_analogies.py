"""The report on analogies: BATS by group, by α, and by relation."""

from collections.abc import Mapping, Sequence
from typing import Any

from pair2vec.display.grid import MISSING, NOTHING, Grid
from pair2vec.display.report_part import Part
from pair2vec.evaluation.accuracy import SCORES
from pair2vec.evaluation.results import Result

_GROUPS = ("inflectional", "derivational", "encyclopedic", "lexicographic")
_PAPER_GAINS = {"encyclopedic": "+356 %", "lexicographic": "+51 %"}
"""What the paper's text says of its figure: by how much both are better than 3CosAdd."""

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
"""`tab:top_relations`, by BATS's name: the paper's name, 3CosAdd, both, and the best α."""


def analogies_part(results: Sequence[Result], recorded: Mapping[str, Any], model: str) -> Part:
    """`fig:dlie` and `tab:top_relations`.

    Args:
        results: Of the task bats.
        recorded: What the config of `model` says of BATS; {} if nothing.
        model: Its name, which counts where no result is of it.
    """
    exams = [(_name(result), result["metrics"], result["protocol"]) for result in results]
    if recorded and model not in {result["model"] for result in results}:
        exams.append((f"{model} (its config)", recorded, recorded.get("protocol", {})))
    # The figure is of one exam: that of this model, if there is one.
    whole = sorted(filter(_has_curves, results), key=lambda result: result["model"] != model)
    return Part(
        "Analogies: BATS",
        [_groups(exams), _alphas(whole), _relations(whole)],
        [
            "Right answers in percent. Oracle α is the best for the very questions of a relation, "
            "as in the paper; held-out α the best for the other relations of its group.",
            *(f"{name}: {_exam_protocol(protocol)}" for name, _, protocol in exams),
            "Paper: 100,000 words of the whole English Wikipedia of 2018; it prints a figure, of "
            "which its text says the two gains that are shown.",
        ],
        {n: g["by_alpha"] for n, g in whole[0]["groups"].items()} if whole else {},
    )


def _name(result: Mapping[str, Any]) -> str:
    half = result["protocol"].get("half")
    return f"{result['model']} (half “{half}”)" if half else str(result["model"])


def _has_curves(result: Mapping[str, Any]) -> bool:
    groups = result.get("groups", {}).values()
    return bool(groups) and all(group.get("by_alpha") for group in groups)


def _groups(exams: Sequence[tuple[str, Mapping[str, Any], Mapping[str, Any]]]) -> Grid:
    head = ("model", "group", "3CosAdd", "pair2vec", "both, oracle α", "both, held-out α")
    rows = [
        (
            name,
            group,
            *(_percent(metrics.get(group, {}).get(score)) for score in SCORES),
            _gain(metrics.get(group, {})),
            _PAPER_GAINS.get(group, NOTHING),
        )
        for name, metrics, _ in exams or [(MISSING, {}, {})]
        for group in _GROUPS
    ]
    return Grid("Groups (fig:dlie)", (*head, "gain", "paper: gain"), rows, labels=2)


def _gain(scores: Mapping[str, float]) -> str:
    """By how much both, by the oracle's α, are better than 3CosAdd."""
    base, both = scores.get("three_cos_add"), scores.get("oracle_alpha")
    if base is None or both is None:
        return MISSING
    return f"{100 * (both / base - 1):+.0f} %" if base else NOTHING


def _alphas(results: Sequence[Result]) -> Grid:
    """Accuracy by α: the figure in numbers."""
    if not results:
        return Grid("Accuracy by α (fig:dlie)", ("α", *_GROUPS), [(MISSING,) * 5])
    found = results[0]
    groups = found["groups"]
    curves = [groups[name]["by_alpha"] for name in groups]
    rows = [
        (f"{alpha:.2f}", *map(_percent, values))
        for alpha, *values in zip(found["protocol"]["alphas"], *curves, strict=True)
    ]
    return Grid(f"Accuracy by α (fig:dlie): {_name(found)}", ("α", *groups), rows)


def _relations(results: Sequence[Result]) -> Grid:
    head = ("relation", "paper: 3CosAdd", "paper: both", "paper: α*")
    own = ("3CosAdd", "both, oracle α", "α*")
    measured = results[0]["relations"] if results else {}
    rows = [
        (name, _percent(base), _percent(both), f"{alpha:g}", *_relation(measured.get(bats, {})))
        for bats, (name, base, both, alpha) in _PAPER_RELATIONS.items()
    ]
    title = "Relations that gain most in the paper (tab:top_relations)"
    return Grid(f"{title}: {_name(results[0])}" if results else title, (*head, *own), rows)


def _relation(found: Mapping[str, Any]) -> tuple[str, ...]:
    alpha = found.get("alphas", {}).get("oracle_alpha")
    scores = (_percent(found.get(name)) for name in ("three_cos_add", "oracle_alpha"))
    return (*scores, MISSING if alpha is None else f"{alpha:g}")


def _percent(value: float | None) -> str:
    return MISSING if value is None else f"{value:.1f}"


def _exam_protocol(protocol: Mapping[str, Any]) -> str:
    named = ("vocabulary", "half", "direction", "whitening", "dropped", "questions", "vectors")
    shown = [f"{name} {protocol[name]}" for name in named if protocol.get(name) is not None]
    return ", ".join(shown) or "no protocol is recorded"

"""The report on PMI of three: the paper's definitions, and values of triples that were counted."""

from collections.abc import Mapping, Sequence

from pair2vec.display.grid import MISSING, Grid
from pair2vec.display.report_part import Part
from pair2vec.evaluation.results import Result

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


def pmi_part(results: Sequence[Result]) -> Part:
    """`tab:pmi_generalizations`, with values where triples were counted."""
    triples = [f"{r['x']}, {r['y']}: {r['pattern']}" for r in results] or ["measured"]
    rows = [
        (name, formula, *([_value(key, r["metrics"]) for r in results] or [MISSING]))
        for key, (name, formula) in _MEASURES.items()
    ]
    notes = ["Logarithms are natural; k_x = k_y = 3 and k_c = 2. The paper prints no values."]
    notes += [
        f"{triple}: {r['counts']['xyc']:,} times in a corpus of {r['corpus']['tokens']:,} tokens"
        for triple, r in zip(triples, results, strict=False)
    ]
    head = ("measure", "definition", *triples)
    grid = Grid("Generalisations of PMI (tab:pmi_generalizations)", head, rows, labels=2)
    return Part("PMI of three", [grid], notes)


def _value(measure: str, metrics: Mapping[str, float | None]) -> str:
    if measure not in metrics:
        return MISSING
    value = metrics[measure]
    # JSON has no infinity. What never occurs has it, and SI1 falls as the three attract.
    return ("∞" if measure == "si1" else "−∞") if value is None else f"{value:.2f}"

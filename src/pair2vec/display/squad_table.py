"""Question answering: many runs beside the paper's figures."""

from collections.abc import Mapping, Sequence

from rich.console import Group
from rich.text import Text

from pair2vec.display.grid import (
    MISSING,
    NOTHING,
    Grid,
    counted,
    figure,
    gain,
    grid_table,
    said_of_most,
)
from pair2vec.evaluation.results import Spread
from pair2vec.evaluation.squad_sets import SETS
from pair2vec.evaluation.squad_summary import (
    BEST,
    METRICS,
    PAPER_ABLATIONS,
    PAPER_QA,
    Row,
    Summary,
)

_MODELS = {
    "none": "BiDAF++",
    "pair2vec": "BiDAF++ + pair2vec",
    "wordnet": "BiDAF++ + WordNet",
}
_ABLATIONS = {
    "pair2vec": "pair2vec (full model)",
    "2_layers": "composition: 2 layers",
    "multiply": "composition: multiply",
    "bivariate": "objective: bivariate NS",
    "pair_distance": "unsupervised: PairDistance",
    "none": "no pair2vec (BiDAF++)",
}


def squad_tables(summary: Summary) -> Group:
    """The paper's `tab:qa_res` and `tab:ablations`, measured beside printed."""
    notes = Text("\n".join(squad_protocol(summary)), style="dim")
    return Group(grid_table(qa_grid(summary)), grid_table(ablation_grid(summary)), notes)


def qa_grid(summary: Summary) -> Grid:
    """`tab:qa_res`: the paper's two rows and their difference, then ours."""
    shown = [f"{SETS[name]} {measure.upper()}" for name, measure in map(_split, METRICS)]
    head = ("words", "model", *shown, f"{SETS['squad2']} best F1", "runs")
    base, full = PAPER_QA["none"], PAPER_QA["pair2vec"]
    rows = [
        ("paper: ELMo", _MODELS["none"], *map(_printed, base), NOTHING, NOTHING),
        ("paper: ELMo", _MODELS["pair2vec"], *map(_printed, full), NOTHING, NOTHING),
        (
            "paper: ELMo",
            "difference",
            *(f"{one - other:+.2f}" for one, other in zip(full, base, strict=True)),
            *(NOTHING, NOTHING),
        ),
    ]
    others = [row.pairs for row in summary.rows if row.pairs not in PAPER_ABLATIONS]
    found = summary.of([*PAPER_QA, *dict.fromkeys(others)])
    for words in dict.fromkeys(row.words for row in found):
        rows += _measured([row for row in found if row.words == words])
    return Grid("Question answering (tab:qa_res)", head, rows, labels=2)


def _measured(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Rows of one word input, each model but the base followed by what it gains."""
    shown: list[tuple[str, ...]] = []
    for row in rows:
        base = _base(row, rows)
        figures = [row.figures.get(name) for name in (*METRICS, BEST)]
        runs = counted([*row.figures.values()])
        words = row.words or NOTHING
        shown.append((words, _named(_MODELS, row), *map(figure, figures), runs))
        if row.pairs != "none":
            gains = (gain(row.figures.get(name), base.get(name)) for name in (*METRICS, BEST))
            shown.append((words, "difference", *gains, NOTHING))
    return shown


def _base(row: Row, rows: Sequence[Row]) -> Mapping[str, Spread]:
    """What a row is compared with: the base model of the same variant, or the plain one."""
    bases = [other for other in rows if other.pairs == "none"]
    same = [other for other in bases if other.note == row.note]
    return next((other.figures for other in (*same, *bases)), {})


def ablation_grid(summary: Summary) -> Grid:
    """`tab:ablations`: printed and measured, each with its distance to the full model's F1."""
    head = (
        *("words", "model", "paper: EM", "paper: F1", "paper: ΔF1"),
        *("measured: EM", "measured: F1", "measured: ΔF1", "runs"),
    )
    rows = []
    for row in summary.of([*_ABLATIONS]):
        em, f1 = PAPER_ABLATIONS[row.pairs]
        full = _full(summary, row.words)
        own = [row.figures.get(f"squad2_{name}") for name in ("em", "f1")]
        rows.append(
            (
                row.words or NOTHING,
                _named(_ABLATIONS, row),
                *(_printed(em), _printed(f1), f"{f1 - PAPER_ABLATIONS['pair2vec'][1]:+.2f}"),
                *map(figure, own),
                gain(own[1], full),
                counted([*row.figures.values()]),
            )
        )
    return Grid("Ablations on the dev set of SQuAD 2.0 (tab:ablations)", head, rows, labels=2)


def _full(summary: Summary, words: str | None) -> Spread | None:
    """F1 of the full model with the same words; of its variants, of the first."""
    rows = [row for row in summary.of(["pair2vec"]) if row.words == words]
    return rows[0].figures.get("squad2_f1") if rows else None


def squad_protocol(summary: Summary) -> list[str]:
    """What every figure depends on."""
    learnt = " + ".join(f"{count:,} of {name}" for name, count in summary.train) or MISSING
    tested = ", ".join(f"{SETS.get(n, n)} {count:,}" for n, count in summary.examples.items())
    chosen = ", ".join(summary.dev)
    return [
        f"Measured: trained on {learnt}; tested on {tested or MISSING} questions. EM and F1 of "
        "SQuAD's official program in percent, mean ±standard deviation over runs."
        f"{said_of_most(summary.usual)}",
        "SQuAD 2.0: nothing is said where no answer scores higher than the best span (threshold 0, "
        "not chosen); best F1 is at the threshold that is best for the very questions.",
        "AddSent and AddOneSent: the worst of each question's adversaries; all these questions "
        "have an answer, and the best span is always said.",
        *([f"The best weights were chosen by questions of {chosen}."] if chosen else []),
        "Paper: trained on all of SQuAD 2.0, words by ELMo; its two tables are of different runs.",
    ]


def _named(names: Mapping[str, str], row: Row) -> str:
    name = names.get(row.pairs, f"BiDAF++ + {row.pairs}")
    return f"{name} ({row.note})" if row.note else name


def _split(metric: str) -> tuple[str, str]:
    """A metric's set and measure."""
    name, _, measure = metric.rpartition("_")
    return name, measure


def _printed(value: float) -> str:
    return f"{value:.2f}"

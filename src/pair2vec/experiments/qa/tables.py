"""Tables of QA results: one evaluation, and means over seeds beside the paper's figures."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rich.console import Group
from rich.text import Text

from pair2vec.experiments.evaluation.results import RunGroup, Spread, by_note, group_runs, spreads
from pair2vec.experiments.qa.results import ablation_of
from pair2vec.experiments.qa.squad import SQUAD_SETS, SetScores, SquadScores
from pair2vec.experiments.report.data_faults import data_faults
from pair2vec.experiments.report.grid import (
    MISSING,
    NOTHING,
    Grid,
    StoredRun,
    count_seeds,
    format_gain,
    format_spread,
    grid_table,
    stored_runs,
    usual_settings_sentence,
)

QA_METRICS = (
    *("squad2_em", "squad2_f1"),
    *("add_sent_em", "add_sent_f1"),
    *("add_one_sent_em", "add_one_sent_f1"),
)
"""In the order of the table."""

PAPER_QA = {
    "none": (65.66, 68.86, 37.50, 42.55, 48.20, 54.02),
    "pair2vec": (68.02, 71.58, 44.20, 49.69, 53.30, 60.13),
}
"""`tab:qa_res`: `QA_METRICS` by pair source, all with ELMo."""

PAPER_ABLATIONS = {
    "pair2vec": (69.20, 72.68),
    "2_layers": (68.35, 71.65),
    "multiply": (67.10, 70.20),
    "bivariate": (68.63, 71.98),
    "pair_distance": (67.07, 70.24),
    "none": (66.66, 69.90),
}
"""`tab:ablations`: EM and F1 on the dev set of SQuAD 2.0 by pair source, all with ELMo."""

BEST_F1 = "squad2_best_f1"
"""At the best threshold for the very questions, which the paper does not print."""


class QaRow(NamedTuple):
    """The runs of one model."""

    words: str | None
    """None without any run."""
    pairs: str
    figures: dict[str, Spread]
    """By metric; empty without runs."""
    note: str
    """What distinguishes it from others of its pairs and words."""
    runs: tuple[StoredRun, ...] = ()


class QaSummary(NamedTuple):
    """The runs that were trained on the same questions; rows for all that the paper has."""

    train: tuple[tuple[str, int], ...]
    """Files, and how many questions of each."""
    examples: dict[str, int]
    """By test set, how many."""
    dev: tuple[str, ...]
    """Files that the best weights were selected by."""
    rows: list[QaRow]
    usual: tuple[str, ...]
    """Settings of most runs that are not the default."""

    def select(self, pairs: Sequence[str]) -> list[QaRow]:
        """The rows of some pair sources, in their order."""
        return [row for name in pairs for row in self.rows if row.pairs == name]


def qa_summaries(results: Sequence[Mapping[str, Any]]) -> list[QaSummary]:
    """A summary for each set of training questions; an empty one without results."""
    return [_summary(group) for group in group_runs(results)]


def _summary(group: RunGroup) -> QaSummary:
    train, runs = group
    usual = group.usual
    rows = [
        row
        for words in sorted({run.get("words") for run in runs}, key=str) or [None]
        for pairs in dict.fromkeys([*PAPER_ABLATIONS, *map(_pairs, runs)])
        for row in _rows(words, pairs, runs, usual)
    ]
    dev = dict.fromkeys(name for run in runs for name in run.get("protocol", {}).get("dev", {}))
    return QaSummary(train, group.examples, (*dev,), rows, usual)


def _rows(
    words: str | None, pairs: str, runs: Sequence[Mapping[str, Any]], usual: Sequence[str]
) -> list[QaRow]:
    """A row per variant; without runs, an empty one if the paper has it."""
    own = [run for run in runs if run.get("words") == words and _pairs(run) == pairs]
    variants = by_note(own, usual) or ({"": []} if pairs in PAPER_ABLATIONS else {})
    return [
        QaRow(
            words,
            pairs,
            spreads((run.get("seed"), run["metrics"]) for run in noted),
            note,
            stored_runs(noted),
        )
        for note, noted in variants.items()
    ]


def _pairs(run: Mapping[str, Any]) -> str:
    """A run's pair source; the ablation where it is one."""
    name = str(run["pairs"])
    return ablation_of(name) or name


_NOTES = (
    "EM and F1 of SQuAD's official program in percent. AddSent and AddOneSent: the worst of each "
    "question's adversaries. Where all questions of a set have an answer, one is always given."
)


def score_table(scores: Mapping[str, SetScores]) -> Group:
    """EM and F1 of each set of one evaluation, and the parts of SQuAD 2.0."""
    rows = [
        row
        for name, score in scores.items()
        for row in _score_rows(SQUAD_SETS.get(name, name), score)
    ]
    grid = Grid("", ("set", "questions", "EM", "F1"), rows)
    return Group(grid_table(grid), Text(_NOTES, style="dim"))


def _score_rows(name: str, scores: SetScores) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        (name, f"{scores.n:,}", _percent(scores.em), _percent(scores.f1))
    ]
    if isinstance(scores, SquadScores) and scores.no_answer_em is not None:
        em, f1 = scores.best_em, scores.best_f1
        none = _percent(scores.no_answer_em)
        best = f"– best thresholds ({em.threshold:.2f}, {f1.threshold:.2f})"
        rows += [
            (
                "– with an answer",
                "",
                _percent(scores.has_answer_em),
                _percent(scores.has_answer_f1),
            ),
            ("– without", "", none, none),
            (best, "", _percent(em.value), _percent(f1.value)),
        ]
    return rows


def _percent(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"


_MODELS = {
    "none": "BiDAF++",
    "pair2vec": "BiDAF++ + pair2vec",
    "wordnet": "BiDAF++ + WordNet features",
}
_ABLATIONS = {
    "pair2vec": "pair2vec (full model)",
    "2_layers": "composition: 2 layers",
    "multiply": "composition: multiply",
    "bivariate": "objective: bivariate NS",
    "pair_distance": "unsupervised: PairDistance",
    "none": "no pair2vec (BiDAF++)",
}


def squad_tables(summary: QaSummary) -> Group:
    """The paper's `tab:qa_res` and `tab:ablations` beside our runs, for a terminal."""
    notes = Text("\n".join(squad_protocol(summary)), style="dim")
    return Group(grid_table(qa_grid(summary)), grid_table(ablation_grid(summary)), notes)


def qa_grid(summary: QaSummary) -> Grid:
    """`tab:qa_res`: the paper's two rows and their difference, then ours."""
    metrics = [f"{SQUAD_SETS[name]} {metric.upper()}" for name, metric in map(_split, QA_METRICS)]
    head = ("words", "model", *metrics, f"{SQUAD_SETS['squad2']} best F1", "seeds")
    base, full = PAPER_QA["none"], PAPER_QA["pair2vec"]
    rows = [
        ("paper: ELMo", _MODELS["none"], *map(_two_digits, base), NOTHING, NOTHING),
        ("paper: ELMo", _MODELS["pair2vec"], *map(_two_digits, full), NOTHING, NOTHING),
        (
            "paper: ELMo",
            "difference",
            *(f"{paired - alone:+.2f}" for paired, alone in zip(full, base, strict=True)),
            *(NOTHING, NOTHING),
        ),
    ]
    others = [row.pairs for row in summary.rows if row.pairs not in PAPER_ABLATIONS]
    ours = summary.select([*PAPER_QA, *dict.fromkeys(others)])
    runs: list[tuple[StoredRun, ...]] = [()] * len(rows)
    for words in dict.fromkeys(row.words for row in ours):
        for cells, behind in _measured([row for row in ours if row.words == words]):
            rows.append(cells)
            runs.append(behind)
    return Grid("Question answering (tab:qa_res)", head, rows, labels=2, runs=runs)


def _measured(
    rows: Sequence[QaRow],
) -> Iterator[tuple[tuple[str, ...], tuple[StoredRun, ...]]]:
    """Rows of one word input and their runs, each model but the base followed by its gain."""
    for row in rows:
        base = _base(row, rows)
        figures = [row.figures.get(name) for name in (*QA_METRICS, BEST_F1)]
        seeds = count_seeds([*row.figures.values()])
        words = row.words or NOTHING
        yield (words, _named(_MODELS, row), *map(format_spread, figures), seeds), row.runs
        if row.pairs != "none":
            gains = (
                format_gain(row.figures.get(name), base.get(name))
                for name in (*QA_METRICS, BEST_F1)
            )
            yield (words, "difference", *gains, NOTHING), ()


def _base(row: QaRow, rows: Sequence[QaRow]) -> Mapping[str, Spread]:
    """The figures of the base model of the same variant, or of any."""
    bases = [other for other in rows if other.pairs == "none"]
    same = [other for other in bases if other.note == row.note]
    return next((other.figures for other in (*same, *bases)), {})


def ablation_grid(summary: QaSummary) -> Grid:
    """`tab:ablations`: the paper's figures and ours, each with its distance to the full model."""
    head = (
        *("words", "model", "paper: EM", "paper: F1", "paper: ΔF1"),
        *("measured: EM", "measured: F1", "measured: ΔF1", "seeds"),
    )
    rows = []
    shown = summary.select([*_ABLATIONS])
    for row in shown:
        em, f1 = PAPER_ABLATIONS[row.pairs]
        full = _full(summary, row)
        own = [row.figures.get(f"squad2_{name}") for name in ("em", "f1")]
        rows.append(
            (
                row.words or NOTHING,
                _named(_ABLATIONS, row),
                *(_two_digits(em), _two_digits(f1), f"{f1 - PAPER_ABLATIONS['pair2vec'][1]:+.2f}"),
                *map(format_spread, own),
                format_gain(own[1], full),
                count_seeds([*row.figures.values()]),
            )
        )
    title = "Ablations on the dev set of SQuAD 2.0 (tab:ablations)"
    return Grid(title, head, rows, labels=2, runs=[row.runs for row in shown])


def _full(summary: QaSummary, row: QaRow) -> Spread | None:
    """F1 of the full model with the same words: of the same variant, or of its first."""
    rows = [full for full in summary.select(["pair2vec"]) if full.words == row.words]
    same = [full for full in rows if _settings_noted(full) == _settings_noted(row)]
    return next((full.figures.get("squad2_f1") for full in (*same, *rows)), None)


def _settings_noted(row: QaRow) -> list[str]:
    """Which pair model it is does not make a variant: that is what is compared."""
    return [part for part in row.note.split() if not part.startswith("pair_model=")]


def squad_protocol(summary: QaSummary) -> list[str]:
    """How the figures were measured, line by line."""
    files = " + ".join(f"{count:,} of {name}" for name, count in summary.train) or MISSING
    tested = ", ".join(f"{SQUAD_SETS.get(n, n)} {count:,}" for n, count in summary.examples.items())
    chosen = ", ".join(summary.dev)
    return [
        f"Measured: trained on {files}; tested on {tested or MISSING} questions. EM and F1 of "
        "SQuAD's official program in percent, mean ±standard deviation over seeds."
        f"{usual_settings_sentence(summary.usual)}",
        "SQuAD 2.0: the prediction is empty where no answer scores higher than the best span "
        "(threshold 0, not tuned); best F1 is at the best threshold for the very questions.",
        "AddSent and AddOneSent: the worst of each question's adversaries; all these questions "
        "have an answer, and the best span is always the prediction.",
        *data_faults("qa", [name for name, _ in summary.train]),
        *([f"The best weights were chosen by questions of {chosen}."] if chosen else []),
        "Paper: trained on all of SQuAD 2.0, words by ELMo; its two tables are of different runs.",
    ]


def _named(names: Mapping[str, str], row: QaRow) -> str:
    name = names.get(row.pairs, f"BiDAF++ + {row.pairs}")
    return f"{name} ({row.note})" if row.note else name


def _split(metric: str) -> tuple[str, str]:
    """The test set of a metric, and EM or F1."""
    name, _, kind = metric.rpartition("_")
    return name, kind


def _two_digits(value: float) -> str:
    return f"{value:.2f}"

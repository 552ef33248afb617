"""The scores of one run in question answering."""

from collections.abc import Mapping

from rich.console import Group
from rich.text import Text

from pair2vec.display.grid import NOTHING, Grid, grid_table
from pair2vec.evaluation.squad import SquadScores
from pair2vec.evaluation.squad_sets import SETS, SetScores

_NOTES = (
    "EM and F1 of SQuAD's official program in percent. AddSent and AddOneSent: the worst of each "
    "question's adversaries. Where all questions of a set have an answer, one is always given."
)


def squad_scores(scores: Mapping[str, SetScores]) -> Group:
    """EM and F1 of each set; of SQuAD 2.0 what they are made of."""
    rows = [row for name, one in scores.items() for row in _rows(SETS.get(name, name), one)]
    grid = Grid("", ("set", "questions", "EM", "F1"), rows)
    return Group(grid_table(grid), Text(_NOTES, style="dim"))


def _rows(name: str, scores: SetScores) -> list[tuple[str, ...]]:
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

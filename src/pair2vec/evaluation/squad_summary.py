"""What the results of question answering say together, beside the paper's figures."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pair2vec.evaluation.results import Spread, by_note, spreads, usual_settings
from pair2vec.evaluation.squad_results import ABLATIONS

METRICS = (
    *("squad2_em", "squad2_f1"),
    *("add_sent_em", "add_sent_f1"),
    *("add_one_sent_em", "add_one_sent_f1"),
)
"""In the order of the table."""

PAPER_QA = {
    "none": (65.66, 68.86, 37.50, 42.55, 48.20, 54.02),
    "pair2vec": (68.02, 71.58, 44.20, 49.69, 53.30, 60.13),
}
"""`tab:qa_res`: by pairs, `METRICS`; all with ELMo."""

PAPER_ABLATIONS = {
    "pair2vec": (69.20, 72.68),
    "2_layers": (68.35, 71.65),
    "multiply": (67.10, 70.20),
    "bivariate": (68.63, 71.98),
    "pair_distance": (67.07, 70.24),
    "none": (66.66, 69.90),
}
"""`tab:ablations`: by pairs, EM and F1 on the dev set of SQuAD 2.0; all with ELMo."""


BEST = "squad2_best_f1"
"""At the threshold that is best for the very questions, which the paper does not print."""


class Row(NamedTuple):
    """The runs of one model."""

    words: str | None
    """None of runs that are missing altogether."""
    pairs: str
    figures: dict[str, Spread]
    """By metric; none for a run that is missing."""
    note: str
    """What sets it apart from others of its pairs and words."""


class Summary(NamedTuple):
    """The runs that learnt from the same questions; rows for all that the paper has."""

    train: tuple[tuple[str, int], ...]
    """Files, and how many questions of each."""
    examples: dict[str, int]
    """Of each set that was tested on."""
    dev: tuple[str, ...]
    """Files that the best weights were chosen by."""
    rows: list[Row]
    usual: tuple[str, ...]
    """Settings of most runs that are not the default."""

    def of(self, pairs: Sequence[str]) -> list[Row]:
        """The rows of some pairs, in their order."""
        return [row for name in pairs for row in self.rows if row.pairs == name]


def summaries(results: Sequence[Mapping[str, Any]]) -> list[Summary]:
    """Results that were trained on the same questions, together; one of none if there are none."""
    by_train: dict[tuple[tuple[str, int], ...], list[Mapping[str, Any]]] = {}
    for result in results:
        by_train.setdefault(tuple(sorted(result.get("train", {}).items())), []).append(result)
    return [_summary(train, found) for train, found in (by_train or {(): []}).items()]


def _summary(train: tuple[tuple[str, int], ...], runs: Sequence[Mapping[str, Any]]) -> Summary:
    usual = usual_settings(runs)
    rows = [
        row
        for words in sorted({run.get("words") for run in runs}, key=str) or [None]
        for pairs in dict.fromkeys([*PAPER_ABLATIONS, *map(_pairs, runs)])
        for row in _rows(words, pairs, runs, usual)
    ]
    sizes: dict[str, int] = {}
    for run in runs:
        sizes |= run.get("protocol", {}).get("examples", {})
    dev = dict.fromkeys(name for run in runs for name in run.get("protocol", {}).get("dev", {}))
    return Summary(train, sizes, (*dev,), rows, usual)


def _rows(
    words: str | None, pairs: str, runs: Sequence[Mapping[str, Any]], usual: Sequence[str]
) -> list[Row]:
    """One a variant; where there is no run, an empty one for what the paper has."""
    own = [run for run in runs if run.get("words") == words and _pairs(run) == pairs]
    variants = by_note(own, usual) or ({"": []} if pairs in PAPER_ABLATIONS else {})
    return [
        Row(words, pairs, spreads([run["metrics"] for run in found]), note)
        for note, found in variants.items()
    ]


def _pairs(run: Mapping[str, Any]) -> str:
    """Ablations by the end of their recipe's name: ``paper_multiply`` is ``multiply``."""
    name = str(run["pairs"])
    return next((ablation for ablation in ABLATIONS if name.endswith(ablation)), name)

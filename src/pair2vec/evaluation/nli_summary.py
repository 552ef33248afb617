"""What the results of NLI runs say together: runs of one model, models beside the paper's."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pair2vec.evaluation.nli import RULE
from pair2vec.evaluation.results import Spread, by_note, spreads, usual_settings

PAIRS = ("none", "wordnet", "pair_distance", "pair2vec")
"""The paper's, in the order of the tables."""

BEYOND = ("pair2vec+wordnet",)
"""Not the paper's, but in its tables where there are runs."""

DEV = "dev"
"""In the place of a set: the examples that the best weights were chosen by."""

PAPER = {
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


class Row(NamedTuple):
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


class Protocol(NamedTuple):
    """What runs must share to stand in one table."""

    train: tuple[tuple[str, int], ...]
    """Files and how many examples of each."""
    examples: dict[str, int]
    """Of each set that was tested on."""
    usual: tuple[str, ...] = ()
    """Settings of most runs that are not the default."""


class Summary(NamedTuple):
    """Rows for all combinations that the paper has, whether they were run or not."""

    protocol: Protocol
    rows: list[Row]


def summaries(results: Sequence[Mapping[str, Any]]) -> list[Summary]:
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
) -> Summary:
    rows, usual = [_row(None, RULE, rule)], usual_settings(trained)
    kinds = dict.fromkeys([*PAIRS, *BEYOND, *(result["pairs"] for result in trained)])
    for words in sorted({result["words"] for result in trained}):
        for pairs in kinds:
            runs = [r for r in trained if r["words"] == words and r["pairs"] == pairs]
            rows += _variants(words, pairs, runs, usual)
    sizes: dict[str, int] = {}
    for result in (*trained, *rule):
        sizes |= result.get("protocol", {}).get("examples", {})
    return Summary(Protocol(train, sizes, usual), rows)


def _variants(
    words: str, pairs: str, runs: Sequence[Mapping[str, Any]], usual: Sequence[str]
) -> list[Row]:
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
) -> Row:
    dev = [run.get("protocol", {}).get("dev_score") for run in runs]
    figures = [{DEV: score, **run["metrics"]} for score, run in zip(dev, runs, strict=True)]
    by_category = [found.get("breaking_nli_by_category", {}) for found in figures]
    return Row(words, model, spreads(figures), spreads(by_category), note, is_attempt)


def kind_of_words(words: str | None) -> str | None:
    """As the paper calls it: GloVe or ELMo; None for others, of which it says nothing."""
    name = (words or "").lower()
    return "GloVe" if "glove" in name else "ELMo" if "elmo" in name else None


def printed(name: str, row: Row) -> float | None:
    """What the paper prints of a set for a row, if anything."""
    return PAPER.get((name, kind_of_words(row.words), row.model))


def unrun(found: Sequence[Summary]) -> list[Row]:
    """The paper's rows of which no run is in any summary."""
    run = {(kind_of_words(r.words), r.model) for one in found for r in one.rows if r.figures}
    rows = dict.fromkeys((words, model) for _, words, model in PAPER)
    return [Row(words, model, {}, {}, "") for words, model in rows if (words, model) not in run]

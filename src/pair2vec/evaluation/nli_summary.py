"""What the results of NLI runs say together: runs of one model, models beside the paper's."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pair2vec.evaluation.nli import RULE
from pair2vec.evaluation.results import Spread, by_note, shared_settings, spreads

PAIRS = ("none", "wordnet", "pair_distance", "pair2vec")
"""In the order of the tables."""

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
    """`RULE`, or one of `PAIRS`."""
    figures: dict[str, Spread]
    """By set; none for a run that is missing."""
    categories: dict[str, Spread]
    """Of Breaking NLI."""
    note: str
    """What sets it apart from others of its pairs and words."""


class Protocol(NamedTuple):
    """What runs must share to stand in one table."""

    train: tuple[tuple[str, int], ...]
    """Files and how many examples of each."""
    examples: dict[str, int]
    """Of each set that was tested on."""
    shared: tuple[str, ...] = ()
    """Settings of all runs that are not the default."""


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
    rows, shared = [_row(None, RULE, rule, "")], shared_settings(trained)
    for words in sorted({result["words"] for result in trained}):
        for pairs in PAIRS:
            runs = [r for r in trained if r["words"] == words and r["pairs"] == pairs]
            variants = by_note(runs, shared) or {"": []}
            rows += [_row(words, pairs, found, note) for note, found in variants.items()]
    sizes: dict[str, int] = {}
    for result in (*trained, *rule):
        sizes |= result.get("protocol", {}).get("examples", {})
    return Summary(Protocol(train, sizes, shared), rows)


def _row(words: str | None, model: str, runs: Sequence[Mapping[str, Any]], note: str) -> Row:
    metrics = [run["metrics"] for run in runs]
    by_category = [found.get("breaking_nli_by_category", {}) for found in metrics]
    return Row(words, model, spreads(metrics), spreads(by_category), note)


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

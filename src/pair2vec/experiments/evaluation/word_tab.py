"""The entries of the explorer's Word tab, judged by hand: ``data/word_tab.toml``."""

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import Literal, NamedTuple

from pair2vec.api import Pair2vec
from pair2vec.experiments.report.grid import Grid, ReportPart

WORD_TAB_ENTRIES = 12
"""How many entries of each word are judged: half of those that the page shows."""
WORD_TAB_PATH = "pair2vec/experiments/evaluation/data/word_tab.toml"
"""Where a reader finds the rule."""

Verdict = Literal["right", "wrong", "unjudged"]
_MARKS = {"right": "", "wrong": " ✗", "unjudged": " ?"}


class JudgedWord(NamedTuple):
    """A word, and which entries of its list are right and wrong: (relation, y)."""

    word: str
    right: frozenset[tuple[str, str]]
    wrong: frozenset[tuple[str, str]]

    def judge(self, relation: str, word: str) -> Verdict:
        entry = (relation, word)
        if entry in self.right:
            return "right"
        return "wrong" if entry in self.wrong else "unjudged"


class TabEntry(NamedTuple):
    """One line of the Word tab, judged."""

    x: str
    relation: str
    y: str
    probability: float
    judgement: Verdict


class WordTabScores(NamedTuple):
    """The entries that a model shows now."""

    entries: list[TabEntry]
    unknown: list[str]
    """Words that the model does not know, which have no entries."""

    def count(self, judgement: Verdict) -> int:
        return sum(entry.judgement == judgement for entry in self.entries)

    def to_json(self) -> dict[str, object]:
        """As ``--json`` prints it."""
        return {
            "entries": len(self.entries),
            "right": self.count("right"),
            "unjudged": self.count("unjudged"),
            "unknown": self.unknown,
            "judged": [entry._asdict() for entry in self.entries],
        }


def read_word_tab() -> list[JudgedWord]:
    """The words and their judged entries."""
    rows = tomllib.loads((files("pair2vec") / WORD_TAB_PATH.partition("/")[2]).read_text())["row"]
    return [JudgedWord(row["word"], _entries(row["right"]), _entries(row["wrong"])) for row in rows]


def _entries(texts: Sequence[str]) -> frozenset[tuple[str, str]]:
    pairs = (text.split() for text in texts)
    return frozenset((relation, word) for relation, word in pairs)


def score_word_tab(model: Pair2vec, words: Sequence[JudgedWord]) -> WordTabScores:
    """Judge the entries that the explorer's Word tab shows first, by the same query."""
    relations = model.relations()
    known = [judged for judged in words if judged.word in model.vocabulary]
    entries = [
        TabEntry(
            judged.word,
            match.relation,
            match.word,
            round(match.score, 4),
            judged.judge(match.relation, match.word),
        )
        for judged in known
        for match in relations.typed_neighbours(judged.word, top=WORD_TAB_ENTRIES)
    ]
    return WordTabScores(entries, [judged.word for judged in words if judged not in known])


def word_tab_part(scores: WordTabScores) -> ReportPart:
    """For a terminal: each word's entries, those that are not right marked."""
    by_word: dict[str, list[TabEntry]] = {}
    for entry in scores.entries:
        by_word.setdefault(entry.x, []).append(entry)
    rows = [
        (word, f"{sum(entry.judgement == 'right' for entry in own)} of {len(own)}", _shown(own))
        for word, own in by_word.items()
    ]
    unjudged, unknown = scores.count("unjudged"), ", ".join(scores.unknown)
    return ReportPart(
        "Word tab",
        [Grid("Word tab", ("word", "right", "entries"), rows, labels=3)],
        [
            f"{scores.count('right')} of {len(scores.entries)} entries are right: the first "
            f"{WORD_TAB_ENTRIES} that the explorer's Word tab shows for each word; ✗ marks those "
            f"judged wrong, ? the {unjudged} that are not judged yet, which count as wrong.",
            *([f"Unknown words, which have no entries: {unknown}."] if unknown else []),
            f"The rule is in {WORD_TAB_PATH}. Wrong with the data: twelve words, and one judge.",
        ],
    )


def _shown(entries: Sequence[TabEntry]) -> str:
    return ", ".join(f"{entry.relation} {entry.y}{_MARKS[entry.judgement]}" for entry in entries)

"""What was written down by hand to measure relations.

Opposites and synonyms of software talk, told apart: ``data/software_talk.tsv``. The entries of the
explorer's Word tab, judged: ``data/word_tab.toml``.
"""

import csv
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.api import Pair2vec
from pair2vec.experiments.report.grid import NOTHING, Grid, ReportPart
from pair2vec.relations.relations import Relations

WORD_TAB_ENTRIES = 12
"""How many entries of each word are judged: half of those that the page shows."""
WORD_TAB_PATH = "pair2vec/experiments/evaluation/data/word_tab.toml"
"""Where a reader finds the rule."""

Verdict = Literal["right", "wrong", "unjudged"]
_MARKS = {"right": "", "wrong": " ✗", "unjudged": " ?"}


class SoftwarePair(NamedTuple):
    """Two words of software talk."""

    relation: str
    """ "antonym" or "synonym"."""
    x: str
    y: str


class CalledPair(NamedTuple):
    """A pair of software talk, and what it is called."""

    pair: SoftwarePair
    name: str
    antonym: float
    """The probability of that relation."""

    def to_json(self) -> dict[str, object]:
        """As ``--json`` prints it."""
        return {**self.pair._asdict(), "called": self.name, "antonym": round(self.antonym, 4)}


class SoftwareScores(NamedTuple):
    """Opposites and synonyms of software talk, told apart; unknown words are left out."""

    pairs: list[CalledPair]

    def known(self, relation: str) -> list[CalledPair]:
        return [called for called in self.pairs if called.pair.relation == relation]

    def called_antonym(self, relation: str) -> int:
        """How many pairs of a relation are called antonyms."""
        return sum(called.name == "antonym" for called in self.known(relation))

    @property
    def auc(self) -> float | None:
        """How often an opposite has a higher probability of being one than a synonym has."""
        opposites, synonyms = (
            np.array([called.antonym for called in self.known(relation)])
            for relation in ("antonym", "synonym")
        )
        return area_under_curve(opposites, synonyms)

    def figures(self) -> dict[str, int | float | None]:
        return {
            "opposites": len(self.known("antonym")),
            "opposites_called_antonym": self.called_antonym("antonym"),
            "synonyms": len(self.known("synonym")),
            "synonyms_called_antonym": self.called_antonym("synonym"),
            "auc": None if self.auc is None else round(self.auc, 4),
        }


def area_under_curve(
    positives: NDArray[np.floating], negatives: NDArray[np.floating]
) -> float | None:
    """How often a positive scores higher than a negative, half of the ties; None without any."""
    if not len(positives) or not len(negatives):
        return None
    differences = positives[:, None] - negatives
    return float(((differences > 0) + 0.5 * (differences == 0)).mean())


def read_software_talk() -> list[SoftwarePair]:
    """Forty opposites and forty synonyms."""
    text = (files(__package__) / "data" / "software_talk.tsv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t")
    return [SoftwarePair(**row) for row in rows]


def score_software_talk(
    model: Pair2vec, relations: Relations, pairs: Sequence[SoftwarePair]
) -> SoftwareScores:
    """What the pairs whose words are known are called."""
    batch = model.relate_many(
        ((pair.x, pair.y) for pair in pairs), unknown="skip", relations=relations
    )
    antonym = batch.probabilities[:, batch.relations.index("antonym")].tolist()
    kept = [pair for pair, known in zip(pairs, batch.known.tolist(), strict=True) if known]
    return SoftwareScores(
        [CalledPair(*row) for row in zip(kept, batch.names.tolist(), antonym, strict=True)]
    )


def software_part(rows: Mapping[str, SoftwareScores], unknown: Sequence[str]) -> ReportPart:
    """For a terminal."""
    head = ("", "opposites called antonym", "synonyms called antonym", "AUC")
    cells = [
        (
            name,
            *(
                f"{scores.called_antonym(relation)} of {len(scores.known(relation))}"
                for relation in ("antonym", "synonym")
            ),
            NOTHING if scores.auc is None else f"{scores.auc:.3f}",
        )
        for name, scores in rows.items()
    ]
    return ReportPart(
        "Software talk",
        [Grid("Software talk", head, cells)],
        [
            "Called: as relate names the pair. AUC: how often an opposite has a higher probability "
            "of antonym than a synonym has.",
            f"Pairs with an unknown word are left out; unknown are {len(unknown)} words"
            + (f": {', '.join(unknown)}." if unknown else "."),
            "Wrong with the data: 40 pairs of each kind, written down by one developer before any "
            "model was asked for them, but after a similar list on which recipes were compared. "
            "None is a built-in example; the teachers may have labelled some. A word is one token, "
            "so that log in and log out are missing.",
        ],
    )


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
    pairs = (text.split(maxsplit=1) for text in texts)
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
        (word, f"{sum(entry.judgement == 'right' for entry in own)} of {len(own)}", _marked(own))
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


def _marked(entries: Sequence[TabEntry]) -> str:
    return ", ".join(f"{entry.relation} {entry.y}{_MARKS[entry.judgement]}" for entry in entries)

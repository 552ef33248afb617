"""Opposites and synonyms of software talk, told apart: ``data/software_talk.tsv``."""

import csv
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.api import Pair2vec
from pair2vec.experiments.report.grid import NOTHING, Grid, ReportPart
from pair2vec.relations.relations import Relations


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

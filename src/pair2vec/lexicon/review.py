"""A reviewed lexicon: what a person accepted and rejected is applied, and learned from.

A reviewer marks entries of the TSV in its columns ``accept`` and ``reject``. Marked entries are
kept or left out, in both directions. From them a correction of the model's probabilities is learned
for all other entries: P(right | p, relation) is a logistic regression on logit p with an intercept
of each relation (Platt scaling, 1999), held near p itself by a Gaussian prior, so that a few marks
change little.

Shapes: N judged entries, K relations.
"""

import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import FloatArray
from pair2vec.errors import InputError
from pair2vec.lexicon.calibration import fit_logistic, logit, sigmoid
from pair2vec.lexicon.export import REVIEW_COLUMNS

_REQUIRED = ("x", "relation", "y", *REVIEW_COLUMNS)
SLOPE_PRECISION, INTERCEPT_PRECISION = 100.0, 1.0
"""Of the prior of the slope, which is 1, and of each intercept, which is 0.

A reviewer marks errors that look probable, and adds what the model missed: by such marks alone, its
probabilities would mean nothing, and all entries without a mark would go. Relations may be wrong.
"""


class Judgement(NamedTuple):
    """An entry that was reviewed."""

    x: str
    relation: str
    y: str
    accepted: bool


def read_review(path: Path) -> list[Judgement]:
    """The marked entries of a lexicon in TSV.

    Raises:
        InputError: it is no such file, an entry is marked twice, or the same one differently.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; give a lexicon in TSV") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8; save it as UTF-8 text") from error
    rows = csv.reader(lines, "excel-tab", quoting=csv.QUOTE_NONE)
    header = next(rows, [])
    missing = [name for name in _REQUIRED if name not in header]
    if missing:
        raise InputError(
            f"{path}: has no column {missing[0]!r}; review a lexicon that 'pair2vec lexicon' wrote"
        )
    found: dict[tuple[str, str, str], Judgement] = {}
    for number, row in enumerate(rows, start=2):
        if not any(row):
            continue
        if len(row) < len(header) - len(REVIEW_COLUMNS):
            raise InputError(f"{path}, line {number}: {len(row)} of {len(header)} columns")
        # Editors drop empty cells at the end of a line.
        cells = dict(zip(header, [*row, *[""] * len(header)], strict=False))
        accepted, rejected = (bool(cells[name].strip()) for name in REVIEW_COLUMNS)
        if not (accepted or rejected):
            continue
        entry = (cells["x"], cells["relation"], cells["y"])
        judgement = Judgement(*entry, accepted=accepted)
        if (accepted and rejected) or found.get(entry, judgement) != judgement:
            raise InputError(
                f"{path}, line {number}: {' '.join(entry)} is both accepted and rejected"
            )
        found[entry] = judgement
    return list(found.values())


class Review:
    """Judgements to apply, and the correction that they teach."""

    def __init__(
        self,
        judgements: Iterable[Judgement],
        relations: Sequence[str],
        inverse: Callable[[str], str],
        probability: Callable[[Sequence[Judgement]], FloatArray],
    ) -> None:
        """Learn from judgements.

        Args:
            judgements: Between terms of the lexicon, of its relations.
            relations: Their names, K.
            inverse: The relation of y to x, "" where it has no name.
            probability: Of judged entries by the model, uncorrected: (N,).
        """
        self._relations = list(relations)
        self._accepted: dict[tuple[str, str], str] = {}
        self._rejected: set[Judgement] = set()
        known = list(judgements)
        for x, relation, y, accepted in known:
            for entry in ((x, relation, y), (y, inverse(relation), x)):
                if not entry[1]:
                    continue
                if accepted:
                    self._accepted[entry[0], entry[2]] = entry[1]
                else:
                    self._rejected.add(Judgement(*entry, accepted=False))
        self._slope, self._intercepts = 1.0, np.zeros(len(self._relations))
        if known:
            labels = np.array([judgement.accepted for judgement in known], np.float64)
            rows = np.array([self._relations.index(judgement.relation) for judgement in known])
            self._slope, self._intercepts = fit_correction(
                probability(known), rows, labels, len(self._relations)
            )

    def accepted(self, x: str, y: str) -> str | None:
        """The relation that was accepted between two terms."""
        return self._accepted.get((x, y))

    def accepted_partners(self, x: str) -> list[str]:
        """The terms in an accepted relation to a term."""
        return [y for first, y in self._accepted if first == x]

    def is_rejected(self, x: str, relation: str, y: str) -> bool:
        return Judgement(x, relation, y, accepted=False) in self._rejected

    def corrected(self, probabilities: FloatArray, relations: NDArray[np.intp]) -> FloatArray:
        """The probability that an entry is right, by what was learned.

        Args:
            probabilities: By the model, (N,).
            relations: Of the entries, as indices of the names; K is no relation, (N,).
        """
        if self._slope == 1 and not self._intercepts.any():
            return probabilities
        offsets = np.append(self._intercepts, 0.0)[relations]
        corrected = sigmoid(self._slope * logit(probabilities) + offsets)
        return corrected.astype(np.float32)


def fit_correction(
    probabilities: FloatArray,
    relations: NDArray[np.intp],
    labels: NDArray[np.float64],
    count: int,
) -> tuple[float, NDArray[np.float64]]:
    """The slope and the intercepts (K,) with the highest posterior probability.

    Args:
        probabilities: By the model, (N,).
        relations: Indices of the relations, (N,).
        labels: 1 for what is right, (N,).
        count: Of relations, K.
    """
    features = np.zeros((len(labels), 1 + count))
    features[:, 0] = logit(probabilities)
    features[np.arange(len(labels)), 1 + relations] = 1
    prior = np.zeros(1 + count)
    prior[0] = 1
    precision = np.array([SLOPE_PRECISION] + [INTERCEPT_PRECISION] * count)
    weights = fit_logistic(features, labels, prior, precision)
    return float(weights[0]), weights[1:]

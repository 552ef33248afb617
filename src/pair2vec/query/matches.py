"""What a question is answered with: the best words, pairs or patterns, and their scores."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.query.half_pair import Vectors
from pair2vec.query.pair_vectors import Numbers


class Match(NamedTuple):
    """A word that fits."""

    word: str
    score: float


class PairMatch(NamedTuple):
    """A pair that fits."""

    x: str
    y: str
    score: float


class PatternMatch(NamedTuple):
    """A pattern that fits."""

    pattern: str
    score: float


class RelationMatch(NamedTuple):
    """A word in a relation."""

    word: str
    relation: str
    score: float


class PairBatch(NamedTuple):
    """Vectors of many pairs."""

    vectors: Vectors
    """One row a pair; under ``unknown="skip"`` one row a known pair."""
    known: NDArray[np.bool_]
    """Of each pair asked for, whether both words are known."""


def best(scores: Vectors, top: int, without: Iterable[int] = ()) -> Numbers:
    """The places of the `top` highest scores, best first; of equals the first."""
    candidates = scores.copy()
    left_out = list(without)
    candidates[left_out] = -np.inf
    top = min(top, int(np.isfinite(candidates).sum()))
    if not top:
        return np.empty(0, np.intp)
    lowest = np.partition(candidates, -top)[-top]
    places = np.flatnonzero(candidates >= lowest)
    order = np.argsort(-candidates[places], kind="stable")
    return places[order][:top]

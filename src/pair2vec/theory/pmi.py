"""Pointwise mutual information (PMI) of three variables: a word x, a word y and a context c.

All functions take `Counts`, of one triple or arrays of many, and use natural logarithms. A triple
that never occurs scores minus infinity, even where its parts do not occur either; plus infinity for
`si1`, the only measure that decreases with association.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import UsageError

Count = int | NDArray[np.int64]
Score = np.float64 | NDArray[np.float64]


class Counts(NamedTuple):
    """Counts of a triple and its marginals: a name lists what is fixed, the rest is summed over."""

    xyc: Count
    xy: Count
    xc: Count
    yc: Count
    x: Count
    y: Count
    c: Count
    total: Count


class Negatives(NamedTuple):
    """How many negatives each observed triple is compared with; the defaults are the paper's."""

    k_x: int = 3
    """Triples with another x."""
    k_y: int = 3
    """Triples with another y."""
    k_c: int = 2
    """Triples with another context."""


PAPER_NEGATIVES = Negatives()


def pmi(counts: Counts, k_c: int = 1) -> Score:
    """PMI of pair and context: the optimum of R(x,y)·C(c) for the bivariate objective J_2NS.

    Args:
        counts: Of one triple or of many.
        k_c: Negative contexts; the optimum is the PMI less log k_c.
    """
    return mvpmi(counts, k_x=0, k_y=0, k_c=k_c)


def mvpmi(
    counts: Counts,
    k_x: int = PAPER_NEGATIVES.k_x,
    k_y: int = PAPER_NEGATIVES.k_y,
    k_c: int = PAPER_NEGATIVES.k_c,
) -> Score:
    """The optimum of R(x,y)·C(c) for the multivariate objective J_3NS (eq:multi_pmi)."""
    if min(k_x, k_y, k_c) < 0 or k_x + k_y + k_c == 0:
        raise UsageError(
            f"k_x, k_y, k_c are {k_x}, {k_y}, {k_c}; none may be negative, and not all can be 0"
        )
    p = _probabilities(counts)
    return _log_ratio(p.xyc, k_c * p.c * p.xy + k_x * p.x * p.yc + k_y * p.y * p.xc)


def si1(counts: Counts) -> Score:
    """Specific interaction information (tab:pmi_generalizations).

    Negative where x, y and c are associated beyond their pairwise associations.
    """
    p = _probabilities(counts)
    return -_log_ratio(p.x * p.y * p.c * p.xyc, p.xy * p.xc * p.yc)


def si2(counts: Counts) -> Score:
    """Specific correlation: against independent x, y and c (tab:pmi_generalizations)."""
    p = _probabilities(counts)
    return _log_ratio(p.xyc, p.x * p.y * p.c)


def si3(counts: Counts) -> Score:
    """The bivariate PMI of pair and context, under its name in tab:pmi_generalizations."""
    return pmi(counts)


def si4(counts: Counts) -> Score:
    """PMI of x and y conditional on the context (tab:pmi_generalizations)."""
    p = _probabilities(counts)
    return _log_ratio(p.xyc * p.c, p.xc * p.yc)


class _Probabilities(NamedTuple):
    """`Counts` divided by the total."""

    xyc: NDArray[np.float64]
    xy: NDArray[np.float64]
    xc: NDArray[np.float64]
    yc: NDArray[np.float64]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    c: NDArray[np.float64]


def _probabilities(counts: Counts) -> _Probabilities:
    # A corpus without any triple has a total of 0, and probabilities of 0.
    total = np.maximum(counts.total, 1)
    return _Probabilities(*(np.asarray(part) / total for part in counts[:-1]))


def _log_ratio(numerator: NDArray[np.float64], denominator: NDArray[np.float64]) -> Score:
    """log(numerator / denominator), and minus infinity for 0/0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        log_ratio = np.log(numerator) - np.log(denominator)
        score: NDArray[np.float64] = np.where(numerator > 0, log_ratio, -np.inf)
    # A single score is returned as a number, not as an array without axes.
    return score[()]

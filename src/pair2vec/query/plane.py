"""Pairs as arrows in the plane of their relation, from x to y.

Shapes: N pairs, D dimension.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import SMALLEST_NORM, FloatArray
from pair2vec.errors import UsageError
from pair2vec.query.search import offset_cosines, pair_cosines
from pair2vec.query.space import PairSpace

LEAST_ARROWS, MOST_ARROWS = 2, 8
_LEAST_SHARE = 1e-9
"""With less, as of one pair that is given twice, there is nothing but rounding."""
_LONG = 0.45
"""Of the longest: a pair that goes so far along the second axis may say which way is up. Pairs that
are given twice go 1/2, 2/3, 2/5 … as far as others, which rounding must not decide."""


class PairArrow(NamedTuple):
    """A pair in a plane, and how like the others it is."""

    x: str
    y: str
    start: tuple[float, float]
    """Where x is."""
    end: tuple[float, float]
    """Where y is."""
    pair_cosine: float
    """The mean cosine similarity of its vector with those of the other pairs, as `nearest` has
    them."""
    offset_cosine: float
    """The same of the offset of its words, y − x."""


class PairPlane(NamedTuple):
    """Pairs in the plane of their mean offset, and of what their offsets differ by most.

    The words are those that R composes, with unit norm. The origin is their mean.
    """

    arrows: list[PairArrow]
    shares: tuple[float, float]
    """Of the offsets' squared lengths along each axis: what they have in common, and what is beside
    that. Together they are 1 for two pairs, whose lengths and angle are true in the plane."""

    def as_json(self) -> dict[str, object]:
        return {"arrows": [arrow._asdict() for arrow in self.arrows], "shares": self.shares}


def pair_plane(space: PairSpace, pairs: Sequence[tuple[str, str]]) -> PairPlane:
    """The plane of some pairs.

    Its first axis is the mean of the offsets y − x. Its second is the direction of the largest
    variance of the offsets at right angles to it; the first pair that goes far along it goes up. A
    second axis by the variance of the words would show any pairs as parallel.

    Raises:
        UsageError: there are too few pairs, or too many.
        UnknownWordError: a word is out of the vocabulary, and cannot be composed.
    """
    count = len(pairs)
    if not LEAST_ARROWS <= count <= MOST_ARROWS:
        raise UsageError(f"a plane shows {LEAST_ARROWS} to {MOST_ARROWS} pairs; {count} are given")
    x, y, _ = space.look_up_pairs(pairs, "compose")
    words = space.unit_inputs(np.concatenate([x, y])).astype(np.float64)
    axes, shares = _plane_of_offsets(words[count:] - words[:count])
    places = [tuple(place) for place in ((words - words.mean(axis=0)) @ axes.T).tolist()]
    ids = list(zip(x.tolist(), y.tolist(), strict=True))
    by_pairs = _with_others(
        [pair_cosines(space.whitened_pairs, pair, x, y, "both") for pair in ids]
    )
    by_offsets = _with_others([offset_cosines(space, pair, x, y) for pair in ids])
    arrows = [
        PairArrow(*pair, places[n], places[count + n], by_pairs[n], by_offsets[n])
        for n, pair in enumerate(pairs)
    ]
    return PairPlane(arrows, shares)


def _plane_of_offsets(
    offsets: NDArray[np.float64],
) -> tuple[NDArray[np.float64], tuple[float, float]]:
    """Two axes of unit norm, (2, D), and the shares of them; an axis of no share is zero."""
    mean = offsets.mean(axis=0)
    first = mean / max(np.linalg.norm(mean), SMALLEST_NORM)
    along = offsets @ first
    rest = offsets - np.outer(along, first)
    # Of a few offsets in many dimensions: the eigenvalues of their Gram matrix are those of the
    # covariance.
    variances, vectors = np.linalg.eigh(rest @ rest.T)
    total = max(float(np.square(offsets).sum()), float(SMALLEST_NORM))
    share = max(float(variances[-1]), 0.0) / total
    if share < _LEAST_SHARE:
        return np.stack([first, 0 * first]), (float(along @ along) / total, 0.0)
    second = vectors[:, -1] @ rest / variances[-1] ** 0.5
    second *= np.sign(_first_long(vectors[:, -1]))
    return np.stack([first, second]), (float(along @ along) / total, share)


def _first_long(components: NDArray[np.float64]) -> float:
    """The first that is nearly as long as the longest."""
    lengths = np.abs(components)
    return float(components[(lengths >= _LONG * lengths.max()).argmax()])


def _with_others(cosines: Sequence[FloatArray]) -> list[float]:
    """Of cosines with all pairs, the mean of those with the others."""
    matrix = np.array(cosines, np.float64)
    others = (matrix.sum(axis=1) - np.diag(matrix)) / (len(matrix) - 1)
    return others.tolist()  # type: ignore[no-any-return]

"""Array types and the numpy functions that several rooms share."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.intp]
Int64Array = NDArray[np.int64]

SMALLEST_NORM = np.float32(1e-8)
"""A shorter vector is left as good as zero rather than made NaN."""


def normalise(vectors: FloatArray) -> FloatArray:
    """Vectors of length one."""
    unit: FloatArray = vectors / safe_norms(vectors)
    return unit


def safe_norms(vectors: FloatArray) -> FloatArray:
    """What to divide vectors by, (..., 1)."""
    lengths = np.sqrt(np.einsum("...d,...d->...", vectors, vectors))[..., None]
    divisors: FloatArray = np.maximum(lengths, SMALLEST_NORM)
    return divisors


def top_k(scores: FloatArray, top: int, without: Iterable[int] = ()) -> IntArray:
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

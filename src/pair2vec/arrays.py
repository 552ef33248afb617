"""Array types and the numpy functions that several rooms share."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.intp]
Int64Array = NDArray[np.int64]

SMALLEST_NORM = np.float32(1e-8)
"""Keeps a vector of zeros at zero where it would be divided by its norm."""

ROWS_PER_BLOCK = 1536
"""Rows of some hundred numbers that are computed at once: few enough to stay in the cache."""


def normalise(vectors: FloatArray) -> FloatArray:
    """The vectors (..., D) with unit norm; a vector of zeros stays one."""
    unit: FloatArray = vectors / safe_norms(vectors)
    return unit


def normalise_table(table: FloatArray, out: FloatArray | None = None) -> FloatArray:
    """As `normalise` for many rows (N, D), block by block; `out` may be the table itself."""
    unit = np.empty_like(table) if out is None else out
    for start in range(0, len(table), ROWS_PER_BLOCK):
        block = slice(start, start + ROWS_PER_BLOCK)
        np.divide(table[block], safe_norms(table[block]), out=unit[block])
    return unit


def safe_norms(vectors: FloatArray) -> FloatArray:
    """The norms to divide vectors by, at least `SMALLEST_NORM`: (..., 1)."""
    norms = np.sqrt(np.einsum("...d,...d->...", vectors, vectors))[..., None]
    divisors: FloatArray = np.maximum(norms, SMALLEST_NORM)
    return divisors


def top_k(scores: FloatArray, k: int, exclude: Iterable[int] = ()) -> IntArray:
    """The indices of the k highest scores, best first; of equal scores the first.

    Fewer where not as many are finite. `exclude` has indices that are left out.
    """
    candidates = scores.copy()
    candidates[list(exclude)] = -np.inf
    k = min(k, int(np.isfinite(candidates).sum()))
    if not k:
        return np.empty(0, np.intp)
    lowest = np.partition(candidates, -k)[-k]
    indices = np.flatnonzero(candidates >= lowest)
    order = np.argsort(-candidates[indices], kind="stable")
    return indices[order][:k]


def ridge_regression(
    inputs: NDArray[np.floating], targets: NDArray[np.floating], penalty: np.floating
) -> NDArray[np.floating]:
    """W (E, D) of the least |inputs · W - targets|² + penalty · |W|², for (N, E) and (N, D)."""
    gram = inputs.T @ inputs + penalty * np.eye(inputs.shape[1], dtype=inputs.dtype)
    solution: NDArray[np.floating] = np.linalg.solve(gram, inputs.T @ targets)
    return solution

"""Multinomial logistic regression, with numpy alone.

Shapes: N rows, F features, K classes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.query.half_pair import Vectors
from pair2vec.query.pair_vectors import Numbers

_STEPS = 200
_SETTLED = 1e-4
"""Of the largest change of a step: further steps would not be seen in a probability."""


class Logistic(NamedTuple):
    """Which class a row is in, and how surely."""

    weight: Vectors
    """(F, K)"""
    bias: Vectors
    """(K,)"""

    def probabilities(self, features: Vectors) -> Vectors:
        """(N, F) to (N, K)."""
        return softmax(features @ self.weight + self.bias)


def softmax(logits: Vectors) -> Vectors:
    """Rows that sum to one, (N, K)."""
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Vectors = raised / raised.sum(axis=1, keepdims=True)
    return shares


def fit_logistic(
    features: Vectors, labels: Numbers, classes: int, *, penalty: float, weights: Vectors
) -> Logistic:
    """The regression that minimises the weighted loss of the rows plus penalty/2 · ‖weight‖².

    The Hessian of the loss is nowhere more than half of XᵀX in each class (Böhning, 1992), so
    steps by that fixed bound always go down: one inversion serves all of them.

    Args:
        features: (N, F)
        labels: The class of each row, (N,).
        classes: How many there are.
        penalty: On the square of the weights.
        weights: How much each row counts, (N,).
    """
    rows = np.concatenate([features, np.ones((len(features), 1), np.float32)], axis=1)
    costs = np.full(rows.shape[1], penalty, np.float64)
    costs[-1] = 1e-3  # The bias is free; this only keeps the matrix from being singular.
    weighted: NDArray[np.float64] = (rows * weights[:, None]).astype(np.float64)
    step = np.linalg.inv(0.5 * weighted.T @ rows + np.diag(costs)).astype(np.float32)
    wanted = np.eye(classes, dtype=np.float32)[labels]
    found = np.zeros((rows.shape[1], classes), np.float32)
    ahead, momentum = found, 1.0
    for _ in range(_STEPS):
        errors = (softmax(rows @ ahead) - wanted) * weights[:, None]
        gradient = rows.T @ errors + costs[:, None].astype(np.float32) * ahead
        new = ahead - step @ gradient
        # Nesterov's momentum, begun anew where it would lead up again.
        going_up = float(((ahead - new) * (new - found)).sum()) > 0
        following = 1.0 if going_up else (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + np.float32(0 if going_up else (momentum - 1) / following) * (new - found)
        change = float(np.abs(new - found).max())
        found, momentum = new, following
        if change < _SETTLED:
            break
    return Logistic(found[:-1], found[-1])

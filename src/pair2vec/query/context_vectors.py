"""C(c) without torch, from a saved model.

Shapes: B contexts, L context length, D dimension, H hidden size a direction.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pair2vec.model.folder import SavedModel
from pair2vec.query.half_pair import Vectors


class ContextVectors:
    """C: a BiLSTM over the words of a context, pooled by attention."""

    def __init__(self, saved: SavedModel) -> None:
        self._words = saved.rows("context.words")
        self._input_weight = saved.array("context.input_weight")
        self._state_weight = saved.array("context.state_weight")
        self._bias = saved.array("context.bias")
        self._attention = saved.array("context.attention.weight")[0]
        self._value = saved.array("context.value.weight")
        self.dimension = len(self._value)
        self.words = len(self._words)
        """The ids it knows are below this; a small model has fewer than the vocabulary."""

    def __call__(self, contexts: Sequence[Sequence[int]] | NDArray[np.intp]) -> Vectors:
        """C of contexts of one length, given as ids (B, L): (B, D)."""
        states = self._states(np.asarray(contexts, np.intp))
        attention = states @ self._attention
        weights = np.exp(attention - attention.max(axis=0))
        weights /= weights.sum(axis=0)
        pooled: Vectors = np.einsum("lb,lbh->bh", weights, states) @ self._value.T
        return pooled

    def _states(self, contexts: NDArray[np.intp]) -> Vectors:
        """The BiLSTM's states, (L, B, 2H)."""
        words, places = np.unique(contexts, return_inverse=True)
        part = self._words[words] @ self._input_weight.T + self._bias
        gates = part[places.reshape(contexts.shape)].transpose(1, 0, 2)
        forward, backward = np.split(gates, 2, axis=-1)
        weights = self._state_weight
        return np.concatenate(
            [_run(forward, weights[0]), _run(backward[::-1], weights[1])[::-1]], axis=-1
        )


def _run(gates: Vectors, state_weight: Vectors) -> Vectors:
    """The states (L, B, H) of an LSTM in one direction, from its input gates (L, B, 4H)."""
    states = np.zeros((*gates.shape[:2], len(state_weight)), np.float32)
    state = memory = np.zeros(states.shape[1:], np.float32)
    for step, gate in enumerate(gates):
        keep_in, forget, candidate, out = np.split(gate + state @ state_weight, 4, axis=-1)
        memory = _sigmoid(keep_in) * np.tanh(candidate) + _sigmoid(forget) * memory
        states[step] = state = _sigmoid(out) * np.tanh(memory)
    return states


def _sigmoid(values: Vectors) -> Vectors:
    # By the tangent, which cannot overflow.
    halved: Vectors = np.tanh(np.float32(0.5) * values)
    return np.float32(0.5) * halved + np.float32(0.5)

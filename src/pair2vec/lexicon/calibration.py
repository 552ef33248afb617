"""How probably a relation between two candidates holds, by what holds of words like them.

A relation head is calibrated on pairs of a list. Candidates are other pairs: similar or close to
each other in a text, and of the likeliest of them far fewer are right than it says. So its
probability P(r | x, y) is corrected by a logistic regression on four features of a pair:

- logit P(r | x, y);
- the cosine similarity of x and y, for `SIMILAR`, and 0 for other relations;
- the support: the mean of logit P(r | x', y) over the words x' most similar to x, and of
  logit P(r | x, y') over those most similar to y. A *rotor* is a part of a *turbine*, since it is
  one of an *engine* and a *compressor*, too; what holds of no similar pair is mostly an error;
- the log odds that x and y are in any relation, by the relations that are fitted to examples and
  patterns: they were taught by neither WordNet nor a language model, and err elsewhere. With a
  model that does not know their examples, logit P(r | x, y) stands for it.

The first three are the same for [y, x] and the inverse of r, the last one nearly.
`benchmarks/lexicon_precision.py` fits the weights to links that were judged.

Shapes: N pairs, V words, K relations, F features.
"""

import numpy as np
from numpy.typing import NDArray

from pair2vec.api import Pair2vec
from pair2vec.arrays import FloatArray, IntArray
from pair2vec.errors import UsageError
from pair2vec.relations.definitions import RelationDefinition, fitted_definitions
from pair2vec.relations.relations import Relations
from pair2vec.relations.word_forms import is_form

SIMILAR = frozenset(("synonym", "antonym", "hypernym", "hyponym", "co-hyponym"))
"""The relations of words that occur in similar contexts."""
SUPPORTING = 4
"""Words similar to x, and to y, that a relation is looked up for."""

WEIGHTS = (0.301, 4.633, 0.529, 0.205)
"""Of the features."""
INTERCEPT = -0.738
"""Of relations that were not judged."""
INTERCEPTS: dict[str, float] = {
    "antonym": -3.145,
    "co-hyponym": -2.248,
    "hypernym": -2.721,
    "located-in": -0.688,
    "made-of": -0.820,
    "occupation": -0.452,
    "part": -0.998,
    "synonym": -2.498,
}
"""Of those that were: by the name of the relation or of its inverse."""

_SIMILAR_WORDS = 12
"""Looked at, as forms of the other word say nothing."""
_ROWS_PER_BLOCK = 64
_LARGEST_LOGIT = 8.0
_NEWTON_STEPS = 100
_TOLERANCE = 1e-9
_ROUNDING = 1e-12
"""Of a loss, relatively: close to the minimum, it does not tell a step that leads nearer."""


class CandidateCalibration:
    """Corrects the probabilities of a relation head."""

    def __init__(self, model: Pair2vec, relations: Relations, unrelated: float | None) -> None:
        """For the relations of a model's head; `unrelated` as in `Relations.predict_proba`."""
        self._relations, self._unrelated = relations, unrelated
        self._fitted = _fitted_relations(model)
        self._words, self._vectors = model.vocabulary.words, model.unit_words
        spelled = enumerate(self._words[: len(self._vectors)])
        self._no_words = np.array([row for row, word in spelled if not word.isalpha()], np.intp)
        self._similar: dict[int, list[int]] = {}
        self._intercepts = np.array([intercept(known) for known in relations.definitions])
        self._are_similar = np.array([name in SIMILAR for name in relations.names[:-1]])

    def corrected(
        self, x: IntArray, y: IntArray, relations: IntArray, probabilities: FloatArray
    ) -> FloatArray:
        """The probability that each relation holds, (N,).

        Args:
            x: Ids of words in the model, (N,).
            y: As many, (N,).
            relations: Indices of the relations of x and y, (N,).
            probabilities: Of them by the head, (N,).
        """
        features = self.features(x, y, relations, probabilities)
        corrected = sigmoid(features @ np.array(WEIGHTS) + self._intercepts[relations])
        return corrected.astype(np.float32)

    def features(
        self, x: IntArray, y: IntArray, relations: IntArray, probabilities: FloatArray
    ) -> NDArray[np.float64]:
        """What the correction is computed from, (N, 4); arguments as of `corrected`."""
        logits = logit(probabilities)
        cosines = np.einsum("nd,nd->n", self._vectors[x], self._vectors[y])
        sides = self._support(x, y, relations), self._support(y, x, relations, swapped=True)
        # A word that resembles no other supports nothing and opposes nothing.
        support = np.mean([np.where(np.isnan(side), logits, side) for side in sides], axis=0)
        related = -logit(self._fitted.probabilities(x, y)[:, -1]) if self._fitted else logits
        cosines *= self._are_similar[relations]
        return np.column_stack([logits, cosines, support, related])

    def _support(
        self, words: IntArray, others: IntArray, relations: IntArray, *, swapped: bool = False
    ) -> NDArray[np.float64]:
        """The mean logit with the words most similar to `words` in their place, (N,), or NaN."""
        self._find_similar(words)
        found = [
            self._supporting(word, other)
            for word, other in zip(words.tolist(), others.tolist(), strict=True)
        ]
        counts = np.array([len(similar) for similar in found], np.intp)
        owner = np.repeat(np.arange(len(found)), counts)
        pair = (np.array([n for similar in found for n in similar], np.intp), others[owner])
        x, y = pair[::-1] if swapped else pair
        known = self._relations.probabilities(x, y, self._unrelated)
        logits = logit(known[np.arange(len(owner)), relations[owner]])
        with np.errstate(invalid="ignore"):
            mean: NDArray[np.float64] = np.bincount(owner, logits, len(found)) / counts
        return mean

    def _supporting(self, word: int, other: int) -> list[int]:
        """The most similar words that are not forms of the other one."""
        spelled, chosen = self._words[other], []
        for similar in self._similar[word]:
            if similar != other and not is_form(self._words[similar], spelled):
                chosen.append(similar)
                if len(chosen) == SUPPORTING:
                    break
        return chosen

    def _find_similar(self, words: IntArray) -> None:
        """Look up the words most similar to some, best first, once for each."""
        new = np.array(sorted({*words.tolist()} - self._similar.keys()), np.intp)
        most = min(_SIMILAR_WORDS + 1, len(self._vectors) - len(self._no_words))
        for start in range(0, len(new), _ROWS_PER_BLOCK):
            block = new[start : start + _ROWS_PER_BLOCK]
            cosines = self._vectors[block] @ self._vectors.T
            cosines[:, self._no_words] = -np.inf
            nearest = np.argpartition(-cosines, most - 1)[:, :most]
            for word, row, columns in zip(block.tolist(), cosines, nearest, strict=True):
                ordered = columns[np.argsort(-row[columns])].tolist()
                self._similar[word] = [other for other in ordered if other != word]


def _fitted_relations(model: Pair2vec) -> Relations | None:
    """The built-in relations by examples; None if the model knows none of the examples of one."""
    relations = Relations(fitted_definitions(), model.space)
    try:
        relations.probabilities(*np.zeros((2, 1), np.intp))
    except UsageError:
        return None
    return relations


def intercept(relation: RelationDefinition) -> float:
    """The intercept of a relation, or of its inverse."""
    own = INTERCEPTS.get(relation.name)
    return INTERCEPTS.get(relation.inverse, INTERCEPT) if own is None else own


def fit_logistic(
    features: NDArray[np.float64],
    labels: NDArray[np.float64],
    prior: NDArray[np.float64],
    precision: NDArray[np.float64] | float = 1.0,
) -> NDArray[np.float64]:
    """The weights (F,) of a logistic regression with the highest posterior, by Newton's method.

    Args:
        features: (N, F).
        labels: 1 for what is right, (N,).
        prior: The means of a Gaussian prior of the weights, (F,).
        precision: Its precision, of all weights or of each.
    """

    def loss(weights: NDArray[np.float64]) -> float:
        scores = features @ weights
        likelihood = np.logaddexp(0, scores).sum() - labels @ scores
        return float(likelihood + (precision * np.square(weights - prior)).sum() / 2)

    weights = prior.copy()
    for _ in range(_NEWTON_STEPS):
        right = sigmoid(features @ weights)
        gradient = features.T @ (right - labels) + precision * (weights - prior)
        curvature = (features * (right * (1 - right))[:, None]).T @ features
        step = np.linalg.solve(curvature + precision * np.eye(len(weights)), gradient)
        # Far from the minimum a whole step may overshoot.
        most = loss(weights) * (1 + _ROUNDING)
        while np.abs(step).max() > _TOLERANCE and loss(weights - step) > most:
            step /= 2
        weights -= step
        if np.abs(step).max() < _TOLERANCE:
            break
    return weights


def logit(probabilities: FloatArray) -> NDArray[np.float64]:
    """The log odds, at most 8 in absolute value."""
    p = np.clip(probabilities.astype(np.float64), 1e-12, 1 - 1e-12)
    return np.clip(np.log(p / (1 - p)), -_LARGEST_LOGIT, _LARGEST_LOGIT)


def sigmoid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probabilities of log odds."""
    return 0.5 + 0.5 * np.tanh(values / 2)

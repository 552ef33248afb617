"""From features of pairs to probabilities of relations: linear scores, calibrated.

A ridge regression separates the examples of each relation from those of the others and from pairs
of no relation. Most of the latter are hard negatives: the first word of an example with a near
word, since against random words alone any two words of one topic would pass for related; and words
of two examples, since any thing and any metal would pass for made of it. But what separates related
words from others hardly separates antonyms from synonyms, which are related just as much. So a
second regression, on the two words and the examples alone, separates the relations from each other.
The scores of both are calibrated on held-out words: in five folds of the words, each is scored by
regressions on the other four, and a multinomial logistic regression turns these scores into
probabilities.

Shapes: N pairs or rows, F features, K relations or classes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import FloatArray, IntArray
from pair2vec.relations.examples import unrelated_pairs
from pair2vec.relations.features import ExamplePairs, RelationFeatures

UNRELATED = 0.5
"""The prior probability that a pair has no relation, by default."""

_PENALTY = 1_000.0
_WORDS_PENALTY = 2_000.0
_RELATION_SCORE_WEIGHT = np.float32(3)
"""One similarity or pattern score says more than one of the 2·D numbers of a pair's vectors."""
_SCORE_SCALE = np.float32(5)
_SCORE_PENALTY = 1.0
_FOLDS = 5

_MAX_STEPS = 200
_TOLERANCE = 1e-4
"""Of the largest change in a step: further ones would not be seen in a probability."""


class Logistic(NamedTuple):
    """Multinomial logistic regression."""

    weight: FloatArray
    """(F, K)"""
    bias: FloatArray
    """(K,)"""

    def probabilities(self, features: FloatArray) -> FloatArray:
        """(N, F) to (N, K)."""
        return softmax(features @ self.weight + self.bias)


class RelationRegression(NamedTuple):
    """Linear scores of relations, and their calibration."""

    mean: FloatArray
    """(F,)"""
    weight: FloatArray
    """(F, 2K + 1): both regressions side by side."""
    calibration: Logistic

    def probabilities(self, features: FloatArray) -> FloatArray:
        """(N, F) to (N, K + 1), the last for no relation."""
        centred: FloatArray = features - self.mean
        return self.calibration.probabilities(centred @ self.weight)


def fit_relations(
    features: RelationFeatures, examples: ExamplePairs, relations: int, words: FloatArray
) -> RelationRegression:
    """Fit the regressions to the examples and to pairs of no relation.

    Args:
        features: Of pairs.
        examples: Of the relations.
        relations: How many there are, K.
        words: The vectors of the vocabulary, of unit norm: (V, D).
    """
    random = np.random.default_rng(0)
    x, y = unrelated_pairs(examples, words, random)
    pairs = np.array([[*examples.x, *x], [*examples.y, *y]], np.intp)
    values = features(*pairs)
    labels = np.concatenate([examples.relation, np.full(len(x), relations)])
    mean = values.mean(axis=0)
    scale = 1 / np.maximum(values.std(axis=0), np.float32(1e-6))
    scale[features.relation_scores] *= _RELATION_SCORE_WEIGHT
    rows = (values - mean) * scale
    targets = np.eye(relations + 1, dtype=np.float32)[labels]
    # Pairs of no relation weigh as much together as the examples.
    unrelated = np.full(len(x), len(examples.x) / max(1, len(x)), np.float32)
    weights = np.concatenate([examples.weights, unrelated])
    folds = _folds_of_words(examples, len(words), random)[pairs]
    scores = np.empty((len(rows), 2 * relations + 1), np.float32)
    for fold in range(_FOLDS):
        train = (folds != fold).all(axis=0)
        held_out = folds[0] == fold
        weight = _fit_linear(rows[train], targets[train], weights[train], features.words)
        scores[held_out] = rows[held_out] @ weight
    calibration = fit_logistic(
        scores, labels, relations + 1, penalty=_SCORE_PENALTY, weights=weights
    )
    weight = scale[:, None] * _fit_linear(rows, targets, weights, features.words)
    return RelationRegression(mean, weight, calibration)


def _fit_linear(
    rows: FloatArray, targets: FloatArray, weights: FloatArray, words: slice
) -> FloatArray:
    """The weights (F, 2K + 1) of both regressions, each with features of its own."""
    relations = targets.shape[1] - 1
    weight = np.zeros((rows.shape[1], 2 * relations + 1), np.float32)
    others = slice(0, words.start)
    weight[others, : relations + 1] = _ridge(rows[:, others], targets, weights, _PENALTY)
    related = targets[:, -1] == 0
    one_hot = targets[related, :-1]
    weight[words, relations + 1 :] = _ridge(
        rows[related, words],
        one_hot - one_hot.mean(axis=0),
        weights[related],
        _WORDS_PENALTY,
    )
    return weight


def _ridge(
    rows: FloatArray, targets: FloatArray, weights: FloatArray, penalty: float
) -> FloatArray:
    """The weights of a ridge regression, without intercept: calibration shifts the scores."""
    weighted = rows * weights[:, None]
    gram = (weighted.T @ rows).astype(np.float64)
    gram[np.diag_indices_from(gram)] += penalty
    solution: FloatArray = np.linalg.solve(gram, weighted.T @ targets).astype(np.float32)
    return solution * _SCORE_SCALE


def _folds_of_words(examples: ExamplePairs, words: int, random: np.random.Generator) -> IntArray:
    """A fold for each word, (V,); words that examples connect are in the same."""
    folds = random.integers(0, _FOLDS, words)
    parents = np.arange(words)
    for x, y in zip(examples.x.tolist(), examples.y.tolist(), strict=True):
        first, second = _find_root(parents, x), _find_root(parents, y)
        parents[max(first, second)] = min(first, second)
    linked = np.unique([*examples.x, *examples.y]).astype(np.intp)
    folds[linked] = [folds[_find_root(parents, word)] for word in linked.tolist()]
    return folds


def _find_root(parents: NDArray[np.intp], word: int) -> int:
    """The root of a word's component in a union-find forest."""
    while parents[word] != word:
        word = int(parents[word])
    return word


def shift_prior(probabilities: FloatArray, before: float, unrelated: float) -> FloatArray:
    """Probabilities for another prior probability of no relation, by Bayes' rule.

    The odds of each relation against none change by the same factor.
    """
    factors = np.full(probabilities.shape[1], (1 - unrelated) / (1 - before), np.float32)
    factors[-1] = unrelated / before
    posterior = probabilities * factors
    shifted: FloatArray = posterior / posterior.sum(axis=1, keepdims=True)
    return shifted


def softmax(logits: FloatArray) -> FloatArray:
    """Rows that sum to one, (N, K)."""
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities: FloatArray = exponentials / exponentials.sum(axis=1, keepdims=True)
    return probabilities


def fit_logistic(
    features: FloatArray, labels: IntArray, classes: int, *, penalty: float, weights: FloatArray
) -> Logistic:
    """Minimise the weighted cross-entropy of the rows plus penalty/2 · ‖weight‖².

    The Hessian of the loss is nowhere more than half of XᵀX in each class (Böhning, 1992), so
    steps by that fixed bound always go down: one inversion serves all of them.

    Args:
        features: (N, F)
        labels: The class of each row, (N,).
        classes: How many there are.
        penalty: On the square of the weights.
        weights: Of the rows, (N,).
    """
    rows = np.concatenate([features, np.ones((len(features), 1), np.float32)], axis=1)
    penalties = np.full(rows.shape[1], penalty, np.float64)
    penalties[-1] = 1e-3  # The bias is free; this only keeps the matrix from being singular.
    weighted: NDArray[np.float64] = (rows * weights[:, None]).astype(np.float64)
    step = np.linalg.inv(0.5 * weighted.T @ rows + np.diag(penalties)).astype(np.float32)
    targets = np.eye(classes, dtype=np.float32)[labels]
    solution = np.zeros((rows.shape[1], classes), np.float32)
    extrapolated, momentum = solution, 1.0
    for _ in range(_MAX_STEPS):
        errors = (softmax(rows @ extrapolated) - targets) * weights[:, None]
        gradient = rows.T @ errors + penalties[:, None].astype(np.float32) * extrapolated
        new = extrapolated - step @ gradient
        # Nesterov's momentum, restarted where it would increase the loss.
        is_uphill = float(((extrapolated - new) * (new - solution)).sum()) > 0
        following = 1.0 if is_uphill else (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        factor = np.float32(0 if is_uphill else (momentum - 1) / following)
        extrapolated = new + factor * (new - solution)
        change = float(np.abs(new - solution).max())
        solution, momentum = new, following
        if change < _TOLERANCE:
            break
    return Logistic(solution[:-1], solution[-1])

"""Multinomial logistic regression, with numpy alone.

Shapes: N rows, F features, K classes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import FloatArray, IntArray
from pair2vec.relations.examples import unrelated_pairs
from pair2vec.relations.features import ExamplePairs, RelationFeatures

_STEPS = 200
_SETTLED = 1e-4
"""Of the largest change of a step: further steps would not be seen in a probability."""


class Logistic(NamedTuple):
    """Which class a row is in, and how surely."""

    weight: FloatArray
    """(F, K)"""
    bias: FloatArray
    """(K,)"""

    def probabilities(self, features: FloatArray) -> FloatArray:
        """(N, F) to (N, K)."""
        return softmax(features @ self.weight + self.bias)


def softmax(logits: FloatArray) -> FloatArray:
    """Rows that sum to one, (N, K)."""
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: FloatArray = raised / raised.sum(axis=1, keepdims=True)
    return shares


def fit_logistic(
    features: FloatArray, labels: IntArray, classes: int, *, penalty: float, weights: FloatArray
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


# == How features of pairs become probabilities of relations.
#
# A linear regression tells the examples of each relation from those of the others and from pairs of
# no relation. Most of the latter are hard ones: the first word of an example with a word like it, for
# against random words alone any two words of one topic would pass for related; and words of two
# examples, for any thing and any metal would pass for made of it. But what tells related words from
# others tells little of opposites and synonyms, which are related alike; so a second regression,
# which sees the two words and the examples alone, tells the relations from each other. What the
# scores of both mean is then learnt from words they have not seen: of five parts of the words each is
# scored by regressions on the other four, and a multinomial one turns these scores into
# probabilities.
#
# Shapes: N pairs, F features, K relations.


UNRELATED = 0.5
"""The share of pairs without a relation that probabilities are for, unless another is given."""

_PENALTY = 1_000.0
_WORDS_PENALTY = 2_000.0
_SUMMARY_WEIGHT = np.float32(3)
"""One likeness or fit says more than one of the 2·D numbers of a pair's vectors."""
_SCORE_SCALE = np.float32(5)
_SCORE_PENALTY = 1.0
_FOLDS = 5


class RelationRegression(NamedTuple):
    """From features to probabilities."""

    mean: FloatArray
    """(F,)"""
    weight: FloatArray
    """(F, 2·K + 1): the scores of both regressions."""
    calibration: Logistic

    def probabilities(self, features: FloatArray) -> FloatArray:
        """(N, F) to (N, K + 1), the last for no relation."""
        centred: FloatArray = features - self.mean
        return self.calibration.probabilities(centred @ self.weight)


def fit_relations(
    features: RelationFeatures, examples: ExamplePairs, relations: int, words: FloatArray
) -> RelationRegression:
    """The regression for the examples and pairs of no relation.

    Args:
        features: Of pairs.
        examples: Of the relations.
        relations: How many there are, K.
        words: The vectors of the vocabulary, of length one: (V, D).
    """
    random = np.random.default_rng(0)
    x, y = unrelated_pairs(examples, words, random)
    pairs = np.array([[*examples.x, *x], [*examples.y, *y]], np.intp)
    made = features(*pairs)
    labels = np.concatenate([examples.relation, np.full(len(x), relations)])
    mean = made.mean(axis=0)
    scale = 1 / np.maximum(made.std(axis=0), np.float32(1e-6))
    scale[features.summaries] *= _SUMMARY_WEIGHT
    rows = (made - mean) * scale
    wanted = np.eye(relations + 1, dtype=np.float32)[labels]
    # Pairs without a relation weigh as much together as the examples.
    unrelated = np.full(len(x), len(examples.x) / max(1, len(x)), np.float32)
    weights = np.concatenate([examples.weights, unrelated])
    folds = _folds_of_words(examples, len(words), random)[pairs]
    scores = np.empty((len(rows), 2 * relations + 1), np.float32)
    for fold in range(_FOLDS):
        seen = (folds != fold).all(axis=0)
        own = folds[0] == fold
        weight = _regressions(rows[seen], wanted[seen], weights[seen], features.words)
        scores[own] = rows[own] @ weight
    calibration = fit_logistic(
        scores, labels, relations + 1, penalty=_SCORE_PENALTY, weights=weights
    )
    weight = scale[:, None] * _regressions(rows, wanted, weights, features.words)
    return RelationRegression(mean, weight, calibration)


def _regressions(
    rows: FloatArray, wanted: FloatArray, weights: FloatArray, words: slice
) -> FloatArray:
    """The weights (F, 2·K + 1) of both regressions, each of which sees features of its own."""
    relations = wanted.shape[1] - 1
    made = np.zeros((rows.shape[1], 2 * relations + 1), np.float32)
    others = slice(0, words.start)
    made[others, : relations + 1] = _regression(rows[:, others], wanted, weights, _PENALTY)
    related = wanted[:, -1] == 0
    kinds = wanted[related, :-1]
    made[words, relations + 1 :] = _regression(
        rows[related, words], kinds - kinds.mean(axis=0), weights[related], _WORDS_PENALTY
    )
    return made


def _regression(
    rows: FloatArray, wanted: FloatArray, weights: FloatArray, penalty: float
) -> FloatArray:
    """The weights of a linear regression with a penalty on their squares.

    There is no constant, because no score means anything before it is calibrated.
    """
    weighted = rows * weights[:, None]
    gram = (weighted.T @ rows).astype(np.float64)
    gram[np.diag_indices_from(gram)] += penalty
    solved: FloatArray = np.linalg.solve(gram, weighted.T @ wanted).astype(np.float32)
    return solved * _SCORE_SCALE


def _folds_of_words(examples: ExamplePairs, words: int, random: np.random.Generator) -> IntArray:
    """A fold for each word, (V,); words that examples put together are in the same."""
    folds = random.integers(0, _FOLDS, words)
    root = np.arange(words)
    for x, y in zip(examples.x.tolist(), examples.y.tolist(), strict=True):
        first, second = _top(root, x), _top(root, y)
        root[max(first, second)] = min(first, second)
    linked = np.unique([*examples.x, *examples.y]).astype(np.intp)
    folds[linked] = [folds[_top(root, word)] for word in linked.tolist()]
    return folds


def _top(root: NDArray[np.intp], word: int) -> int:
    """The word that stands for all those linked with `word`."""
    while root[word] != word:
        word = int(root[word])
    return word


def shift_prior(probabilities: FloatArray, unrelated: float) -> FloatArray:
    """What probabilities become where another share of the pairs has no relation.

    Bayes' rule with another prior: the odds against no relation change by the same factor.
    """
    factors = np.full(probabilities.shape[1], (1 - unrelated) / (1 - UNRELATED), np.float32)
    factors[-1] = unrelated / UNRELATED
    weighed = probabilities * factors
    made: FloatArray = weighed / weighed.sum(axis=1, keepdims=True)
    return made

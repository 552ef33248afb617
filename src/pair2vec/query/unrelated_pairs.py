"""Pairs of no relation, for examples of relations to be told from."""

import numpy as np

from pair2vec.query.half_pair import Vectors
from pair2vec.query.pair_vectors import Numbers
from pair2vec.query.relation_features import Examples
from pair2vec.text.vocabulary import SPECIAL_TOKENS

_FREQUENT_WORDS = 20_000
_RANDOM_PAIRS = 200
_MIXED = 0.4
_NEAR = 2.0
"""Pairs of words of two examples, and of near words, for each example on the average."""
_SAMPLE = 5_000
_RANKS = (2, 1_000)
"""How near they are in a sample of the words: the very nearest may well be related."""


def unrelated_pairs(
    examples: Examples, words: Vectors, random: np.random.Generator
) -> tuple[Numbers, Numbers]:
    """Pairs of two random words, of words of two examples, and of an example's with one like it.

    Few of them are related all the same; what is learnt from them has to live with those.
    """
    frequent = np.arange(len(SPECIAL_TOKENS), min(len(words), _FREQUENT_WORDS))
    drawn = random.choice(frequent, (2, _RANDOM_PAIRS))
    shares = examples.weights.astype(np.float64) / examples.weights.sum(dtype=np.float64)
    sides, count = (examples.x, examples.y), round(_MIXED * len(examples.x))
    mixed = np.array([random.choice(side, count, p=shares) for side in sides])
    starts = random.choice(examples.x, round(_NEAR * len(examples.x)), p=shares)
    near = _near_pairs(starts, frequent, words, random)
    x, y = np.concatenate([drawn, mixed, near], axis=1)
    related = set(zip(examples.x.tolist(), examples.y.tolist(), strict=True))
    related |= {(second, first) for first, second in related}
    pairs = zip(x.tolist(), y.tolist(), strict=True)
    free = np.array([a != b and (a, b) not in related for a, b in pairs])
    return x[free], y[free]


def _near_pairs(
    starts: Numbers, frequent: Numbers, words: Vectors, random: np.random.Generator
) -> Numbers:
    """Each word with one that is like it, more of them from near than from far: (2, N)."""
    sample = random.choice(frequent, min(_SAMPLE, len(frequent)), replace=False)
    distinct, place = np.unique(starts, return_inverse=True)
    order = np.argsort(-(words[distinct] @ words[sample].T), axis=1)
    lowest, highest = (min(rank, len(sample)) for rank in _RANKS)
    ranks = np.exp(random.uniform(np.log(lowest), np.log(highest), len(starts))).astype(np.intp)
    return np.stack([starts, sample[order[place, ranks - 1]]])

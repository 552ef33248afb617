"""Training pairs of the relations: their examples as ids, and pairs in no relation."""

from collections.abc import Sequence

import numpy as np

from pair2vec.arrays import FloatArray, IntArray, top_k
from pair2vec.errors import UsageError
from pair2vec.query.search import pair_blocks, repeated_words
from pair2vec.query.space import SPECIAL_IDS, PairSpace
from pair2vec.relations.definitions import RelationDefinition
from pair2vec.relations.features import PAIRS_PER_BLOCK, ExamplePairs, PatternScores
from pair2vec.text.vocabulary import is_known_word, look_up_pair

_FOUND_EXAMPLES = 30
"""How many examples are found for a relation that has patterns only..."""
_FIRST_WORDS, _SECOND_WORDS = 400, 40
"""... among the pairs of so many frequent words with so many near words each."""
_FUNCTION_WORDS = 100
"""The most frequent words, which mean little by themselves, are no examples."""

_FREQUENT_WORDS = 20_000
"""Unrelated pairs are drawn from the words with a lower id."""
_RANDOM_PAIRS = 200
_MIXED_PER_EXAMPLE = 0.4
"""Pairs of words of two examples, on average."""
_NEAR_PER_EXAMPLE = 2.0
"""Pairs of an example's word with a near one, on average."""
_NEAR_SAMPLE = 5_000
_NEAR_RANKS = (2, 1_000)
"""How near they are in a sample of the words: the very nearest may well be related."""


def find_examples(definitions: Sequence[RelationDefinition], space: PairSpace) -> ExamplePairs:
    """The example pairs whose words are both known; without any, pairs that fit the patterns best.

    Raises:
        UsageError: the model knows neither an example nor a pattern of a relation.
    """
    x, y, labels = [], [], []
    for relation, definition in enumerate(definitions):
        pairs = _known_examples(definition, space) or _fitting_pairs(definition, space)
        x += [first for first, _ in pairs]
        y += [second for _, second in pairs]
        labels += [relation] * len(pairs)
    return ExamplePairs(np.array(x, np.intp), np.array(y, np.intp), np.array(labels, np.intp))


def _known_examples(definition: RelationDefinition, space: PairSpace) -> list[tuple[int, int]]:
    known = [
        pair
        for pair in definition.all_examples
        if all(is_known_word(word, space.vocabulary) for word in pair)
    ]
    return [look_up_pair(x, y, space.vocabulary) for x, y in known]


def _fitting_pairs(definition: RelationDefinition, space: PairSpace) -> list[tuple[int, int]]:
    """Pairs of frequent words with near words that score best in the patterns; no word twice."""
    if not any(map(space.pattern_encoder.knows, definition.patterns)):
        raise UsageError(
            f"relation {definition.name!r}: the model knows none of its examples and patterns; "
            "give others, of words that it knows"
        )
    pattern_scores = PatternScores(space, [definition])
    x, y = _near_word_pairs(space)
    scores = np.concatenate(
        [
            pattern_scores(space.pairs(a, b), space.pairs(b, a))[:, 0]
            for a, b in pair_blocks(x, y, PAIRS_PER_BLOCK)
        ]
    )
    best = top_k(scores, _FOUND_EXAMPLES, repeated_words(scores, x, y))
    return list(zip(x[best].tolist(), y[best].tolist(), strict=True))


def _near_word_pairs(space: PairSpace) -> tuple[IntArray, IntArray]:
    words, special = space.unit_words, len(SPECIAL_IDS)
    start = min(special + _FUNCTION_WORDS, max(special, len(words) - 2))
    firsts = np.arange(start, min(start + _FIRST_WORDS, len(words)), dtype=np.intp)
    seconds = [top_k(words @ words[n], _SECOND_WORDS, (*SPECIAL_IDS, n)) for n in firsts.tolist()]
    return np.repeat(firsts, list(map(len, seconds))), np.concatenate(seconds)


def unrelated_pairs(
    examples: ExamplePairs, words: FloatArray, random: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Pairs of random words, of words of two examples, and of an example's word with a near one.

    A few of them are related after all; the regression has to tolerate those.

    Args:
        examples: Of the relations.
        words: The vocabulary's vectors, of unit norm: (V, D).
        random: Draws the pairs.
    """
    frequent = np.arange(len(SPECIAL_IDS), min(len(words), _FREQUENT_WORDS))
    drawn = random.choice(frequent, (2, _RANDOM_PAIRS))
    shares = examples.weights.astype(np.float64) / examples.weights.sum(dtype=np.float64)
    sides, count = (examples.x, examples.y), round(_MIXED_PER_EXAMPLE * len(examples.x))
    mixed = np.array([random.choice(side, count, p=shares) for side in sides])
    starts = random.choice(examples.x, round(_NEAR_PER_EXAMPLE * len(examples.x)), p=shares)
    near = _pairs_with_near_words(starts, frequent, words, random)
    x, y = np.concatenate([drawn, mixed, near], axis=1)
    related = set(zip(examples.x.tolist(), examples.y.tolist(), strict=True))
    related |= {(second, first) for first, second in related}
    pairs = zip(x.tolist(), y.tolist(), strict=True)
    is_unrelated = np.array([a != b and (a, b) not in related for a, b in pairs])
    return x[is_unrelated], y[is_unrelated]


def _pairs_with_near_words(
    starts: IntArray, frequent: IntArray, words: FloatArray, random: np.random.Generator
) -> IntArray:
    """Each word with a neighbour whose rank is drawn log-uniformly: (2, N)."""
    sample = random.choice(frequent, min(_NEAR_SAMPLE, len(frequent)), replace=False)
    distinct, rows = np.unique(starts, return_inverse=True)
    order = np.argsort(-(words[distinct] @ words[sample].T), axis=1)
    lowest, highest = (min(rank, len(sample)) for rank in _NEAR_RANKS)
    ranks = np.exp(random.uniform(np.log(lowest), np.log(highest), len(starts))).astype(np.intp)
    return np.stack([starts, sample[order[rows, ranks - 1]]])

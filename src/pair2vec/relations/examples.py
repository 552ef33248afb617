"""The examples of relations as ids; for a relation by patterns alone, pairs that fit them best."""

from collections.abc import Sequence

import numpy as np

from pair2vec.arrays import FloatArray, IntArray, top_k
from pair2vec.errors import UsageError
from pair2vec.query.analogies import repeated_words
from pair2vec.query.vectors import PairSpace
from pair2vec.relations.definitions import RelationDefinition
from pair2vec.relations.features import ExamplePairs, PatternFit, pair_blocks
from pair2vec.text.sentences import tokenize
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary, is_word

FOUND_EXAMPLES = 30
_FIRST_WORDS = 400
_SECOND_WORDS = 40
_PASSED_OVER = 100
"""The most frequent words, which mean little by themselves."""


def find_examples(
    definitions: Sequence[RelationDefinition], source: PairSpace, vocabulary: Vocabulary
) -> ExamplePairs:
    """The example pairs of which both words are known.

    Raises:
        UsageError: a relation has no such pair and no patterns either.
    """
    x, y, relation = [], [], []
    for place, definition in enumerate(definitions):
        pairs = _known(definition, vocabulary)
        if not pairs:
            pairs = _fitting(definition, source)
        x += [first for first, _ in pairs]
        y += [second for _, second in pairs]
        relation += [place] * len(pairs)
    return ExamplePairs(np.array(x, np.intp), np.array(y, np.intp), np.array(relation, np.intp))


def _known(definition: RelationDefinition, vocabulary: Vocabulary) -> list[tuple[int, int]]:
    known = [pair for pair in definition.all_examples if all(is_word(w, vocabulary) for w in pair)]
    return [(vocabulary.ids[tokenize(x)[0]], vocabulary.ids[tokenize(y)[0]]) for x, y in known]


def _fitting(definition: RelationDefinition, source: PairSpace) -> list[tuple[int, int]]:
    """Pairs of frequent words with words like them, the best for the patterns; no word twice."""
    if not any(map(source.contexts.knows, definition.patterns)):
        raise UsageError(
            f"relation {definition.name!r}: the model knows none of its examples and patterns; "
            "give others, of words that it knows"
        )
    fit = PatternFit(source, [definition])
    x, y = _likely_pairs(source)
    scores = np.concatenate(
        [fit(source.pairs(a, b), source.pairs(b, a))[:, 0] for a, b in pair_blocks(x, y)]
    )
    left_out = repeated_words(scores, x, y)
    places = top_k(scores, FOUND_EXAMPLES, left_out.tolist())
    return list(zip(x[places].tolist(), y[places].tolist(), strict=True))


def _likely_pairs(source: PairSpace) -> tuple[IntArray, IntArray]:
    words = source.unit_words
    first = min(len(SPECIAL_TOKENS) + _PASSED_OVER, max(len(SPECIAL_TOKENS), len(words) - 2))
    starts = np.arange(first, min(first + _FIRST_WORDS, len(words)), dtype=np.intp)
    special = range(len(SPECIAL_TOKENS))
    ends = [top_k(words @ words[n], _SECOND_WORDS, (*special, n)) for n in starts.tolist()]
    return np.repeat(starts, [len(end) for end in ends]), np.concatenate(ends)


# == Pairs of no relation, for examples of relations to be told from.


_FREQUENT_WORDS = 20_000
_RANDOM_PAIRS = 200
_MIXED = 0.4
_NEAR = 2.0
"""Pairs of words of two examples, and of near words, for each example on the average."""
_SAMPLE = 5_000
_RANKS = (2, 1_000)
"""How near they are in a sample of the words: the very nearest may well be related."""


def unrelated_pairs(
    examples: ExamplePairs, words: FloatArray, random: np.random.Generator
) -> tuple[IntArray, IntArray]:
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
    starts: IntArray, frequent: IntArray, words: FloatArray, random: np.random.Generator
) -> IntArray:
    """Each word with one that is like it, more of them from near than from far: (2, N)."""
    sample = random.choice(frequent, min(_SAMPLE, len(frequent)), replace=False)
    distinct, place = np.unique(starts, return_inverse=True)
    order = np.argsort(-(words[distinct] @ words[sample].T), axis=1)
    lowest, highest = (min(rank, len(sample)) for rank in _RANKS)
    ranks = np.exp(random.uniform(np.log(lowest), np.log(highest), len(starts))).astype(np.intp)
    return np.stack([starts, sample[order[place, ranks - 1]]])

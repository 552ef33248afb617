"""The features of pairs that relations are predicted from.

Beside a pair's vectors and words, these are a few numbers for each relation: the similarity to its
examples, the scores in its patterns, and the offset from x to y.

Shapes: N pairs, E examples, K relations, D dimension, F features.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import FloatArray, IntArray, normalise
from pair2vec.query.pair_encoder import LinearLayer
from pair2vec.query.search import pair_blocks
from pair2vec.query.space import PairSpace, sampled_pairs
from pair2vec.relations.definitions import RelationDefinition, has_slots_in_order, swap_slots
from pair2vec.relations.word_forms import is_negated_form

PAIRS_PER_BLOCK = 4_096
NEAREST_EXAMPLES = 3


@dataclass(frozen=True)
class ExamplePairs:
    """Pairs of ids that are labelled with a relation."""

    x: IntArray
    y: IntArray
    relation: IntArray
    """The index of the relation of each, (E,)."""

    @cached_property
    def weights(self) -> FloatArray:
        """The weight of each, 1 on average: larger in a relation with few examples, (E,).

        By the root of their number: unweighted, relations with many would dominate; with equal
        weight for all relations, their many examples would be worth nothing.
        """
        counts = np.bincount(self.relation)[self.relation]
        weights = 1 / np.sqrt(counts)
        normalised: FloatArray = (weights / weights.mean()).astype(np.float32)
        return normalised

    def sharing_a_word(self, x: IntArray, y: IntArray) -> NDArray[np.bool_]:
        """Whether an example has a word in common with a pair: (N, E)."""
        shared = np.zeros((len(x), len(self.x)), np.bool_)
        for own in (x, y):
            for other in (self.x, self.y):
                shared |= own[:, None] == other
        return shared


class RelationFeatures:
    """Features of pairs for a linear regression on relations."""

    def __init__(
        self,
        space: PairSpace,
        definitions: Sequence[RelationDefinition],
        examples: ExamplePairs,
        spelled: Sequence[str] | None = None,
    ) -> None:
        """Features for relations.

        Args:
            space: Of the model.
            definitions: Of the relations.
            examples: Of the same.
            spelled: The words as they are spelled, by id; by default the model's.
        """
        self._space = space
        self._own_spelled = spelled
        self.examples = examples
        self._relations = len(definitions)
        self.patterns = PatternScores(space, definitions)

    def __call__(self, x: IntArray, y: IntArray) -> FloatArray:
        """The two vectors of each pair, then `relation_scores`, then `words`: (N, F)."""
        blocks = [self._block(*block) for block in pair_blocks(x, y, PAIRS_PER_BLOCK)]
        return np.concatenate(blocks or [self._block(x, y)])

    @property
    def relation_scores(self) -> slice:
        """The columns that are more than a vector's.

        Three for each relation, the cosine of the two words, and that cosine again where one word
        looks like the negation of the other.
        """
        start = 2 * self._space.pairs.dimension
        return slice(start, start + 3 * self._relations + 2)

    @property
    def words(self) -> slice:
        """The columns of the word vectors: x, y, and their product."""
        return slice(self.relation_scores.stop, None)

    def _block(self, x: IntArray, y: IntArray) -> FloatArray:
        forward, backward = self._space.pairs(x, y), self._space.pairs(y, x)
        vectors = np.concatenate([self._space.whiten(part) for part in (forward, backward)], 1)
        first, second = (self._space.unit_inputs(ids) for ids in (x, y))
        product = first * second
        cosine = product.sum(axis=1, keepdims=True)
        scores = [
            self._example_similarity(vectors, x, y),
            self.patterns(forward, backward),
            self._offset_similarity(x, y),
            cosine,
            cosine * self._is_negated(x, y),
        ]
        return np.concatenate([vectors, *scores, first, second, product], axis=1)

    def _example_similarity(self, vectors: FloatArray, x: IntArray, y: IntArray) -> FloatArray:
        """The mean cosine with the nearest examples of each relation, (N, K).

        Examples that share a word with the pair do not count: they are similar for that alone.
        """
        cosines = vectors @ self._example_vectors.T / 2
        cosines[self.examples.sharing_a_word(x, y)] = -1
        similarity = np.zeros((len(x), self._relations), np.float32)
        for relation in range(self._relations):
            own = cosines[:, self.examples.relation == relation]
            count = min(NEAREST_EXAMPLES, own.shape[1])
            if count:
                nearest = np.partition(own, -count, axis=1)[:, -count:]
                similarity[:, relation] = nearest.mean(axis=1)
        return similarity

    @cached_property
    def _example_vectors(self) -> FloatArray:
        x, y = self.examples.x, self.examples.y
        both = [self._space.whiten(self._space.pairs(*ids)) for ids in ((x, y), (y, x))]
        return np.concatenate(both, axis=1)

    def _offset_similarity(self, x: IntArray, y: IntArray) -> FloatArray:
        """The cosine of y with x plus the mean offset of each relation (3CosAdd): (N, K)."""
        first, second = (self._space.unit_inputs(ids) for ids in (x, y))
        similarity = np.zeros((len(x), self._relations), np.float32)
        for relation, offset in enumerate(self.offsets):
            similarity[:, relation] = np.einsum("nd,nd->n", normalise(first + offset), second)
        return similarity

    @cached_property
    def offsets(self) -> FloatArray:
        """The mean of y − x over each relation's examples: (K, D)."""
        words, examples = self._space.unit_words, self.examples
        sums = np.zeros((self._relations, words.shape[1]), np.float32)
        np.add.at(sums, examples.relation, words[examples.y] - words[examples.x])
        counts = np.bincount(examples.relation, minlength=self._relations)
        return sums / np.maximum(counts, 1).astype(np.float32)[:, None]

    def _is_negated(self, x: IntArray, y: IntArray) -> FloatArray:
        """1 where one word is spelled as the negation of the other, else 0: (N, 1)."""
        spelled = self._space.spelled if self._own_spelled is None else self._own_spelled
        pairs = zip(x.tolist(), y.tolist(), strict=True)
        negated = [is_negated_form(spelled[a], spelled[b]) for a, b in pairs]
        return np.array(negated, np.float32).reshape(-1, 1)


class PatternScores:
    """The scores of pairs in the patterns of relations, standardised by those of random pairs.

    Patterns with a word that the model does not know are ignored.
    """

    def __init__(self, space: PairSpace, definitions: Sequence[RelationDefinition]) -> None:
        known = [
            (pattern, relation)
            for relation, definition in enumerate(definitions)
            for pattern in definition.all_patterns
            if space.pattern_encoder.knows(pattern)
        ]
        in_order = [(p, relation) for p, relation in known if has_slots_in_order(p)]
        swapped = [(swap_slots(p), relation) for p, relation in known if not has_slots_in_order(p)]
        # Many belong to two relations, or to one both ways: they are encoded once.
        rows = {pattern: row for row, pattern in enumerate(dict(in_order + swapped))}
        vectors = space.pattern_encoder(list(rows))
        self._forward, self._backward = (
            vectors[[rows[pattern] for pattern, _ in side]] for side in (in_order, swapped)
        )
        self._relation = np.array([relation for _, relation in in_order + swapped], np.intp)
        self._relations = len(definitions)
        x, y = sampled_pairs(space.pairs.words)
        random_scores = self._scores(space.pairs(x, y), space.pairs(y, x))
        self._mean = random_scores.mean(axis=0)
        self._deviation = np.maximum(random_scores.std(axis=0), np.float32(1e-6))

    def __call__(self, forward: FloatArray, backward: FloatArray) -> FloatArray:
        """The mean over each relation's patterns, in standard deviations: (N, K).

        Args:
            forward: R(x, y), (N, D).
            backward: R(y, x), (N, D).
        """
        scores = (self._scores(forward, backward) - self._mean) / self._deviation
        means = np.zeros((len(scores), self._relations), np.float32)
        for relation in range(self._relations):
            own = scores[:, self._relation == relation]
            if own.shape[1]:
                means[:, relation] = own.mean(axis=1)
        return means

    @property
    def linear(self) -> LinearLayer:
        """The same as a function of both vectors side by side: (2D, K)."""
        counts = np.bincount(self._relation, minlength=self._relations)[self._relation]
        shares = 1 / (self._deviation * counts)
        patterns, forward = len(self._relation), len(self._forward)
        size = self._forward.shape[1]
        columns = np.zeros((2 * size, patterns), np.float32)
        columns[:size, :forward] = self._forward.T
        columns[size:, forward:] = self._backward.T
        means = np.zeros((patterns, self._relations))
        means[np.arange(patterns), self._relation] = shares
        bias = -self._mean.astype(np.float64) @ means
        return LinearLayer((columns @ means).astype(np.float32), bias.astype(np.float32))

    def _scores(self, forward: FloatArray, backward: FloatArray) -> FloatArray:
        """R·C of each pattern; those with Y before X take the backward vector."""
        return np.concatenate([forward @ self._forward.T, backward @ self._backward.T], axis=1)

"""What the spelling of two words tells of their relation: *unlikely* is *likely* denied.

Such opposites seldom stand side by side, for a sentence that has one hardly needs the other; so
the text tells little of them, and their letters all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import FloatArray, IntArray, normalise
from pair2vec.query.vectors import PairSpace
from pair2vec.query.whitening import sampled_pairs
from pair2vec.relations.definitions import RelationDefinition, has_slots_in_order, swap_slots

_PREFIXES = frozenset("un in im il ir dis non non- mis de anti anti- counter counter-".split())
_SHORTEST = 4
"""Of what may be denied: *into* is not what *to* is not."""


def is_negated_form(word: str, other: str) -> bool:
    """Whether one of two words looks like the other denied, as *unfair* and *fair*.

    *useful* and *useless* deny each other. Some that look alike do not: *port* and *import*.
    """
    short, long = sorted((word, other), key=len)
    if long.endswith(short):
        return len(short) >= _SHORTEST and long[: len(long) - len(short)] in _PREFIXES
    having, lacking = (word, other) if word.endswith("ful") else (other, word)
    return having.endswith("ful") and lacking == having.removesuffix("ful") + "less"


# == What tells relations apart: a pair's vector, its likeness to examples and patterns, its words.
#
# Shapes: N pairs, K relations, D dimension.


NEAREST_EXAMPLES = 3
_BLOCK = 4_096


@dataclass(frozen=True)
class ExamplePairs:
    """Pairs of known relations."""

    x: IntArray
    y: IntArray
    relation: IntArray
    """The place of each one's relation."""

    @cached_property
    def weights(self) -> FloatArray:
        """How much each counts, one on the average: more in a relation with few.

        By the root of how few: relations with many would drown it, but would have nothing of
        their many examples if all relations counted the same.
        """
        counts = np.bincount(self.relation)[self.relation]
        weights = 1 / np.sqrt(counts)
        made: FloatArray = (weights / weights.mean()).astype(np.float32)
        return made

    def sharing(self, x: IntArray, y: IntArray) -> NDArray[np.bool_]:
        """Which of them have a word in common with which pair: (N, examples)."""
        shared = np.zeros((len(x), len(self.x)), np.bool_)
        for own in (x, y):
            for other in (self.x, self.y):
                shared |= own[:, None] == other
        return shared


class RelationFeatures:
    """Numbers of pairs by which a regression can tell relations."""

    def __init__(
        self,
        source: PairSpace,
        definitions: Sequence[RelationDefinition],
        examples: ExamplePairs,
        spelled: Sequence[str],
    ) -> None:
        """Features for relations.

        Args:
            source: What the model has to say of pairs.
            definitions: Of the relations.
            examples: Of the same.
            spelled: The words of the vocabulary.
        """
        self._source = source
        self._spelled = spelled
        self._examples = examples
        self._relations = len(definitions)
        self._patterns = PatternFit(source, definitions)

    def __call__(self, x: IntArray, y: IntArray) -> FloatArray:
        """(N, F): the two vectors of each pair, `summaries`, and `words` behind them."""
        parts = [self._block(first, second) for first, second in pair_blocks(x, y)]
        return np.concatenate(parts or [self._block(x, y)])

    @property
    def summaries(self) -> slice:
        """Where the numbers are that sum a pair up.

        They are three a relation, how alike the words are, and the same if one denies the other.
        """
        start = 2 * self._source.pairs.dimension
        return slice(start, start + 3 * self._relations + 2)

    @property
    def words(self) -> slice:
        """Where the words themselves are: x, y, and their product."""
        return slice(self.summaries.stop, None)

    def _block(self, x: IntArray, y: IntArray) -> FloatArray:
        forward, backward = self._source.pairs(x, y), self._source.pairs(y, x)
        whole = np.concatenate([self._source.compared(part) for part in (forward, backward)], 1)
        fits = self._patterns(forward, backward)
        likeness = self._likeness(whole, x, y)
        first, second = (self._source.unit_words[ids] for ids in (x, y))
        product = first * second
        alike = product.sum(axis=1, keepdims=True)
        summaries = [likeness, fits, self._moved(x, y), alike, alike * self._denied(x, y)]
        return np.concatenate([whole, *summaries, first, second, product], axis=1)

    def _denied(self, x: IntArray, y: IntArray) -> FloatArray:
        """1 where a word is spelled as the other denied, else 0: (N, 1)."""
        pairs = zip(x.tolist(), y.tolist(), strict=True)
        found = [
            is_negated_form(self._spelled[first], self._spelled[second]) for first, second in pairs
        ]
        return np.array(found, np.float32).reshape(-1, 1)

    @cached_property
    def _example_vectors(self) -> FloatArray:
        x, y = self._examples.x, self._examples.y
        both = [self._source.compared(self._source.pairs(*ids)) for ids in ((x, y), (y, x))]
        return np.concatenate(both, axis=1)

    def _likeness(self, vectors: FloatArray, x: IntArray, y: IntArray) -> FloatArray:
        """The mean cosine with the nearest examples of each relation, (N, K).

        Examples that share a word with the pair do not count: they are alike for the word.
        """
        cosines = vectors @ self._example_vectors.T / 2
        cosines[self._examples.sharing(x, y)] = -1
        likeness = np.zeros((len(x), self._relations), np.float32)
        for place in range(self._relations):
            own = cosines[:, self._examples.relation == place]
            count = min(NEAREST_EXAMPLES, own.shape[1])
            if count:
                likeness[:, place] = np.partition(own, -count, axis=1)[:, -count:].mean(axis=1)
        return likeness

    def _moved(self, x: IntArray, y: IntArray) -> FloatArray:
        """The cosine of y with x moved as the examples' words are: (N, K)."""
        words = self._source.unit_words
        moved = np.zeros((len(x), self._relations), np.float32)
        for place, difference in enumerate(self._differences):
            moved[:, place] = np.einsum("nd,nd->n", normalise(words[x] + difference), words[y])
        return moved

    @cached_property
    def _differences(self) -> FloatArray:
        """From x to y, on the average of each relation's examples: (K, D)."""
        words, examples = self._source.unit_words, self._examples
        apart = words[examples.y] - words[examples.x]
        made = np.zeros((self._relations, words.shape[1]), np.float32)
        np.add.at(made, examples.relation, apart)
        counts = np.bincount(examples.relation, minlength=self._relations)
        return made / np.maximum(counts, 1).astype(np.float32)[:, None]


class PatternFit:
    """How well pairs fit the patterns of relations, compared with random pairs.

    Patterns with a word that the model does not know are passed over.
    """

    def __init__(self, source: PairSpace, definitions: Sequence[RelationDefinition]) -> None:
        owned = [
            (pattern, place)
            for place, definition in enumerate(definitions)
            for pattern in definition.all_patterns
            if source.contexts.knows(pattern)
        ]
        in_order = [(p, place) for p, place in owned if has_slots_in_order(p)]
        turned = [(swap_slots(p), place) for p, place in owned if not has_slots_in_order(p)]
        # Many are in two relations, or in one both ways: their vectors are made once.
        distinct = {pattern: row for row, pattern in enumerate(dict(in_order + turned))}
        vectors = source.contexts(list(distinct))
        self._forward, self._backward = (
            vectors[[distinct[pattern] for pattern, _ in side]] for side in (in_order, turned)
        )
        self._owner = np.array([place for _, place in in_order + turned], np.intp)
        self._relations = len(definitions)
        x, y = sampled_pairs(source.pairs.words)
        usual = self._scores(source.pairs(x, y), source.pairs(y, x))
        self._mean = usual.mean(axis=0)
        self._deviation = np.maximum(usual.std(axis=0), np.float32(1e-6))

    def __call__(self, forward: FloatArray, backward: FloatArray) -> FloatArray:
        """The mean over each relation's patterns, in standard deviations: (N, K).

        Args:
            forward: R(x, y), (N, D).
            backward: R(y, x), (N, D).
        """
        scores = (self._scores(forward, backward) - self._mean) / self._deviation
        fits = np.zeros((len(scores), self._relations), np.float32)
        for place in range(self._relations):
            own = scores[:, self._owner == place]
            if own.shape[1]:
                fits[:, place] = own.mean(axis=1)
        return fits

    def _scores(self, forward: FloatArray, backward: FloatArray) -> FloatArray:
        """R·C of each pattern; those with Y before X take the pair the other way round."""
        return np.concatenate([forward @ self._forward.T, backward @ self._backward.T], axis=1)


def pair_blocks(x: IntArray, y: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Some pairs at a time, so that memory does not grow with how many there are."""
    for start in range(0, len(x), _BLOCK):
        yield x[start : start + _BLOCK], y[start : start + _BLOCK]

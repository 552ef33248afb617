"""Patterns as a user types them, as vectors of contexts."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import product

import numpy as np

from pair2vec.errors import UsageError
from pair2vec.model.folder import SavedModel
from pair2vec.query.context_vectors import ContextVectors
from pair2vec.query.half_pair import Vectors
from pair2vec.text.patterns import Pattern, parse_pattern, pattern_words
from pair2vec.text.vocabulary import BOUNDARY, SPECIAL_TOKENS, X, Y

OPEN_WORDS = 12
"""How many frequent outer words stand for one that a pattern leaves open."""


class PatternVectors:
    """C of patterns; an outer word left open is the mean over frequent ones.

    The score R·C is linear in C, so this is the mean of the scores of the contexts that the
    pattern stands for, each weighted by how often its outer words occur.
    """

    def __init__(self, saved: SavedModel) -> None:
        self._vocabulary = saved.vocabulary
        self._encode = ContextVectors(saved)
        special = len(SPECIAL_TOKENS)
        last = min(special + OPEN_WORDS, self._encode.words)
        counts = saved.vocabulary.counts[special:last].tolist()
        self._open: dict[int, int] = dict(enumerate(counts, start=special))
        sentences = saved.config.get("corpus", {}).get("sentences")
        if sentences:
            self._open[BOUNDARY] = sentences

    def __call__(self, patterns: Sequence[str]) -> Vectors:
        """One row a pattern: (N, D)."""
        parsed = [self._parse(pattern) for pattern in patterns]
        made = np.zeros((len(parsed), self._encode.dimension), np.float32)
        # All contexts of one length at once, whichever pattern they belong to.
        groups = defaultdict(list)
        for row, pattern in enumerate(parsed):
            for context, weight in self._contexts(pattern):
                groups[len(context)].append((row, context, weight))
        for group in groups.values():
            rows, contexts, weights = zip(*group, strict=True)
            vectors = self._encode(contexts) * np.array(weights, np.float32)[:, None]
            np.add.at(made, list(rows), vectors)
        return made

    def knows(self, pattern: str) -> bool:
        """Whether each word of a pattern is known, and not too rare for one."""
        ids = (self._vocabulary.ids.get(word) for word in pattern_words(pattern))
        return all(number is not None and number < self._encode.words for number in ids)

    def _parse(self, text: str) -> Pattern:
        pattern = parse_pattern(text, self._vocabulary)
        rarest = max(pattern.left or 0, *pattern.between, pattern.right or 0, 0)
        if rarest >= self._encode.words:
            raise UsageError(
                f"pattern {text!r}: {self._vocabulary.words[rarest]!r} is too rare for a pattern; "
                f"this model has the {self._encode.words - len(SPECIAL_TOKENS):,} most frequent "
                "words there"
            )
        return pattern

    def _contexts(self, pattern: Pattern) -> list[tuple[tuple[int, ...], float]]:
        """The contexts a pattern stands for, with weights that sum to one."""
        lefts, rights = (
            self._open if word is None else {word: 1} for word in (pattern.left, pattern.right)
        )
        total = sum(lefts.values()) * sum(rights.values())
        return [
            ((left, X, *pattern.between, Y, right), lefts[left] * rights[right] / total)
            for left, right in product(lefts, rights)
        ]

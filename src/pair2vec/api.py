"""A model to ask: words in, words and numbers out.

What it needs is read from the model folder when a question first needs it.
"""

import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, overload

import numpy as np

from pair2vec.arrays import FloatArray, normalise, top_k
from pair2vec.errors import InputError, UsageError
from pair2vec.model.folder import load_model
from pair2vec.model.resolve import find_model
from pair2vec.query.analogies import (
    Analogy,
    Direction,
    all_pairs,
    likely_pairs,
    repeated_words,
    roles,
    similarities,
)
from pair2vec.query.pair_encoder import dot_with
from pair2vec.query.search import (
    Match,
    PairMatch,
    PatternMatch,
    RelationMatch,
    Search,
    WordSearch,
    check_prior,
    log_frequencies,
)
from pair2vec.query.vectors import ModelVectors, PairBatch, Unknown
from pair2vec.relations.classifier import RelationClassifier
from pair2vec.relations.definitions import read_definitions
from pair2vec.relations.relations import Relations
from pair2vec.text.vocabulary import find_typed

__all__ = [
    "Match",
    "Pair2vec",
    "PairBatch",
    "PairMatch",
    "PatternMatch",
    "RelationClassifier",
    "RelationMatch",
    "Relations",
    "load",
]


class Pair2vec(ModelVectors):
    """A trained model, open for questions."""

    @overload
    def fill(
        self,
        pattern: str,
        *,
        x: str | None = None,
        y: str | None = None,
        top: int = 10,
        among: Iterable[str] | None = None,
        search: Search = "exact",
        prior: float = 0.0,
    ) -> list[Match]: ...

    @overload
    def fill(self, pattern: list[str], *, x: str, y: str, top: int = 10) -> list[PatternMatch]: ...

    def fill(
        self,
        pattern: str | list[str],
        *,
        x: str | None = None,
        y: str | None = None,
        top: int = 10,
        among: Iterable[str] | None = None,
        search: Search = "exact",
        prior: float = 0.0,
    ) -> list[Match] | list[PatternMatch]:
        """The words that fit the free slot of a pattern best; or, of several patterns, the best.

        Args:
            pattern: As in ``in X , Y .``; or a list of them, to rank for given x and y.
            x: The word in slot X, to find words for Y.
            y: The word in slot Y, to find words for X.
            top: How many to return.
            among: Words to choose from; all of the vocabulary otherwise.
            search: "shortlist" is many times as fast on a large vocabulary, and may miss a word.
            prior: The weight of log p(word), its share of the corpus, beside R·C, which favours
                the rare; 0 is the paper's plain R·C (`query.search` says what others mean).
        """
        check_prior(prior)
        if not isinstance(pattern, str):
            if x is None or y is None:
                raise UsageError("several patterns are ranked for a pair: give both x and y")
            if prior:
                raise UsageError(f"prior is {prior:g}, but both words are given: none to weigh")
            return self._rank_patterns(pattern, self.scores([(x, y)], pattern)[0], top)
        if (x is None) == (y is None):
            raise UsageError(
                f"pattern {pattern!r}: give the word in slot X or the one in slot Y, to find the "
                "other; or both, and a list of patterns to rank"
            )
        given = find_typed(x if x is not None else str(y), self.vocabulary)
        half = self._pairs.given(given, "x" if x is not None else "y")
        context = self.context(pattern)
        favour = np.float32(prior) * self._log_shares
        words = self._words
        return words.best_words(
            lambda ids: half.scores(words.inputs(ids), context) + favour[ids],
            lambda: words.regions.rough_scores(half, dot_with(context)) + favour,
            [given],
            among=among,
            search=search,
            top=top,
        )

    @cached_property
    def _words(self) -> WordSearch:
        return WordSearch(self.vocabulary, self._pairs)

    @cached_property
    def _log_shares(self) -> FloatArray:
        return log_frequencies(self.vocabulary)

    def explain(self, x: str, y: str, *, top: int = 10) -> list[PatternMatch]:
        """The patterns, of those frequent in the corpus, that fit a pair best."""
        if not self.patterns:
            raise InputError(
                f"{self.saved.folder}: has no patterns to explain pairs by; train it again, or "
                "give patterns of your own to 'fill' with both x and y"
            )
        vector = self.pair(x, y, direction="forward", normalised=False)
        return self._rank_patterns(self.patterns, self._kept_contexts @ vector, top)

    @cached_property
    def _kept_contexts(self) -> FloatArray:
        """C of each of `patterns`."""
        return self._contexts(self.patterns)

    def analogy(  # noqa: PLR0913 - a question and how to answer it
        self,
        a: str,
        b: str,
        x: str,
        *,
        alpha: float = 0.5,
        direction: Direction = "both",
        top: int = 10,
        among: Iterable[str] | None = None,
        search: Search = "exact",
    ) -> list[Match]:
        """The words y that are to `x` as `b` is to `a`; never a, b or x themselves.

        Args:
            a: The first word of the example.
            b: The second word of the example.
            x: The word asked about.
            alpha: The weight of the pair vectors, cos(r_ab, r_xy); the rest is the weight of the
                single words', cos(b − a + x, y).
            direction: Of the pair vectors.
            top: How many to return.
            among: Words to choose from; all of the vocabulary otherwise.
            search: "shortlist" is many times as fast on a large vocabulary, and may miss a word.
        """
        if not 0 <= alpha <= 1:
            raise UsageError(f"alpha is {alpha}; it must be between 0 and 1")
        given = [find_typed(word, self.vocabulary) for word in (a, b, x)]
        first, second, asked = self.unit_words[given]
        question = Analogy(
            [self._comparable.given(given[2], role) for role in roles(direction)],
            self._compared(given[0], given[1], direction).reshape(-1, self._pairs.dimension),
            normalise(second - first + asked),
            alpha,
        )
        words = self._words
        return words.best_words(
            lambda ids: question.scores(words.inputs(ids), self.unit_words[ids]),
            lambda: question.rough_scores(words.regions, self.unit_words),
            given,
            among=among,
            search=search,
            top=top,
        )

    def nearest(
        self,
        x: str,
        y: str,
        *,
        among: Iterable[tuple[str, str]] | None = None,
        words: Iterable[str] | None = None,
        direction: Direction = "both",
        top: int = 10,
        unknown: Unknown = "error",
    ) -> list[PairMatch]:
        """Pairs in the same relation as `x` and `y`.

        Args:
            x: A word.
            y: A word.
            among: The pairs to choose from.
            words: Or the words whose pairs to choose from: all n·(n − 1) of them.
            direction: Of the pair vectors.
            top: How many to return.
            unknown: What to do with unknown words in `among` or `words`: "error" or "skip".

        Without `among` or `words`, pairs are searched for: words like x, each with words that are
        to it about as y is to x by their single vectors; the pair vectors then rank them. No
        word appears twice, nor x or y.
        """
        if among is not None and words is not None:
            raise UsageError("give pairs to choose among, or words, not both")
        if unknown == "zero":
            raise UsageError('unknown is "zero", which no pair can be ranked by; "error" or "skip"')
        given = [find_typed(word, self.vocabulary) for word in (x, y)]
        example = self._compared(given[0], given[1], direction)
        if among is not None:
            first, second, known = self._ids_of_pairs(among, unknown)
            first, second = first[known], second[known]
        elif words is not None:
            chosen, _, known = self._ids_of_pairs(((word, word) for word in words), unknown)
            first, second = all_pairs(np.unique(chosen[known]))
        else:
            first, second = likely_pairs(self.unit_words, *given)
        scores = similarities(self._comparable, example, first, second, direction)
        if among is None and words is None:
            left_out = repeated_words(scores, first, second)
        else:
            left_out = np.flatnonzero((first == given[0]) & (second == given[1]))
        spelled = self.vocabulary.words
        return [
            PairMatch(spelled[first[place]], spelled[second[place]], float(scores[place]))
            for place in top_k(scores, top, without=left_out.tolist())
        ]

    def relations(self, file: str | os.PathLike[str] | None = None) -> Relations:
        """Relations to ask for: the built-in ones, or those that a TOML file defines."""
        return Relations(
            read_definitions(None if file is None else Path(file)),
            self.pair_source,
            self.vocabulary,
        )

    def neighbours(self, word: str, relation: str, *, top: int = 10) -> list[Match]:
        """The words that are most probably in a built-in relation to `word`.

        `relations` takes relations of one's own, and has more questions.
        """
        return self._built_in_relations.neighbours(word, relation, top=top)

    @cached_property
    def _built_in_relations(self) -> Relations:
        return self.relations()

    def _rank_patterns(
        self, patterns: Sequence[str], scores: FloatArray, top: int
    ) -> list[PatternMatch]:
        return [PatternMatch(patterns[n], float(scores[n])) for n in top_k(scores, top)]


def load(
    path_or_name: str | os.PathLike[str] | None = None, *, whitening: float | None = None
) -> Pair2vec:
    """Open a model: a folder, a bundled model's name, or ``owner/name`` on the hub.

    `whitening` is how much pair vectors are evened out before they are compared, from 0 (the
    paper's plain cosine) to 1.
    """
    return Pair2vec(load_model(find_model(path_or_name)), whitening=whitening)


# == A pair in one direction: its vector, and the patterns that fit it best.


class DirectedPair(NamedTuple):
    """R(x, y)."""

    x: str
    y: str
    norm: float
    """Of R, before it is brought to length one."""
    vector: list[float]
    """Of length one."""
    patterns: list[PatternMatch] | None
    """Those that fit best; None where the model keeps none."""

    @classmethod
    def of(cls, model: Pair2vec, x: str, y: str, *, top: int = 10) -> "DirectedPair":
        """That of two words, with the `top` patterns."""
        whole = model.pair(x, y, direction="forward", normalised=False)
        return cls(
            x,
            y,
            norm=float(whole @ whole) ** 0.5,
            vector=model.pair(x, y, direction="forward").tolist(),
            patterns=model.explain(x, y, top=top) if model.patterns else None,
        )

    def as_json(self) -> dict[str, object]:
        """As `docs/json.md` has it."""
        matches = self.patterns
        patterns = None if matches is None else [match._asdict() for match in matches]
        return {**self._asdict(), "patterns": patterns}

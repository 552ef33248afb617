"""A model to ask: words in, words and numbers out.

What it needs is read from the model folder when a question first needs it.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, get_args, overload

import numpy as np
from numpy.typing import NDArray

from pair2vec.errors import InputError, UsageError
from pair2vec.model.facts import model_facts
from pair2vec.model.folder import SavedModel, load_model
from pair2vec.model.shelf import find_model
from pair2vec.query.analogies import Analogy, Direction, directed, roles
from pair2vec.query.comparison import check_whitening, comparison_layer
from pair2vec.query.contexts import PatternVectors
from pair2vec.query.frequency import check_prior, log_shares
from pair2vec.query.half_pair import Layer, Vectors, dot_with, normalise
from pair2vec.query.matches import Match, PairBatch, PairMatch, PatternMatch, best
from pair2vec.query.neighbours import all_pairs, likely_pairs, repeated_words, similarities
from pair2vec.query.pair_vectors import LearntPairs, Numbers, PairVectors, make_pair_vectors
from pair2vec.query.relation_definitions import read_definitions
from pair2vec.query.relation_features import PairSource
from pair2vec.query.relations import Relations
from pair2vec.query.shortlist import SHORTLIST, Regions, shortlist
from pair2vec.text.spelling import find_typed, is_word
from pair2vec.text.vocabulary import PADDING, SPECIAL_TOKENS, Vocabulary

Unknown = Literal["error", "skip", "zero"]
"""What a batch does with an unknown word: refuse, leave the pair out, or give it a zero vector."""

Candidates = Numbers | slice
"""The ids of words to choose from, in order; or all of them, as a slice that copies nothing."""

Search = Literal["exact", "shortlist"]
"""Score every word; or only some thousand that a rough score chooses (`query.shortlist`)."""

_SPECIAL = range(len(SPECIAL_TOKENS))


class _PairIds(NamedTuple):
    """Pairs as ids, and of each whether both its words are known."""

    x: Numbers
    y: Numbers
    known: NDArray[np.bool_]


class Pair2vec:
    """A trained model, open for questions."""

    def __init__(self, saved: SavedModel, *, whitening: float | None = None) -> None:
        """Open a model.

        Args:
            saved: The model folder.
            whitening: How much pair vectors are evened out before they are compared, from 0 (the
                paper's plain cosine) to 1; see `pair2vec.query.comparison`, which has the default.
        """
        self.saved = saved
        self._pairs = make_pair_vectors(saved)
        self._whitening = check_whitening(whitening)

    @property
    def vocabulary(self) -> Vocabulary:
        """The words it knows."""
        return self.saved.vocabulary

    @cached_property
    def patterns(self) -> list[str]:
        """Patterns that are frequent in its corpus; none if they were not kept."""
        return [entry.pattern for entry in self.saved.patterns()]

    def info(self) -> dict[str, str]:
        """What is known of the model, as printable values by name."""
        return model_facts(self.saved)

    def pair(
        self, x: str, y: str, *, direction: Direction = "both", normalised: bool = True
    ) -> Vectors:
        """The vector of the relation of `x` to `y`.

        Args:
            x: A word.
            y: A word.
            direction: "forward" is R(x, y), "backward" is R(y, x), "both" one behind the other.
            normalised: Each direction to length one, as the paper uses them (`eq:bi-relemb`).

        Raises:
            UnknownWordError: it names the words that are spelled alike.
        """
        (vector,) = self.pairs([(x, y)], direction=direction, normalised=normalised).vectors
        return vector  # type: ignore[no-any-return]

    def pairs(
        self,
        pairs: Iterable[tuple[str, str]],
        *,
        direction: Direction = "both",
        normalised: bool = True,
        unknown: Unknown = "error",
    ) -> PairBatch:
        """The vectors of many pairs, as `pair` makes them.

        Args:
            pairs: Of words.
            direction: As in `pair`.
            normalised: As in `pair`.
            unknown: "error" raises at the first unknown word; "skip" leaves such pairs out; "zero"
                gives them a zero vector. `known` of the answer says which they are.
        """
        x, y, known = self._ids_of_pairs(pairs, unknown)
        vectors = directed(self._pairs, x[known], y[known], direction, normalised=normalised)
        if unknown == "zero":
            rows = np.zeros((len(known), vectors.shape[1]), np.float32)
            rows[known] = vectors
            vectors = rows
        return PairBatch(vectors, known)

    def context(self, pattern: str) -> Vectors:
        """The vector C of a pattern such as ``neither X nor Y``: (D,).

        An outer word that is left open stands for any word: the mean over the frequent ones.
        """
        (vector,) = self._contexts([pattern])
        return vector  # type: ignore[no-any-return]

    def score(self, x: str, y: str, pattern: str) -> float:
        """R(x, y)·C(pattern): how well the pair fits the pattern."""
        return float(self.scores([(x, y)], [pattern])[0, 0])

    def scores(self, pairs: Iterable[tuple[str, str]], patterns: Sequence[str]) -> Vectors:
        """The score of each pair in each pattern: (pairs, patterns)."""
        x, y, _ = self._ids_of_pairs(pairs, "error")
        scores: Vectors = self._pairs(x, y) @ self._contexts(patterns).T
        return scores

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
                the rare; 0 is the paper's plain R·C (`query.frequency` says what others mean).
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
        ids = self._candidates(
            among,
            search,
            [given],
            lambda: self._regions.rough_scores(half, dot_with(context)) + favour,
        )
        scores = half.scores(self._inputs(ids), context) + favour[ids]
        return self._matches(scores, ids, top, [given])

    @cached_property
    def _log_shares(self) -> Vectors:
        return log_shares(self.vocabulary)

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
    def _kept_contexts(self) -> Vectors:
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
        ids = self._candidates(
            among, search, given, lambda: question.rough_scores(self._regions, self.unit_words)
        )
        scores = question.scores(self._inputs(ids), self.unit_words[ids])
        return self._matches(scores, ids, top, given)

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
            for place in best(scores, top, without=left_out.tolist())
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

    @cached_property
    def pair_source(self) -> PairSource:
        """What it has to say of pairs of ids, for questions that are asked elsewhere."""
        return PairSource(self._pairs, self._comparison, self._contexts, self.unit_words)

    @cached_property
    def _comparison(self) -> Layer | None:
        return comparison_layer(self._pairs, self._whitening)

    @cached_property
    def _comparable(self) -> PairVectors:
        """R as it is compared."""
        layer, pairs = self._comparison, self._pairs
        return pairs.changed(layer) if layer and isinstance(pairs, LearntPairs) else pairs

    def _compared(self, x: int, y: int, direction: Direction) -> Vectors:
        """The vector of a pair as it is compared."""
        vector: Vectors = directed(self._comparable, np.array([x]), np.array([y]), direction)[0]
        return vector

    @cached_property
    def _contexts(self) -> PatternVectors:
        return PatternVectors(self.saved)

    @cached_property
    def _regions(self) -> Regions:
        return Regions(self._pairs.all_inputs)

    @cached_property
    def unit_words(self) -> Vectors:
        """The words of R, of length one: (V, D)."""
        words = self._pairs.all_inputs
        return words if self._pairs.takes_unit_words else normalise(words)

    def _ids_of_pairs(self, pairs: Iterable[tuple[str, str]], unknown: Unknown) -> _PairIds:
        if unknown not in get_args(Unknown):
            raise UsageError(
                f"unknown is {unknown!r}; it must be one of {', '.join(get_args(Unknown))}"
            )
        rows, known = [], []
        for pair in pairs:
            # Looking for words spelled alike takes long: only when the error is to be shown.
            is_known = unknown == "error" or all(is_word(w, self.vocabulary) for w in pair)
            known.append(is_known)
            rows.append([find_typed(w, self.vocabulary) if is_known else PADDING for w in pair])
        ids = np.array(rows, np.intp).reshape(-1, 2)
        return _PairIds(ids[:, 0], ids[:, 1], np.array(known, np.bool_))

    def _candidates(
        self,
        among: Iterable[str] | None,
        search: Search,
        given: Sequence[int],
        rough_scores: Callable[[], Vectors],
    ) -> Candidates:
        """The words to score."""
        if search not in get_args(Search):
            raise UsageError(
                f"search is {search!r}; it must be one of {', '.join(get_args(Search))}"
            )
        if among is not None:
            return np.array(sorted({find_typed(word, self.vocabulary) for word in among}), np.intp)
        if search == "shortlist" and len(self.vocabulary) > SHORTLIST:
            return shortlist(rough_scores(), (*_SPECIAL, *given))
        return slice(None)

    def _inputs(self, ids: Candidates) -> Vectors:
        return self._pairs.all_inputs if isinstance(ids, slice) else self._pairs.inputs(ids)

    def _matches(
        self, scores: Vectors, ids: Candidates, top: int, given: Sequence[int]
    ) -> list[Match]:
        """The best words, without special tokens and those given."""
        numbers = np.arange(len(self.vocabulary))[ids]
        left_out = np.flatnonzero(np.isin(numbers, (*_SPECIAL, *given)))
        return [
            Match(self.vocabulary.words[numbers[place]], float(scores[place]))
            for place in best(scores, top, left_out.tolist())
        ]

    def _rank_patterns(
        self, patterns: Sequence[str], scores: Vectors, top: int
    ) -> list[PatternMatch]:
        return [PatternMatch(patterns[n], float(scores[n])) for n in best(scores, top)]


def load(
    path_or_name: str | os.PathLike[str] | None = None, *, whitening: float | None = None
) -> Pair2vec:
    """Open a model: a folder, a bundled model's name, or ``owner/name`` on the hub.

    `whitening` is how much pair vectors are evened out before they are compared, from 0 (the
    paper's plain cosine) to 1.
    """
    return Pair2vec(load_model(find_model(path_or_name)), whitening=whitening)

"""The relation between two words and its probability; `pair2vec.load().relations()` opens it."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from pair2vec.arrays import FloatArray, IntArray, top_k
from pair2vec.errors import UsageError
from pair2vec.query.search import Match, RelationMatch
from pair2vec.query.space import SPECIAL_IDS, PairSpace
from pair2vec.relations.definitions import NONE, RelationDefinition
from pair2vec.relations.examples import find_examples
from pair2vec.relations.features import RelationFeatures
from pair2vec.relations.regression import UNRELATED, RelationRegression, fit_relations, shift_prior
from pair2vec.relations.word_forms import is_form
from pair2vec.rendering import Table
from pair2vec.text.phrases import shares_words
from pair2vec.text.vocabulary import look_up_word

THRESHOLD = 0.5
"""Of `RelationScorer.thresholds`, at least: what is less probable is not even likely."""

CANDIDATES = 6_000
"""How many words neighbours are chosen from: the nearest to the query's word."""

SIMILARITY_WEIGHT, FREQUENCY_WEIGHT = 2.0, 0.0
"""How much the cosine of the two words and the frequency of the neighbour count in the order of
neighbours in any relation."""
SYMMETRIC_SIMILARITY = 2.0
"""The same for neighbours in one symmetric relation; in another one it counts nothing."""


_MOST_FORMS = 5
"""Of a word among neighbours: hardly any has more."""


class RelationScorer(Protocol):
    """Probabilities of relations for pairs of ids."""

    @property
    def unrelated(self) -> float:
        """The prior probability of no relation that they are calibrated for."""

    @property
    def thresholds(self) -> FloatArray:
        """A relation that is less probable than its own is not named, (K,)."""

    def __call__(self, x: IntArray, y: IntArray) -> FloatArray:
        """(N, K), no relation being the last."""


class FittedScorer:
    """Fitted to examples and patterns at the first query, which takes two or three seconds."""

    unrelated = UNRELATED

    def __init__(self, definitions: Sequence[RelationDefinition], space: PairSpace) -> None:
        self._definitions, self._space = definitions, space
        self.thresholds = np.full(len(definitions) + 1, THRESHOLD, np.float32)

    def __call__(self, x: IntArray, y: IntArray) -> FloatArray:
        features, regression = self.fitted
        return regression.probabilities(features(x, y))

    @cached_property
    def fitted(self) -> tuple[RelationFeatures, RelationRegression]:
        examples = find_examples(self._definitions, self._space)
        features = RelationFeatures(self._space, self._definitions, examples)
        words = self._space.unit_words
        return features, fit_relations(features, examples, len(self._definitions), words)


class _Neighbours(NamedTuple):
    """Candidates for the neighbours of a word."""

    ids: IntArray
    """(N,)"""
    probabilities: FloatArray
    """(N, K)"""
    cosines: FloatArray
    """With the word, (N,)."""


def neighbour_order(
    scores: FloatArray,
    cosines: FloatArray,
    ids: IntArray,
    similarity: float = SIMILARITY_WEIGHT,
    frequency: float = FREQUENCY_WEIGHT,
) -> FloatArray:
    """What neighbours are sorted by, (N,): the probability, moved by two properties of the word.

    A head is as sure of *hot* / *tasteless* as of *hot* / *cold*; who asks means the word that is
    used alike, and the more usual one. `benchmarks/neighbours.py` chose the default weights.
    """
    order: FloatArray = scores * np.exp(np.float32(similarity) * cosines)
    return order * (ids + 1.0).astype(np.float32) ** np.float32(-frequency)


class Relations:
    """Relations by name, and their probabilities for any pair."""

    def __init__(
        self,
        definitions: Sequence[RelationDefinition],
        space: PairSpace,
        scorer: RelationScorer | None = None,
    ) -> None:
        """Relations for a model.

        Args:
            definitions: Of the relations.
            space: Of the model. Examples with a word it does not know are ignored.
            scorer: Of the same relations, in this order; by default one fitted to their examples
                and patterns.

        Raises:
            UsageError: two relations have one name, or one has neither an example nor a pattern
                that the model knows.
        """
        self.definitions = tuple(definitions)
        self.names = (*(definition.name for definition in self.definitions), NONE)
        if len(set(self.names)) < len(self.names) or len(self.names) == 1:
            raise UsageError(f"relations {', '.join(self.names)}: give at least one, each once")
        self.space = space
        self._vocabulary = space.vocabulary
        self.scorer = scorer or FittedScorer(self.definitions, space)

    def __repr__(self) -> str:
        return f"<Relations: {', '.join(self.names)}>"

    @property
    def thresholds(self) -> FloatArray:
        """A relation that is less probable than its own is not named, (K,)."""
        return self.scorer.thresholds

    @cached_property
    def relates_forms(self) -> bool:
        """Whether an example has two forms of a word; if none has, forms are in no relation.

        By themselves *stands* and *standing* would pass for antonyms or synonyms: they are similar,
        and occur in the same contexts.
        """
        return any(is_form(*pair) for relation in self.definitions for pair in relation.examples)

    def definition(self, relation: str) -> RelationDefinition:
        """The definition of a relation.

        Raises:
            UsageError: there is none of this name.
        """
        for definition in self.definitions:
            if definition.name == relation:
                return definition
        names = ", ".join(self.names[:-1])
        raise UsageError(f"relation {relation!r} is not defined; it must be one of {names}")

    def predict_proba(
        self, pairs: Iterable[tuple[str, str]], *, unrelated: float | None = None
    ) -> FloatArray:
        """The probability of each of `names` for each pair, that of "none" last: (pairs, K + 1).

        Forms of one word are in none, unless an example has two.

        Args:
            pairs: Of words.
            unrelated: The prior probability of no relation: half in a list that someone compiled,
                nearly 1 for random pairs. None is that of the calibration.

        Raises:
            UnknownWordError: a word is out of the vocabulary; it suggests similar spellings.
        """
        x, y, _ = self.space.look_up_pairs(pairs, "error")
        return self.probabilities(x, y, unrelated)

    def predict(
        self, pairs: Iterable[tuple[str, str]], *, unrelated: float | None = None
    ) -> list[str]:
        """The most probable relation of each pair, which may be "none"."""
        probabilities = self.predict_proba(pairs, unrelated=unrelated)
        return [self.names[best] for best in probabilities.argmax(axis=1)]

    def neighbours(
        self,
        word: str,
        relation: str,
        *,
        top: int = 10,
        among: Iterable[str] | None = None,
        unrelated: float | None = None,
        all_words: bool = False,
    ) -> Table[Match]:
        """The words y that are most probably in a relation to a word x, each in one form.

        Those of a symmetric relation are ranked by probability and cosine together: of two
        equally probable antonyms, the one that occurs in the contexts of x is meant.

        Args:
            word: The word x; an unknown one is composed where the model can.
            relation: Its name; y is x's antonym, hypernym, and so on.
            top: How many to return.
            among: Words to choose from; by default the 6 000 nearest to x.
            unrelated: As in `predict_proba`.
            all_words: Whether punctuation, numbers, function words and pieces of words may be
                answers, too; those of `among` always may.
        """
        similarity = SYMMETRIC_SIMILARITY if self.definition(relation).symmetric else 0.0
        found = self._score_candidates(word, among, unrelated, all_words=all_words)
        scores = found.probabilities[:, self.names.index(relation)]
        order = neighbour_order(scores, found.cosines, found.ids, similarity)
        spelled = self._vocabulary.words
        chosen = self._best(found, order, top, distinct=among is None)
        return Table(Match(spelled[found.ids[n]], float(scores[n])) for n in chosen)

    def typed_neighbours(
        self,
        word: str,
        *,
        top: int = 10,
        among: Iterable[str] | None = None,
        unrelated: float | None = None,
        all_words: bool = False,
    ) -> Table[RelationMatch]:
        """The words most probably in any one relation to a word, each in one form."""
        found = self._score_candidates(word, among, unrelated, all_words=all_words)
        best = found.probabilities[:, :-1].argmax(axis=1)
        scores = found.probabilities[np.arange(len(best)), best]
        order = neighbour_order(scores, found.cosines, found.ids)
        spelled = self._vocabulary.words
        return Table(
            RelationMatch(spelled[found.ids[n]], self.names[best[n]], float(scores[n]))
            for n in self._best(found, order, top, distinct=among is None)
        )

    def _best(
        self, found: _Neighbours, order: FloatArray, top: int, *, distinct: bool
    ) -> list[int]:
        """The first of `found` in an order.

        If `distinct`, no two that are forms of one word, or of which one is a part of the other.
        """
        if not distinct or self.relates_forms:
            return [int(n) for n in top_k(order, top)]
        chosen: list[int] = []
        spelled = self._vocabulary.words
        for n in top_k(order, _MOST_FORMS * top).tolist():
            own = spelled[found.ids[n]]
            others = [spelled[found.ids[other]] for other in chosen]
            if not any(is_form(own, other) or shares_words(own, other) for other in others):
                chosen.append(n)
            if len(chosen) == top:
                break
        return chosen

    def _score_candidates(
        self, word: str, among: Iterable[str] | None, unrelated: float | None, *, all_words: bool
    ) -> _Neighbours:
        x = self.space.look_up(word)
        words, own = self.space.unit_words, self.space.unit_inputs(np.array([x]))[0]
        if among is None:
            no_answers = () if all_words else self.space.answers.excluded([x]).tolist()
            exclude = (n for n in (*SPECIAL_IDS, x, *no_answers) if n < len(words))
            ids = top_k(words @ own, CANDIDATES, exclude)
        else:
            chosen = {look_up_word(other, self._vocabulary) for other in among} - {x}
            ids = np.array(sorted(chosen), np.intp)
        probabilities = self.probabilities(np.full_like(ids, x), ids, unrelated)
        return _Neighbours(ids, probabilities, words[ids] @ own)

    def probabilities(self, x: IntArray, y: IntArray, unrelated: float | None = None) -> FloatArray:
        """As `predict_proba`, of pairs of ids."""
        if unrelated is not None and not 0 < unrelated < 1:
            raise UsageError(f"unrelated is {unrelated:g}; it must be between 0 and 1; 0.5, say")
        probabilities = self.scorer(x, y)
        if unrelated not in {None, self.scorer.unrelated}:
            probabilities = shift_prior(probabilities, self.scorer.unrelated, unrelated)
        if not self.relates_forms:
            spelled = self.space.spelled
            pairs = zip(x.tolist(), y.tolist(), strict=True)
            are_forms = [is_form(spelled[first], spelled[second]) for first, second in pairs]
            none = np.eye(len(self.names), dtype=np.float32)[-1]
            probabilities[np.array(are_forms, np.bool_)] = none
        return probabilities

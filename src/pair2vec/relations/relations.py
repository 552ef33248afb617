"""Which relation holds between two words, and how surely; or none.

`pair2vec.load().relations()` is the way here.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from pair2vec.arrays import FloatArray, IntArray, top_k
from pair2vec.errors import UsageError
from pair2vec.query.search import Match, RelationMatch
from pair2vec.query.vectors import PairSpace
from pair2vec.relations.definitions import NONE, RelationDefinition
from pair2vec.relations.examples import find_examples
from pair2vec.relations.features import RelationFeatures
from pair2vec.relations.regression import UNRELATED, RelationRegression, fit_relations, shift_prior
from pair2vec.relations.word_forms import is_form
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary, find_pair, find_typed

CANDIDATES = 6_000
"""Neighbours are looked for among this many words, those most like the given one."""


_NEARNESS = np.float32(2)
"""How much the cosine of two words counts in the order of neighbours."""


class Relations:
    """Relations by name, and the probability of each for any pair."""

    def __init__(
        self,
        definitions: Sequence[RelationDefinition],
        source: PairSpace,
        vocabulary: Vocabulary,
    ) -> None:
        """Relations for a model.

        Args:
            definitions: Of the relations.
            source: What the model has to say of pairs.
            vocabulary: Of the model. Examples with a word it does not know are passed over.

        Raises:
            UsageError: two relations have one name, or one has neither an example nor a pattern
                that the model knows.
        """
        self.definitions = tuple(definitions)
        self.names = (*(definition.name for definition in self.definitions), NONE)
        if len(set(self.names)) < len(self.names) or len(self.names) == 1:
            raise UsageError(f"relations {', '.join(self.names)}: give at least one, each once")
        self._source = source
        self._vocabulary = vocabulary

    @cached_property
    def tells_forms(self) -> bool:
        """Whether an example has two forms of a word; if none has, forms are in no relation.

        By themselves *stands* and *standing* would pass for opposites or synonyms: they are alike,
        and one often stands where the other might.
        """
        return any(is_form(*pair) for one in self.definitions for pair in one.examples)

    @cached_property
    def _fitted(self) -> tuple[RelationFeatures, RelationRegression]:
        """Made when first asked for; it takes two or three seconds."""
        examples = find_examples(self.definitions, self._source, self._vocabulary)
        features = RelationFeatures(
            self._source, self.definitions, examples, self._vocabulary.words
        )
        words = self._source.unit_words
        return features, fit_relations(features, examples, len(self.definitions), words)

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

    def score(
        self, pairs: Iterable[tuple[str, str]], *, unrelated: float = UNRELATED
    ) -> FloatArray:
        """The probability of each relation for each pair, and last of none: (pairs, K + 1).

        Forms of one word are in none, unless an example has two.

        Args:
            pairs: Of words.
            unrelated: The share of such pairs that have none of the relations: half of them in a
                list that someone put together, nearly all of them in pairs taken at random.

        Raises:
            UnknownWordError: it names the words that are spelled alike.
        """
        ids = [find_pair(x, y, self._vocabulary) for x, y in pairs]
        x, y = np.array(ids, np.intp).reshape(-1, 2).T
        return self._probabilities(x, y, unrelated)

    def name(self, pairs: Iterable[tuple[str, str]], *, unrelated: float = UNRELATED) -> list[str]:
        """The most probable relation of each pair, which may be "none"."""
        return [self.names[place] for place in self.score(pairs, unrelated=unrelated).argmax(1)]

    def neighbours(
        self,
        word: str,
        relation: str,
        *,
        top: int = 10,
        among: Iterable[str] | None = None,
        unrelated: float = UNRELATED,
    ) -> list[Match]:
        """The words y that are most probably in a relation to a word x.

        Of a symmetric relation they are in the order of their probability and nearness together:
        of two opposites that are as likely, that is meant which is said in the same places as x.

        Args:
            word: The word x.
            relation: Its name; y is x's antonym, hypernym, and so on.
            top: How many to return.
            among: Words to choose from; else the 6 000 that are most like x.
            unrelated: As in `score`.
        """
        is_symmetric = self.definition(relation).symmetric
        ids, probabilities = self._around(word, among, unrelated)
        scores = probabilities[:, self.names.index(relation)]
        order = scores
        if is_symmetric:
            words = self._source.unit_words
            cosines = words[ids] @ words[find_typed(word, self._vocabulary)]
            order = scores * np.exp(_NEARNESS * cosines)
        spelled = self._vocabulary.words
        return [Match(spelled[ids[n]], float(scores[n])) for n in top_k(order, top)]

    def typed_neighbours(
        self,
        word: str,
        *,
        top: int = 10,
        among: Iterable[str] | None = None,
        unrelated: float = UNRELATED,
    ) -> list[RelationMatch]:
        """The words most probably in any one relation to a word, each with that relation."""
        ids, probabilities = self._around(word, among, unrelated)
        kinds = probabilities[:, :-1].argmax(axis=1)
        scores = probabilities[np.arange(len(ids)), kinds]
        spelled = self._vocabulary.words
        return [
            RelationMatch(spelled[ids[n]], self.names[kinds[n]], float(scores[n]))
            for n in top_k(scores, top)
        ]

    def _around(
        self, word: str, among: Iterable[str] | None, unrelated: float
    ) -> tuple[IntArray, FloatArray]:
        """Candidates for y, and their probabilities."""
        x = find_typed(word, self._vocabulary)
        if among is None:
            ids = self._candidates(x)
        else:
            chosen = {find_typed(other, self._vocabulary) for other in among} - {x}
            ids = np.array(sorted(chosen), np.intp)
        return ids, self._probabilities(np.full_like(ids, x), ids, unrelated)

    def _candidates(self, x: int) -> IntArray:
        """The words most like a word."""
        words = self._source.unit_words
        return top_k(words @ words[x], CANDIDATES, (*range(len(SPECIAL_TOKENS)), x))

    def _probabilities(self, x: IntArray, y: IntArray, unrelated: float) -> FloatArray:
        if not 0 < unrelated < 1:
            raise UsageError(f"unrelated is {unrelated:g}; it must be between 0 and 1; 0.5, say")
        features, regression = self._fitted
        found = shift_prior(regression.probabilities(features(x, y)), unrelated)
        if not self.tells_forms:
            spelled = self._vocabulary.words
            pairs = zip(x.tolist(), y.tolist(), strict=True)
            forms = [is_form(spelled[first], spelled[second]) for first, second in pairs]
            found[np.array(forms, np.bool_)] = np.eye(len(self.names), dtype=np.float32)[-1]
        return found

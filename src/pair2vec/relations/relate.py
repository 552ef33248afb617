"""Which relation holds between two words: the most probable one, and pairs in the same relation."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pair2vec.arrays import FloatArray, top_k
from pair2vec.query.composition import ComposedWord, composed_json
from pair2vec.query.search import (
    PairMatch,
    PatternMatch,
    analogous_pairs,
    pair_cosines,
    repeated_words,
)
from pair2vec.query.space import Unknown
from pair2vec.relations.definitions import NONE
from pair2vec.relations.relations import Relations
from pair2vec.rendering import LEAST_SHOWN, Share, Table, html_answer, percent

UNCLEAR = "unclear"
"""The name where the most probable relation, or none, is less so than its threshold."""
OUT_OF_VOCABULARY = "unknown"
"""The name of a pair with an unknown word, where such a pair is not an error."""

_DEFINITIONS = {
    NONE: "x and y are in none of these relations",
    UNCLEAR: "no relation is probable enough to be named",
}
_RUNNERS_UP = 3
_FIRST_WORDS, _SECOND_WORDS = 80, 10
"""Candidates for pairs in the same relation: fewer than `nearest` looks at, to answer at once."""


class RelationProbability(NamedTuple):
    """A relation of two words, and how probable it is."""

    name: str
    probability: float


class Relation(NamedTuple):
    """How two words x and y are related."""

    name: str
    """Of the most probable relation; "none", or "unclear" where nothing is probable enough."""
    probability: float
    """Of the most probable relation, also where it is not named."""
    definition: str
    """In words, as in: y is the opposite of x."""
    others: list[RelationProbability]
    """The runners-up, the most probable first; where it is unclear, from the most probable on."""
    like: Table[PairMatch]
    """Pairs in the same relation; empty for "none" and "unclear".

    The score is the probability of that, times the cosine similarity of the two pairs.
    """
    patterns: Table[PatternMatch]
    """The frequent patterns that fit x and y best; empty where the model keeps none."""
    composed: Table[ComposedWord]
    """Of x and y those that are out of the vocabulary, and have a vector all the same."""

    def __repr__(self) -> str:
        return f"<Relation {self.name!r}, {percent(self.probability)}: {self.definition}>"

    def _repr_html_(self) -> str:
        best = [] if self.name == UNCLEAR else [RelationProbability(self.name, self.probability)]
        others = [other for other in self.others if other.probability >= LEAST_SHOWN]
        evidence: dict[str, Sequence[Any]] = {
            "Pairs related like them": self.like,
            "Patterns that fit them": self.patterns,
            "Composed words": self.composed,
        }
        return html_answer(self.name, self.definition, [*best, *others], evidence)

    def as_json(self) -> dict[str, object]:
        best = RelationProbability(self.name, self.probability)
        return {
            **relation_json(best, self.definition, self.others),
            "like": [match._asdict() for match in self.like],
            "patterns": [match._asdict() for match in self.patterns],
            **composed_json(self.composed),
        }


def relation_json(
    best: RelationProbability, definition: str, others: Iterable[RelationProbability]
) -> dict[str, object]:
    """The relation of a pair as JSON, without what speaks for it."""
    return {
        "relation": best.name,
        "probability": best.probability,
        "definition": definition,
        "others": [{"relation": name, "probability": share} for name, share in others],
    }


class RelatedPair(NamedTuple):
    """A pair and its most probable relation."""

    x: str
    y: str
    relation: str
    """As of `Relation`; "unknown" for a pair that has none."""
    probability: float


class RelationBatch(NamedTuple):
    """Relations of many pairs."""

    names: NDArray[np.str_]
    """As of `Relation`, one a pair; "unknown" for a pair that ``unknown="zero"`` has kept."""
    probabilities: FloatArray
    """Of each of `relations`, (pairs, K); under ``unknown="skip"`` one row a known pair."""
    known: NDArray[np.bool_]
    """Of each pair in the query, whether both words are known or composed."""
    relations: tuple[str, ...]
    """The names of the columns, "none" last."""
    pairs: list[tuple[str, str]]
    """Those of the rows, as they were given."""

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str | None:
        return self.table()._repr_html_()

    def table(self) -> Table[RelatedPair]:
        """The most probable relation of each row, beside its pair."""
        shares = self.probabilities.max(axis=1, initial=0).tolist()
        rows = zip(self.pairs, self.names.tolist(), shares, strict=True)
        return Table(RelatedPair(x, y, name, Share(share)) for (x, y), name, share in rows)

    def ranked(self) -> Iterator[tuple[RelationProbability, list[RelationProbability]]]:
        """Of each row the relation and its runners-up, as in `Relation`."""
        order = np.argsort(-self.probabilities, axis=1, kind="stable")[:, : _RUNNERS_UP + 1]
        shares = np.take_along_axis(self.probabilities, order, axis=1)
        rows = zip(self.names.tolist(), order.tolist(), shares.tolist(), strict=True)
        for name, columns, probabilities in rows:
            names = [self.relations[column] for column in columns]
            best = list(map(RelationProbability, names, probabilities))
            others = best[:_RUNNERS_UP] if name == UNCLEAR else best[1:]
            yield RelationProbability(name, probabilities[0]), others


def relate_pairs(
    relations: Relations,
    pairs: Iterable[tuple[str, str]],
    *,
    unknown: Unknown = "error",
    unrelated: float | None = None,
) -> RelationBatch:
    """The most probable relation of each pair."""
    asked = [(x, y) for x, y in pairs]
    x, y, known = relations.space.look_up_pairs(asked, unknown)
    probabilities = relations.probabilities(x[known], y[known], unrelated)
    best = probabilities.argmax(axis=1)
    is_clear = probabilities.max(axis=1, initial=0) >= relations.thresholds[best]
    labels = np.array([*relations.names, UNCLEAR, OUT_OF_VOCABULARY])
    best = np.where(is_clear, best, len(labels) - 2)
    if unknown == "zero":
        rows = np.zeros((len(known), len(relations.names)), np.float32)
        rows[known] = probabilities
        probabilities, found = rows, best
        best = np.full(len(known), len(labels) - 1)
        best[known] = found
    else:
        asked = list(compress(asked, known))
    return RelationBatch(labels[best], probabilities, known, relations.names, asked)


def relation_definition(name: str, relations: Relations) -> str:
    """What a name of `Relation` means, in words."""
    return _DEFINITIONS.get(name) or relations.definition(name).definition


def pairs_in_relation(
    relations: Relations, example: tuple[int, int], name: str, *, top: int, unrelated: float | None
) -> Table[PairMatch]:
    """Pairs of frequent words that are in a relation as an example is; no word appears twice.

    Candidates are found by single words, as in `nearest`; those are kept that `relate` would give
    the same name.
    """
    space = relations.space
    first, second = analogous_pairs(
        space.frequent_words,
        *example,
        example=space.unit_inputs(np.array(example)),
        first_words=_FIRST_WORDS,
        second_words=_SECOND_WORDS,
    )
    probabilities = relations.probabilities(first, second, unrelated)
    column = relations.names.index(name)
    is_same = probabilities[:, column] >= relations.thresholds[column]
    first, second = first[is_same], second[is_same]
    cosines = pair_cosines(space.pairs, example, first, second, "both")
    scores = probabilities[is_same, column] * cosines
    words = space.vocabulary.words
    return Table(
        PairMatch(words[first[n]], words[second[n]], float(scores[n]))
        for n in top_k(scores, top, repeated_words(scores, first, second))
    )

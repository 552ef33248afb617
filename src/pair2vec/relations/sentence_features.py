"""What two aligned sentences differ in, as features and as words.

The content words without a partner are aligned softly, by the probabilities of their relations and
by their places. The pairs of opposites among them are one reversal, with the probability that there
is any, since opposites in two places do not restore the meaning (*large area and low cost*, *small
area and high cost*). Each negation that one sentence alone has is another. Two reversals cancel out
(*not disabled* is *enabled*): the sentences are reversed if an odd number of them hold, which has
the probability (1 - Π (1 - 2p)) / 2.

Shapes: A and B content words of the two sentences without a partner, K relations, F features.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pair2vec.arrays import FloatArray, IntArray
from pair2vec.relations.alignment import Alignment, Token, gaps
from pair2vec.relations.definitions import NONE
from pair2vec.relations.negation import LISTED, Side, listed_opposites
from pair2vec.relations.word_forms import differ_by_prefix

_LEAST_FLIP = 0.02
"""Less probable reversals are left out."""
_LEAST_NAMED = 0.2
"""Reversals with a lower probability are not named."""
_LEAST_RELATED = 0.3
"""The same of other relations."""

_IN_PLACE_ODDS, _SPELLED_ODDS = 10.0, 30.0
"""What the odds of two words being opposites are multiplied with where they are in one place, and
where their beginnings are opposites there, too: who compares two sentences that differ in a word
does not ask about two words drawn at random."""
_SYMMETRIC = frozenset({"and", "or"})
"""Words that may be exchanged around these, and nothing is."""
UNITS = frozenset(
    """km kilometers kilometres kilometer miles mile m meters metres meter feet foot inches inch
    yards cm mm kg kilograms grams g pounds pound lbs ounces celsius fahrenheit degrees percent
    dollars euros cents hours hour minutes minute seconds days day weeks week months month
    years year mb gb kb tb bytes liters litres gallons acres hectares mph kmh""".split()
)

_FEATURE_RELATIONS = ("synonym", "antonym", "hypernym", "hyponym", "co-hyponym", NONE)
FEATURES = """
    odd even any fewer_negations more_negations lower_coverage higher_coverage odd_covered
    less_unexplained more_unexplained replaced fewer_rest more_rest extra antonym synonym
    hypernym co-hyponym other gap_antonym gap_synonym gap_hypernym gap_co-hyponym gap_none
    substitution numbers numbers_added units names names_added exchanged order question
    questions length only_function rarity in_place unknown
""".split()


class Difference(NamedTuple):
    """Words in which two sentences differ."""

    kind: str
    """opposite, negation, number, unit, name, kind, exchanged, synonym, hypernym or word."""
    a: str
    """Of the first sentence; empty where the second has more."""
    b: str
    probability: float

    def __str__(self) -> str:
        words = " / ".join(word for word in (self.a, self.b) if word)
        return f"{words} ({self.kind} {100 * self.probability:.0f} %)"


@dataclass(frozen=True)
class Comparison:
    """Two aligned sentences, and the pairs of words whose relations are to be looked up."""

    alignment: Alignment
    rest_a: list[int]
    """The content words of a without a partner."""
    rest_b: list[int]
    is_replaced: FloatArray
    """How much two of them are in one place: 0, 0.5 or 1, (A, B)."""
    known_a: IntArray
    """Their ids, 0 for one that the model does not know, (A,)."""
    known_b: IntArray
    questions: tuple[bool, bool]
    """Whether each of them is one."""
    is_swapped: bool
    """Whether a is the second of the sentences that were given."""


def replaced_places(
    alignment: Alignment, rest_a: Sequence[int], rest_b: Sequence[int]
) -> FloatArray:
    """How much two words without a partner are in one place: 0, 0.5 or 1, (A, B)."""
    gaps_a, gaps_b = gaps(alignment)
    own_a = dict(zip(alignment.rest_a, gaps_a, strict=True))
    own_b = dict(zip(alignment.rest_b, gaps_b, strict=True))
    one = np.array([own_a[i] for i in rest_a]).reshape(-1, 1, 2)
    other = np.array([own_b[j] for j in rest_b]).reshape(1, -1, 2)
    shared: FloatArray = (one == other).mean(axis=2, dtype=np.float32)
    return shared


def odd_probability(flips: Iterable[float]) -> float:
    """That an odd number of independent events with these probabilities happen."""
    product = 1.0
    for probability in flips:
        product *= 1 - 2 * probability
    return (1 - product) / 2


class Differences:
    """The features of a comparison, and what they are made of."""

    def __init__(self, item: Comparison, table: FloatArray, columns: dict[str, int]) -> None:
        self._item, self._columns = item, columns
        self._a, self._b = item.alignment.a, item.alignment.b
        self._in_gap = list(zip(*np.nonzero(item.is_replaced == 1), strict=True))
        self._spelled_apart = {
            (n, m)
            for n, m in self._in_gap
            if differ_by_prefix(self._a[item.rest_a[n]].word, self._b[item.rest_b[m]].word)
        }
        odds = np.float32(_IN_PLACE_ODDS) ** item.is_replaced
        for place in self._spelled_apart:
            odds[place] *= _SPELLED_ODDS
        self._table = raise_odds(table, odds, columns["antonym"])
        self._weights = soft_alignment(1 - self._table[..., columns[NONE]], item.is_replaced)
        self._related = self._weights * (1 - self._table[..., columns[NONE]])
        self._aligned = self._weights[..., None] * self._table
        self._opposites, self._negations = self._find_flips()
        self.features = self._measure()

    def _relation(self, *names: str) -> FloatArray:
        """How much two words are aligned and in one of the relations, (A, B)."""
        columns = [self._columns[name] for name in names if name in self._columns]
        if len(columns) == 1:
            one: FloatArray = self._aligned[..., columns[0]]
            return one
        found: FloatArray = self._aligned[..., columns].sum(axis=2)
        return found

    def _find_flips(self) -> tuple[list[Difference], list[Difference]]:
        """Opposites among the words that differ, and negations that one sentence alone has.

        A negation that has an opposite is one with it: *fail to* reverses *manage to* once, be it
        as the opposite of *manage* or as a negation.
        """
        listed = listed_opposites(self._item.alignment)
        used_a, used_b = {i for i, _ in listed}, {j for _, j in listed}
        opposites = [
            Difference("opposite", self._a[i].text, self._b[j].text, LISTED) for i, j in listed
        ]
        antonyms, synonyms = self._relation("antonym"), self._relation("synonym")
        for n, m in zip(*np.nonzero(antonyms > _LEAST_FLIP), strict=True):
            i, j = self._item.rest_a[n], self._item.rest_b[m]
            if i not in used_a and j not in used_b:
                words = self._a[i].text, self._b[j].text
                opposites.append(Difference("opposite", *words, float(antonyms[n, m])))
        alignment = self._item.alignment
        negations: list[Difference] = []
        for axis, tokens, rest, content, used in (
            (1, self._a, alignment.rest_a, self._item.rest_a, used_a),
            (0, self._b, alignment.rest_b, self._item.rest_b, used_b),
        ):
            related, alike, opposed = (
                dict(zip(content, table.sum(axis=axis).tolist(), strict=True))
                for table in (self._related, synonyms, antonyms)
            )
            for n, probability in Side(tokens, rest, used, related, alike).negations():
                if probability <= _LEAST_FLIP:
                    continue
                words = (tokens[n].text, "") if axis else ("", tokens[n].text)
                found = opposites if opposed.get(n, 0.0) > _LEAST_FLIP else negations
                found.append(Difference("negation", *words, probability))
        return opposites, negations

    def _measure(self) -> dict[str, float]:
        item = self._item
        negated = [negation.probability for negation in self._negations]
        any_opposite = 1 - float(np.prod([1 - each.probability for each in self._opposites]))
        odd = odd_probability([any_opposite, *negated])
        none_at_all = (1 - any_opposite) * float(np.prod([1 - p for p in negated]))
        content = [max(1, sum(token.is_content for token in side)) for side in (self._a, self._b)]
        rest = [len(item.rest_a), len(item.rest_b)]
        coverage = sorted(1 - own / of for own, of in zip(rest, content, strict=True))
        unexplained = sorted(
            float((1 - self._related.sum(axis=axis).clip(max=1)).sum()) / of
            for axis, of in zip((1, 0), content, strict=True)
        )
        negations = sorted(
            sum(each.probability for each in self._negations if each[column] == "")
            for column in (1, 2)
        )
        unrelated = self._relation(NONE)
        in_gap = item.is_replaced == 1
        numbers, names = self._numbers(), self._names()
        exchanged, order = self._order()
        ids = np.concatenate([item.known_a, item.known_b])

        def most(*names: str) -> float:
            return float(self._relation(*names)[in_gap].max(initial=0))

        other = [name for name in self._columns if name not in _FEATURE_RELATIONS]
        return {
            "odd": odd,
            "even": 1 - odd - none_at_all,
            "any": 1 - none_at_all,
            "fewer_negations": negations[0],
            "more_negations": negations[1],
            "lower_coverage": coverage[0],
            "higher_coverage": coverage[1],
            "odd_covered": odd * coverage[0],
            "less_unexplained": unexplained[0],
            "more_unexplained": unexplained[1],
            "replaced": float(unrelated[in_gap].sum()),
            "fewer_rest": float(np.log1p(min(rest))),
            "more_rest": float(np.log1p(max(rest))),
            "extra": abs(rest[0] - rest[1]) / max(content),
            "antonym": float(self._relation("antonym").sum()),
            "synonym": float(self._relation("synonym").sum()),
            "hypernym": float(self._relation("hypernym", "hyponym").sum()),
            "co-hyponym": float(self._relation("co-hyponym").sum()),
            "other": float(self._relation(*other).sum()),
            "gap_antonym": most("antonym"),
            "gap_synonym": most("synonym"),
            "gap_hypernym": most("hypernym", "hyponym"),
            "gap_co-hyponym": most("co-hyponym"),
            "gap_none": float(unrelated[in_gap].max(initial=0)),
            "substitution": self._substitution(),
            "numbers": min(map(len, numbers)),
            "numbers_added": abs(len(numbers[0]) - len(numbers[1])),
            "units": float(self._units() is not None),
            "names": min(map(len, names)),
            "names_added": abs(len(names[0]) - len(names[1])),
            "exchanged": float(exchanged is not None),
            "order": order,
            "question": float(any(item.questions)),
            "questions": float(all(item.questions)),
            "length": float(np.log(len(self._a) + len(self._b))),
            "only_function": float(not item.rest_a and not item.rest_b),
            "rarity": float(np.log(ids[ids > 0]).mean()) if (ids > 0).any() else 0.0,
            "in_place": float((self._weights * item.is_replaced).sum()),
            "unknown": self._unknown_share(),
        }

    def _unknown_share(self) -> float:
        """The share, of the words that differ, of unknown ones without a spelled opposite."""
        spelled = [{place[axis] for place in self._spelled_apart} for axis in (0, 1)]
        sides = (self._item.known_a, self._item.known_b)
        unknown = [
            n
            for own, known in zip(spelled, sides, strict=True)
            for n, word in enumerate(known.tolist())
            if not word and n not in own
        ]
        return len(unknown) / max(1, sum(map(len, sides)))

    def _substitution(self) -> float:
        """How much a word is in the place of one that is neither a synonym nor an opposite.

        Two names are no synonyms, nor are *encrypt* and *decrypt*, whatever the model says.
        """
        found = self._weights - self._relation("antonym")
        synonyms = self._relation("synonym")
        most = 0.0
        for n, m in self._in_gap:
            a, b = self._a[self._item.rest_a[n]], self._b[self._item.rest_b[m]]
            are_distinct = (a.is_name and b.is_name) or (n, m) in self._spelled_apart
            most = max(most, float(found[n, m] - (0 if are_distinct else synonyms[n, m])))
        return most

    def _rest_where(self, is_meant: Callable[[Token], bool]) -> tuple[list[str], list[str]]:
        """Of the words that one sentence alone has, those that are meant."""
        alignment = self._item.alignment
        return (
            [self._a[i].text for i in alignment.rest_a if is_meant(self._a[i])],
            [self._b[j].text for j in alignment.rest_b if is_meant(self._b[j])],
        )

    def _numbers(self) -> tuple[list[str], list[str]]:
        return self._rest_where(lambda token: token.is_number)

    def _names(self) -> tuple[list[str], list[str]]:
        return self._rest_where(lambda token: token.is_name)

    def _units(self) -> tuple[str, str] | None:
        """Two different units in one place."""
        for n, i in enumerate(self._item.rest_a):
            for m, j in enumerate(self._item.rest_b):
                both = {self._a[i].word, self._b[j].word}
                if both <= UNITS and self._item.is_replaced[n, m] > 0:
                    return self._a[i].text, self._b[j].text
        return None

    def _order(self) -> tuple[tuple[str, str] | None, float]:
        """Two content words that have changed places, and the share of those out of order."""
        alignment = self._item.alignment
        matched = [
            (i, j)
            for i, j in enumerate(alignment.partner_a)
            if j >= 0 and (self._a[i].is_content or self._a[i].is_number)
        ]
        places = [j for _, j in matched]
        if places == sorted(places):
            return None, 0.0
        wrong = sum(first > second for first, second in pairwise(places))
        return self._exchanged(matched), wrong / max(1, len(places) - 1)

    def _exchanged(self, matched: Sequence[tuple[int, int]]) -> tuple[str, str] | None:
        """Two words that have changed places where all others keep theirs."""
        places = [j for _, j in matched]
        rightful = sorted(places)
        moved = [n for n, (j, own) in enumerate(zip(places, rightful, strict=True)) if j != own]
        if len(moved) < 2 or len(moved) > 4:
            return None
        first, last = moved[0], moved[-1]
        if places[first] != rightful[last] or places[last] != rightful[first]:
            return None
        start, end = matched[first][0], matched[last][0]
        between = [token.word for token in self._a[start + 1 : end]]
        if set(between) <= _SYMMETRIC:
            return None
        passive = sum(token.word == "by" for token in self._a) != sum(
            token.word == "by" for token in self._b
        )
        return None if passive else (self._a[start].text, self._a[end].text)

    def named(self) -> list[Difference]:
        """What the sentences differ in, the most important first."""
        flips = [*self._opposites, *self._negations]
        found = [flip for flip in flips if flip.probability >= _LEAST_NAMED]
        numbers, names, unit = self._numbers(), self._names(), self._units()
        found += [Difference("number", a, b, 1.0) for a, b in zip(*numbers, strict=False)]
        if unit is not None:
            found.append(Difference("unit", *unit, 1.0))
        exchanged, _ = self._order()
        if exchanged is not None:
            found.append(Difference("exchanged", *exchanged, 1.0))
        found += [Difference("name", a, b, 1.0) for a, b in zip(*names, strict=False)]
        for kind, relations in (
            ("kind", ("co-hyponym",)),
            ("hypernym", ("hypernym", "hyponym")),
            ("synonym", ("synonym",)),
            ("word", (NONE,)),
        ):
            weights = self._relation(*relations)
            if kind == "word":
                weights = weights * (self._item.is_replaced == 1)
            for n, m in zip(*np.nonzero(weights >= _LEAST_RELATED), strict=True):
                words = self._a[self._item.rest_a[n]].text, self._b[self._item.rest_b[m]].text
                if not any({d.a, d.b} & set(words) for d in found):
                    found.append(Difference(kind, *words, float(weights[n, m])))
        return found


def raise_odds(table: FloatArray, factor: FloatArray, antonym: int) -> FloatArray:
    """Relations of words, (A, B, K), with the odds of opposites multiplied by a factor, (A, B).

    The other relations keep their proportions.
    """
    found = table / (1 + (factor - 1) * table[..., antonym])[..., None]
    found[..., antonym] *= factor
    return found


_RELATED, _IN_PLACE, _APART = 4, 3, 2
"""Of the score of two words: what a relation and a common place add, and what they must exceed."""


def soft_alignment(related: FloatArray, is_replaced: FloatArray) -> FloatArray:
    """How much two words that differ are each other's counterparts, (A, B).

    The geometric mean of two softmaxes, over the words of b and over those of a, each with a place
    for having no counterpart, whose score is 0.
    """
    scores = np.exp(_RELATED * related + _IN_PLACE * is_replaced - _APART)
    by_row: FloatArray = scores / (1 + scores.sum(axis=1, keepdims=True))
    by_column: FloatArray = scores / (1 + scores.sum(axis=0, keepdims=True))
    weights: FloatArray = np.sqrt(by_row * by_column)
    return weights

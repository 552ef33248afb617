"""Whether two sentences say the same, opposite or different things, and which words decide.

The sentences are aligned (`relations.alignment`); the relations of the content words in which they
differ are looked up; what differs becomes features (`relations.sentence_features`), the probability
of a reversal among them; and a small network weighs them.

Shapes: N pairs of sentences, A and B content words of the two without a partner, K relations, F
features.
"""

import json
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from pair2vec.arrays import FloatArray, IntArray
from pair2vec.relations.alignment import align, tokens_of
from pair2vec.relations.definitions import NONE
from pair2vec.relations.mlp import FeedForward
from pair2vec.relations.relations import Relations
from pair2vec.relations.sentence_features import (
    FEATURES,
    Comparison,
    Difference,
    Differences,
    replaced_places,
)
from pair2vec.relations.word_forms import is_negated_form, spelling_variants
from pair2vec.rendering import Table, html_answer, percent

Verdict = Literal["same", "opposed", "different", "unsure"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)[:-1]
"""Those that have a probability, in the order of the network's outputs."""
UNSURE: Verdict = "unsure"

MOST_TOKENS = 256
"""Words of a sentence; of longer texts nothing is said."""
_MOST_REST = 10
"""Content words of each sentence that are aligned softly."""
_MOST_PAIRS = 12
"""Pairs of them whose relation is looked up, those in one place first."""
_UNKNOWN_WORDS = "the words that differ are unknown to the model"
_LEAST_PROBABLE = 0.5
"""Of a verdict other than opposed, which has a threshold of its own."""
MOST_OF_SAME = {"odd": 0.2} | dict.fromkeys(
    ("substitution", "exchanged", "numbers", "numbers_added", "units"), 0.5
)
"""Sentences with as much of one of these features are not called the same: they may be reversed, a
word is in the place of one that is no synonym (*car* / *truck*, *man* / *person*), two words have
changed places, or a number or a unit is another one."""
_LEAST_KNOWN = 0.5
"""More than this share of a pair's content words has to be known to the model."""


class Opposition(NamedTuple):
    """What two sentences say beside each other."""

    verdict: Verdict
    probability: float
    """Of the verdict; of the most probable one where it is unsure."""
    probabilities: dict[str, float]
    """Of same, opposed and different."""
    differences: list[Difference]
    """The words that decided, those that count most first."""
    reason: str
    """Why it is unsure; otherwise the differences in words."""

    def __repr__(self) -> str:
        return f"<Opposition {self.verdict!r}, {percent(self.probability)}: {self.reason}>"

    def _repr_html_(self) -> str:
        evidence = {"Words that decide": self.differences}
        return html_answer(self.verdict, self.reason, self.probabilities.items(), evidence)

    def as_json(self) -> dict[str, object]:
        return {
            **self._asdict(),
            "differences": [difference._asdict() for difference in self.differences],
        }


class OpposedWeights(NamedTuple):
    """What was learned from sentences (``data/opposed.json``)."""

    network: FeedForward
    threshold: float
    """The probability of being opposed from which on they are called so."""

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "OpposedWeights":
        if content["features"] != FEATURES:
            raise ValueError("the weights are of other features; learn them again")
        return cls(FeedForward.from_json(content["network"]), float(content["threshold"]))


@cache
def read_weights() -> OpposedWeights:
    """The weights of the package."""
    text = (files("pair2vec.relations") / "data" / "opposed.json").read_text()
    return OpposedWeights.from_json(json.loads(text))


class SentenceComparison:
    """Compares sentences by the relations of a model."""

    def __init__(self, relations: Relations, weights: OpposedWeights | None = None) -> None:
        """By default with the weights of the package."""
        self._relations, self._weights = relations, weights
        names = relations.names
        self._columns = {name: names.index(name) for name in names}

    def compare(self, pairs: Iterable[tuple[str, str]]) -> Table[Opposition]:
        """Of each pair of sentences, what they say beside each other; in either order the same."""
        weights = self._weights or read_weights()
        compared = [self._compare(a, b) for a, b in pairs]
        features, differences = self.features([c for c in compared if isinstance(c, Comparison)])
        probabilities = weights.network.probabilities(features)
        columns = [FEATURES.index(name) for name in MOST_OF_SAME]
        most = np.array([*MOST_OF_SAME.values()], np.float32)
        may_be_same = np.all(features[:, columns] < most, axis=1).tolist()
        rows = zip(probabilities, may_be_same, differences, strict=True)
        return Table(
            _verdict(item, *next(rows), weights.threshold) if isinstance(item, Comparison) else item
            for item in compared
        )

    def prepare(self, pairs: Iterable[tuple[str, str]]) -> list[Comparison | None]:
        """Of each pair of sentences the comparison, to learn weights from; None if it has none."""
        compared = (self._compare(a, b) for a, b in pairs)
        return [item if isinstance(item, Comparison) else None for item in compared]

    def features(self, compared: Sequence[Comparison]) -> tuple[FloatArray, list[list[Difference]]]:
        """Of each comparison its features, (N, F), and the differences."""
        tables = self._relation_tables(compared)
        rows = np.zeros((len(compared), len(FEATURES)), np.float32)
        differences = []
        for row, (item, table) in enumerate(zip(compared, tables, strict=True)):
            measured = Differences(item, table, self._columns)
            rows[row] = [measured.features[name] for name in FEATURES]
            named = measured.named()
            differences.append(
                [each._replace(a=each.b, b=each.a) for each in named] if item.is_swapped else named
            )
        return rows, differences

    def _compare(self, a: str, b: str) -> Comparison | Opposition:
        """The alignment of two sentences; a verdict where nothing needs to be measured."""
        sides = tokens_of(a), tokens_of(b)
        for name, side in zip(("first", "second"), sides, strict=True):
            if not side:
                return _unsure(f"the {name} sentence has no words")
            if len(side) > MOST_TOKENS:
                return _unsure(
                    f"the {name} sentence has {len(side):,} words; "
                    f"at most {MOST_TOKENS} are compared"
                )
        if [token.word for token in sides[0]] == [token.word for token in sides[1]]:
            return _certain("same", "the same words")
        # In one order, so that the answer is the same in either.
        is_swapped = b < a
        sides = sides[::-1] if is_swapped else sides
        alignment = align(*sides)
        rest_a, rest_b = (
            [n for n in rest if side[n].is_content][:_MOST_REST]
            for rest, side in zip((alignment.rest_a, alignment.rest_b), sides, strict=True)
        )
        ids = self._relations.space.vocabulary.ids
        content = [token.word for side in sides for token in side if token.is_content]
        known = sum(word in ids for word in content) / len(content) if content else 1.0
        if known <= _LEAST_KNOWN:
            return _unsure("most of the words are unknown to the model")
        found_a, found_b = (
            np.array([self._known_id(side[n].word) for n in rest], np.intp)
            for rest, side in zip((rest_a, rest_b), sides, strict=True)
        )
        return Comparison(
            alignment,
            rest_a,
            rest_b,
            replaced_places(alignment, rest_a, rest_b),
            found_a,
            found_b,
            (a.rstrip().endswith("?"), b.rstrip().endswith("?")),
            is_swapped,
        )

    def _known_id(self, word: str) -> int:
        """The id of a word, or of another spelling or form of it; 0 if the model knows none."""
        ids = self._relations.space.vocabulary.ids
        return next((ids[each] for each in spelling_variants(word) if each in ids), 0)

    def _relation_tables(self, compared: Sequence[Comparison]) -> list[FloatArray]:
        """The relations of the words that differ, (A, B, K) each; none where not looked up."""
        chosen = [self._chosen_pairs(item) for item in compared]
        x = [item.known_a[rows] for item, (rows, _) in zip(compared, chosen, strict=True)]
        y = [item.known_b[columns] for item, (_, columns) in zip(compared, chosen, strict=True)]
        empty = np.zeros(0, np.intp)
        found = self._relations.probabilities(
            np.concatenate([empty, *x]), np.concatenate([empty, *y])
        )
        tables, start = [], 0
        for item, (rows, columns) in zip(compared, chosen, strict=True):
            table = np.zeros((len(item.rest_a), len(item.rest_b), len(self._columns)), np.float32)
            table[..., self._columns[NONE]] = 1
            table[rows, columns] = found[start : start + len(rows)]
            start += len(rows)
            tables.append(self._spelled_negations(item, table))
        return tables

    def _chosen_pairs(self, item: Comparison) -> tuple[IntArray, IntArray]:
        """Which of the words that differ to relate: those in one place, then the nearest."""
        rows, columns = np.nonzero((item.known_a > 0)[:, None] & (item.known_b > 0))
        if len(rows) <= _MOST_PAIRS:
            return rows, columns
        space = self._relations.space
        cosines = space.unit_inputs(item.known_a) @ space.unit_inputs(item.known_b).T
        order = np.argsort(-(item.is_replaced + cosines)[rows, columns], kind="stable")
        best = order[:_MOST_PAIRS]
        return rows[best], columns[best]

    def _spelled_negations(self, item: Comparison, table: FloatArray) -> FloatArray:
        """Opposites by spelling, of words that the model does not know."""
        for n, i in enumerate(item.rest_a):
            for m, j in enumerate(item.rest_b):
                if item.known_a[n] and item.known_b[m]:
                    continue
                if is_negated_form(item.alignment.a[i].word, item.alignment.b[j].word):
                    table[n, m] = 0
                    table[n, m, self._columns["antonym"]] = 1
        return table


def _verdict(
    item: Comparison,
    probabilities: FloatArray,
    may_be_same: bool,
    differences: list[Difference],
    threshold: float,
) -> Opposition:
    by_name = dict(zip(VERDICTS, probabilities.tolist(), strict=True))
    rest = np.concatenate([item.known_a, item.known_b])
    reason = "; ".join(map(str, differences)) or (
        "words that are not related" if len(rest) else "only function words differ"
    )
    best: Verdict
    # What is called opposed can be checked: it has words that decided.
    if differences and by_name["opposed"] >= threshold:
        best = "opposed"
    else:
        best = "same" if by_name["same"] >= by_name["different"] else "different"
    probability = by_name[best]
    is_doubtful = best != "opposed" and probability < _LEAST_PROBABLE
    is_known = not len(rest) or (rest == 0).mean() <= _LEAST_KNOWN
    if (
        is_doubtful
        or (best == "same" and not may_be_same)
        or (best != "different" and not is_known)
    ):
        reason = f"not clear: {reason}" if is_known else _UNKNOWN_WORDS
        return Opposition(UNSURE, max(by_name.values()), by_name, Table(differences), reason)
    return Opposition(best, probability, by_name, Table(differences), reason)


def _certain(verdict: Verdict, reason: str) -> Opposition:
    return Opposition(
        verdict, 1.0, {name: float(name == verdict) for name in VERDICTS}, Table(), reason
    )


def _unsure(reason: str) -> Opposition:
    even: dict[str, float] = dict.fromkeys(VERDICTS, 1 / len(VERDICTS))
    return Opposition(UNSURE, 1 / len(VERDICTS), even, Table(), reason)

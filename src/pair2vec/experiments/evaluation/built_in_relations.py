"""How sure the built-in relations are: on words that were held out, and on other sets."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pair2vec.api import Pair2vec
from pair2vec.experiments.evaluation.relations import (
    Calibration,
    ClassificationScores,
    LabelledPair,
    calibration,
    f1_scores,
)
from pair2vec.relations.definitions import NONE, RelationDefinition
from pair2vec.relations.examples import find_examples, unrelated_pairs
from pair2vec.relations.relations import Relations

FOLDS = 5

MEANT: Mapping[str, str] = {
    "coord": "co-hyponym",
    "hyper": "hypernym",
    "mero": "part",
    "attri": NONE,
    "event": NONE,
    "random": NONE,
    "Synonym": "synonym",
    "Antonym": "antonym",
    "IsA": "hypernym",
    "HasA": "part",
    "PartOf": "whole",
    "MadeOf": "made-of",
    "HasProperty": NONE,
}
"""What the labels of BLESS and EVALution are called here."""


class BuiltInScores(NamedTuple):
    """How right and how sure relations are that learnt nothing of the pairs asked about."""

    scores: ClassificationScores
    calibration: Calibration

    def to_json(self) -> dict[str, object]:
        """As JSON."""
        return {**self.scores.to_json(), "calibration": self.calibration._asdict()}


def on_held_out_words(model: Pair2vec, relations: Relations) -> BuiltInScores:
    """On the examples themselves, each told by relations that have none of its words.

    As many pairs without a relation are asked about, which also have words that were held out.
    """
    words = sorted({word for d in relations.definitions for pair in d.examples for word in pair})
    folds = dict(zip(words, np.random.default_rng(1).permutation(len(words)) % FOLDS, strict=True))
    parts = []
    for fold in range(FOLDS):
        kept = [_without(d, {w for w in words if folds[w] == fold}) for d in relations.definitions]
        asked = _examples_in(relations.definitions, kept)
        asked += _unrelated(model, relations, {w for w in words if folds[w] == fold}, len(asked))
        part = Relations(kept, model.pair_source, model.vocabulary)
        parts.append((part.score([pair.words for pair in asked]), asked))
    probabilities = np.concatenate([found for found, _ in parts])
    return _sureness(relations.names, probabilities, [pair for _, asked in parts for pair in asked])


def on_labelled_pairs(
    model: Pair2vec, relations: Relations, pairs: Sequence[LabelledPair]
) -> BuiltInScores | None:
    """On pairs of a set whose labels are relations here, or none; None if one is not.

    Pairs with a word that the model does not know are left out: `Sureness.calibration.n` are left.
    """
    if not {MEANT.get(pair.relation) for pair in pairs} <= set(relations.names):
        return None
    known = [
        LabelledPair(pair.x, pair.y, MEANT[pair.relation])
        for pair in pairs
        if all(word.lower() in model.vocabulary for word in pair.words)
    ]
    return _sureness(relations.names, relations.score([pair.words for pair in known]), known)


def _sureness(
    names: Sequence[str], probabilities: "np.typing.NDArray[np.float32]", asked: list[LabelledPair]
) -> BuiltInScores:
    gold = [pair.relation for pair in asked]
    told = [names[place] for place in probabilities.argmax(axis=1)]
    return BuiltInScores(
        f1_scores(gold, told), calibration(probabilities, [names.index(name) for name in gold])
    )


def _without(definition: RelationDefinition, words: set[str]) -> RelationDefinition:
    kept = tuple(pair for pair in definition.examples if not words & set(pair))
    return replace(definition, examples=kept)


def _examples_in(
    whole: Sequence[RelationDefinition], kept: Sequence[RelationDefinition]
) -> list[LabelledPair]:
    """The examples that were left out, which have at least one word that was held out."""
    return [
        LabelledPair(*pair, definition.name)
        for definition, rest in zip(whole, kept, strict=True)
        for pair in definition.examples
        if pair not in rest.examples
    ]


def _unrelated(
    model: Pair2vec, relations: Relations, words: set[str], count: int
) -> list[LabelledPair]:
    """Pairs of no relation with a word that was held out."""
    examples = find_examples(relations.definitions, model.pair_source, model.vocabulary)
    random = np.random.default_rng(2)
    x, y = unrelated_pairs(examples, model.unit_words, random)
    spelled = model.vocabulary.words
    named = [(spelled[a], spelled[b]) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    held_out = [pair for pair in named if words & set(pair)]
    random.shuffle(held_out)
    return [LabelledPair(*pair, NONE) for pair in held_out[:count]]

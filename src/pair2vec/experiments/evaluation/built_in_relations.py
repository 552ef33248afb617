"""Accuracy and calibration of the built-in relations, on held-out words and on labelled sets."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from pair2vec.api import Pair2vec
from pair2vec.arrays import FloatArray
from pair2vec.experiments.evaluation.classification import (
    CalibrationScores,
    ClassificationScores,
    calibration,
    f1_scores,
)
from pair2vec.experiments.evaluation.relations import LabelledPair
from pair2vec.relations.definitions import NONE, RelationDefinition
from pair2vec.relations.examples import find_examples, unrelated_pairs
from pair2vec.relations.relations import Relations

FOLDS = 5

RELATION_OF_LABEL: Mapping[str, str] = {
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
"""The built-in relations that the labels of BLESS and EVALution mean."""


class BuiltInScores(NamedTuple):
    """On pairs that the relations were not trained on."""

    scores: ClassificationScores
    calibration: CalibrationScores

    def to_json(self) -> dict[str, object]:
        """As ``--json`` prints it."""
        return {**self.scores.to_json(), "calibration": self.calibration._asdict()}


def evaluate_on_held_out_words(model: Pair2vec, relations: Relations) -> BuiltInScores:
    """Cross-validation on the examples: each is classified by relations with none of its words.

    Each fold has as many pairs without a relation, which also have a held-out word.
    """
    words = sorted({word for d in relations.definitions for pair in d.examples for word in pair})
    folds = dict(zip(words, np.random.default_rng(1).permutation(len(words)) % FOLDS, strict=True))
    probabilities, pairs = [], []
    for fold in range(FOLDS):
        held_out = {word for word in words if folds[word] == fold}
        kept = [_without(definition, held_out) for definition in relations.definitions]
        test = _left_out(relations.definitions, kept)
        test += _unrelated(model, relations, held_out, len(test))
        trained = Relations(kept, model.space)
        probabilities.append(trained.predict_proba([pair.words for pair in test]))
        pairs += test
    return _scores(relations.names, np.concatenate(probabilities), pairs)


def evaluate_on_labelled_pairs(
    model: Pair2vec, relations: Relations, pairs: Sequence[LabelledPair]
) -> BuiltInScores | None:
    """On pairs of a set whose labels are relations here, or none; None if a label is neither.

    Pairs with a word that the model does not know are left out: `CalibrationScores.n` remain.
    """
    if not {RELATION_OF_LABEL.get(pair.relation) for pair in pairs} <= set(relations.names):
        return None
    known = [
        LabelledPair(pair.x, pair.y, RELATION_OF_LABEL[pair.relation])
        for pair in pairs
        if all(word.lower() in model.vocabulary for word in pair.words)
    ]
    return _scores(relations.names, relations.predict_proba([pair.words for pair in known]), known)


def _scores(
    names: Sequence[str], probabilities: FloatArray, pairs: Sequence[LabelledPair]
) -> BuiltInScores:
    gold = [pair.relation for pair in pairs]
    predicted = [names[column] for column in probabilities.argmax(axis=1)]
    return BuiltInScores(
        f1_scores(gold, predicted), calibration(probabilities, [names.index(name) for name in gold])
    )


def _without(definition: RelationDefinition, words: set[str]) -> RelationDefinition:
    kept = tuple(pair for pair in definition.examples if not words & set(pair))
    return replace(definition, examples=kept)


def _left_out(
    definitions: Sequence[RelationDefinition], kept: Sequence[RelationDefinition]
) -> list[LabelledPair]:
    """The examples that are not in `kept`, which have at least one held-out word."""
    return [
        LabelledPair(*pair, definition.name)
        for definition, rest in zip(definitions, kept, strict=True)
        for pair in definition.examples
        if pair not in rest.examples
    ]


def _unrelated(
    model: Pair2vec, relations: Relations, words: set[str], count: int
) -> list[LabelledPair]:
    """Pairs of no relation with one of the held-out `words`."""
    examples = find_examples(relations.definitions, model.space)
    generator = np.random.default_rng(2)
    x, y = unrelated_pairs(examples, model.unit_words, generator)
    spelling = model.vocabulary.words
    pairs = [(spelling[a], spelling[b]) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    held_out = [pair for pair in pairs if words & set(pair)]
    generator.shuffle(held_out)
    return [LabelledPair(*pair, NONE) for pair in held_out[:count]]


def calibration_table(results: Mapping[str, BuiltInScores]) -> Group:
    """For a terminal: accuracy and calibration of each result, and F1 by relation."""
    table = _table("built-in relations")
    for name in ("pairs", "right", "mean probability", "calibration error", "log loss"):
        table.add_column(name, justify="right")
    for name, (_, measured) in results.items():
        shares = (measured.accuracy, measured.confidence, measured.expected_error)
        percent = (f"{100 * share:.1f}" for share in shares)
        table.add_row(Text(name), f"{measured.n:,}", *percent, f"{measured.log_loss:.2f}")
    caption = Text(
        "In percent. Right: the most probable relation, or none, is the right one; where its mean "
        "probability is the same, probabilities are calibrated.",
        style="dim",
    )
    return Group(table, *(_by_relation(result.scores) for result in results.values()), caption)


def _by_relation(scores: ClassificationScores) -> Table:
    table = _table("relation")
    for name in ("pairs", "precision", "recall", "F1"):
        table.add_column(name, justify="right")
    for name, (n, *shares) in scores.classes.items():
        table.add_row(Text(name), f"{n:,}", *(f"{100 * share:.1f}" for share in shares))
    return table


def _table(first_column: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column(first_column, overflow="fold")
    return table

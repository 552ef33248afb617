"""The built-in relations on pairs that they were not trained on."""

import pytest
from tests.real_data import real_data
from tests.tiny_model import save_tiny_model

from pair2vec.api import Pair2vec, load
from pair2vec.experiments.evaluation.built_in_relations import (
    RELATION_OF_LABEL,
    evaluate_on_held_out_words,
    evaluate_on_labelled_pairs,
)
from pair2vec.experiments.evaluation.relations import LabelledPair, read_relation_set
from pair2vec.relations.definitions import RelationDefinition, read_definitions
from pair2vec.relations.relations import Relations

WORDS = ["the", ",", ".", "and", "or", "of", *(f"{c}{n}" for c in "ab" for n in range(20))]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Pair2vec:
    return load(save_tiny_model(tmp_path_factory.mktemp("tiny") / "model", WORDS))


def test_held_out_words_are_not_trained_on(model: Pair2vec) -> None:
    definition = RelationDefinition(
        name="like", examples=tuple((f"a{n}", f"b{n}") for n in range(15)), patterns=("X and Y",)
    )
    measured = evaluate_on_held_out_words(model, Relations([definition], model.space))
    assert set(measured.scores.classes) == {"like", "none"}
    assert measured.scores.classes["like"].n >= 15
    # The vectors are random: no relation can be predicted from them, and none should seem to be.
    assert measured.scores.classes["like"].f1 < 0.8
    assert measured.calibration.n == sum(score.n for score in measured.scores.classes.values())


def test_labels_of_known_sets_are_read_as_the_built_in_relations(model: Pair2vec) -> None:
    names = {definition.name for definition in read_definitions()} | {"none"}
    assert set(RELATION_OF_LABEL.values()) <= names
    definitions = [RelationDefinition(name="hypernym", examples=(("a0", "b0"), ("a1", "b1")))]
    relations = Relations(definitions, model.space)
    pairs = [LabelledPair("a2", "b2", "hyper"), LabelledPair("zzz", "b2", "hyper")]
    measured = evaluate_on_labelled_pairs(model, relations, pairs)
    assert measured is not None
    assert measured.calibration.n == 1
    assert evaluate_on_labelled_pairs(model, relations, [LabelledPair("a2", "b2", "odd")]) is None


def test_the_bundled_model_is_calibrated() -> None:
    model = load()
    measured = evaluate_on_held_out_words(model, model.relations())
    assert measured.scores.accuracy > 0.65
    assert measured.calibration.expected_error < 0.08
    assert measured.scores.classes["none"].recall > 0.8


@pytest.mark.parametrize("name", ["BLESS", "EVALution"])
def test_every_label_of_the_published_sets_is_mapped(name: str) -> None:
    relation_set = read_relation_set(real_data("relations") / name)
    assert {pair.relation for pair in relation_set.test} <= RELATION_OF_LABEL.keys()

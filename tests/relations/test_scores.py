"""Scores of relation probabilities, against figures counted by hand."""

import numpy as np
import pytest

from pair2vec.arrays import FloatArray, Int64Array
from pair2vec.relations.definitions import read_definitions
from pair2vec.relations.scores import EIGHT, calibration_error, relation_scores
from pair2vec.teaching.labels import RelationNames

NAMES, INVERSE = RelationNames.of_definitions(read_definitions())


def table(*predicted: str, confidence: float = 1.0) -> FloatArray:
    rest = (1 - confidence) / (len(NAMES) - 1)
    rows = np.full((len(predicted), len(NAMES)), rest, np.float32)
    rows[np.arange(len(predicted)), list(map(NAMES.index, predicted))] = confidence
    return rows


def labels(*gold: str) -> Int64Array:
    return np.array(list(map(NAMES.index, gold)), np.int64)


def test_f1_is_that_of_counts() -> None:
    gold = labels("synonym", "synonym", "antonym", "none")
    scores = relation_scores(table("synonym", "antonym", "antonym", "none"), gold, NAMES, INVERSE)
    assert scores.pairs == 4
    assert scores.f1["synonym"] == pytest.approx(100 * 2 / 3)
    assert scores.f1["antonym"] == pytest.approx(100 * 2 / 3)
    assert scores.f1["none"] == 100
    assert scores.f1["hypernym"] == 0
    assert scores.macro_f1 == pytest.approx(sum(scores.f1.values()) / 8)
    assert tuple(scores.f1) == EIGHT


def test_relations_that_wordnet_has_as_kinds_of_others_count_as_these() -> None:
    gold = labels("located-in", "made-of", "occupation")
    scores = relation_scores(table("whole", "part", "hypernym"), gold, NAMES, INVERSE)
    assert [scores.f1[name] for name in ("whole", "part", "hypernym")] == [100, 100, 100]
    swapped = labels("location-of", "material-of", "occupation-of")
    scores = relation_scores(table("part", "whole", "hyponym"), swapped, NAMES, INVERSE)
    assert [scores.f1[name] for name in ("whole", "part", "hyponym")] == [100, 100, 100]


def test_a_pair_counts_both_ways() -> None:
    gold = labels("hypernym", "hyponym", "hyponym")
    scores = relation_scores(table("hypernym", "hypernym", "hyponym"), gold, NAMES, INVERSE)
    assert scores.f1["hypernym"] == scores.f1["hyponym"] == pytest.approx(100 * 2 / 3)
    assert scores.pairs == 3


def test_probabilities_of_merged_relations_are_summed() -> None:
    one = np.zeros((1, len(NAMES)), np.float32)
    for name, share in {"whole": 0.3, "located-in": 0.3, "synonym": 0.4}.items():
        one[0, NAMES.index(name)] = share
    assert relation_scores(one, labels("whole"), NAMES, INVERSE).f1["whole"] == 100


def test_synonym_or_antonym_weighs_both_alike_and_ignores_other_relations() -> None:
    gold = labels("synonym", "synonym", "synonym", "synonym", "antonym", "none")
    found = table("synonym", "synonym", "synonym", "antonym", "antonym", "antonym")
    assert relation_scores(found, gold, NAMES, INVERSE).synonym_or_antonym == pytest.approx(
        (75 + 100) / 2
    )


def test_calibration_error_is_the_gap_of_confidence_and_accuracy() -> None:
    gold = labels(*["synonym"] * 3, "antonym")
    scores = relation_scores(table(*["synonym"] * 4, confidence=0.75), gold, NAMES, INVERSE)
    assert scores.calibration_error == pytest.approx(0, abs=1e-4)
    sure = relation_scores(table(*["synonym"] * 4), gold, NAMES, INVERSE)
    assert sure.calibration_error == pytest.approx(25)


def test_gaps_of_two_bins_do_not_cancel() -> None:
    confidence = np.array([0.9, 0.9, 0.5, 0.5], np.float32)
    is_right = np.array([False, True, True, True])
    assert calibration_error(confidence, is_right) == pytest.approx((0.4 + 0.5) / 2)

"""Opposites and synonyms of software talk: the list, and how a model tells them apart."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.rendering import rendered
from tests.tiny_model import save_tiny_model

from pair2vec.api import Pair2vec, load
from pair2vec.experiments.evaluation.handwritten import (
    CalledPair,
    SoftwarePair,
    SoftwareScores,
    area_under_curve,
    read_software_talk,
    score_software_talk,
    software_part,
)
from pair2vec.experiments.report.grid import grid_table
from pair2vec.relations.definitions import read_definitions
from pair2vec.relations.word_forms import is_form
from pair2vec.text.sentences import tokenize

TALK = read_software_talk()
WORDS = sorted({word for pair in TALK for word in (pair.x, pair.y)} - {"uncheck", "purge"})


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Pair2vec:
    folder: Path = tmp_path_factory.mktemp("models") / "taught"
    return load(save_tiny_model(folder, WORDS, hidden=6, seed=1))


def test_forty_pairs_of_each_kind_no_pair_twice() -> None:
    assert Counter(pair.relation for pair in TALK) == {"antonym": 40, "synonym": 40}
    assert len({frozenset((pair.x, pair.y)) for pair in TALK}) == 80


def test_words_are_single_tokens_in_lower_case() -> None:
    assert [p for p in TALK if tokenize(f"{p.x} {p.y}") != [p.x, p.y] or p.x == p.y] == []


def test_no_pair_is_a_built_in_example_nor_an_inflection_of_one() -> None:
    examples = [
        pair
        for definition in read_definitions()
        if definition.name in {"antonym", "synonym"}
        for pair in definition.all_examples
    ]
    assert len(examples) > 500
    shared = [
        (pair, example)
        for pair in TALK
        for example in examples
        if is_form(pair.x, example[0]) and is_form(pair.y, example[1])
    ]
    assert shared == []


def test_a_pair_is_called_what_relate_calls_it(model: Pair2vec) -> None:
    scores = score_software_talk(model, model.relations(), TALK)
    assert len(scores.pairs) == 78
    for called in scores.pairs:
        relation = model.relate(called.pair.x, called.pair.y, top=0)
        assert called.name == relation.name
    names = {called.name for called in scores.pairs}
    assert {"antonym", "unclear"} <= names
    by_relation = {
        relation: sum(c.pair.relation == relation and c.name == "antonym" for c in scores.pairs)
        for relation in ("antonym", "synonym")
    }
    assert scores.figures() == {
        "opposites": 39,
        "opposites_called_antonym": by_relation["antonym"],
        "synonyms": 39,
        "synonyms_called_antonym": by_relation["synonym"],
        "auc": round(float(scores.auc or 0), 4),
    }
    probabilities = model.relations().predict_proba([(c.pair.x, c.pair.y) for c in scores.pairs])
    assert [c.antonym for c in scores.pairs] == probabilities[:, 1].tolist()


def test_auc_counts_the_pairs_in_the_right_order_and_half_of_the_ties() -> None:
    assert area_under_curve(np.array([0.9, 0.5]), np.array([0.5, 0.1, 0.7])) == 4.5 / 6
    assert area_under_curve(np.array([0.1]), np.array([0.2])) == 0
    assert area_under_curve(np.zeros(0), np.array([0.2])) is None


def test_opposites_are_the_positives_of_the_auc() -> None:
    pairs = [("antonym", 0.9), ("antonym", 0.3), ("synonym", 0.5), ("synonym", 0.1)]
    called = [CalledPair(SoftwarePair(kind, "x", "y"), "none", share) for kind, share in pairs]
    assert SoftwareScores(called).auc == 0.75


def test_the_table_counts_and_the_notes_name_unknown_words(model: Pair2vec) -> None:
    scores = score_software_talk(model, model.relations(), TALK)
    part = software_part({"head": scores}, ["purge", "uncheck"])
    text = " ".join(rendered(grid_table(part.grids[0]), 120).split())
    figures = scores.figures()
    assert f"{figures['opposites_called_antonym']} of 39" in text
    assert f"{scores.auc:.3f}" in text
    assert "unknown are 2 words: purge, uncheck." in " ".join(part.notes)
    nothing = software_part({"head": SoftwareScores([])}, [])
    assert nothing.grids[0].rows[0] == ("head", "0 of 0", "0 of 0", "–")


def test_a_pair_that_is_unclear_is_not_called_antonym_however_probable_that_is() -> None:
    names = ["antonym", "unclear", "synonym"]
    called = [CalledPair(SoftwarePair("antonym", "x", "y"), name, 0.49) for name in names]
    assert SoftwareScores(called).called_antonym("antonym") == 1
    assert SoftwareScores(called).called_antonym("synonym") == 0

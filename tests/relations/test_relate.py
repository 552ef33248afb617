"""`relate`: the relation of two words in words, and of many pairs at once."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.conftest import RELATIONS
from tests.tiny_model import (
    ALL_ANSWERS,
    HEAD_FACTS,
    RELATION_NAMES,
    WORDS,
    save_tiny_model,
    taught_model,
)

from pair2vec.api import Pair2vec, load
from pair2vec.errors import UsageError
from pair2vec.text.vocabulary import UnknownWordError

CONTENT = WORDS[10:]
PAIRS = [(x, y) for x in CONTENT for y in CONTENT if x != y]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Pair2vec:
    return load(taught_model(tmp_path_factory.mktemp("taught"), ALL_ANSWERS))


def pair_with(model: Pair2vec, *names: str) -> tuple[str, str]:
    """A pair whose relation has one of the names."""
    batch = model.relate_many(PAIRS)
    return next(pair for pair, name in zip(PAIRS, batch.names, strict=True) if name in names)


def test_the_random_head_predicts_all_kinds_of_answers(model: Pair2vec) -> None:
    assert set(model.relate_many(PAIRS).names.tolist()) == {*RELATION_NAMES, "unclear"}


def test_the_most_probable_relation_is_named_with_its_probability(model: Pair2vec) -> None:
    for pair in PAIRS:
        (row,) = model.relations().predict_proba([pair])
        found = model.relate(*pair, top=0)
        assert found.probability == pytest.approx(row.max(), abs=1e-6)
        if row.max() >= HEAD_FACTS["thresholds"][row.argmax()]:
            assert found.name == RELATION_NAMES[row.argmax()]
        else:
            assert found.name == "unclear"


def test_runners_up_are_the_next_three_and_of_an_unclear_pair_the_first_three(
    model: Pair2vec,
) -> None:
    for name, skipped in (("antonym", 1), ("none", 1), ("unclear", 0)):
        pair = pair_with(model, name)
        (row,) = model.relations().predict_proba([pair])
        order = np.argsort(-row)[skipped : skipped + 3]
        others = model.relate(*pair).others
        assert [other.name for other in others] == [RELATION_NAMES[n] for n in order]
        assert [other.probability for other in others] == pytest.approx(row[order], abs=1e-6)


def test_a_relation_is_defined_in_words(model: Pair2vec) -> None:
    assert model.relate(*pair_with(model, "antonym")).definition == "y is the opposite of x"
    assert "none of these relations" in model.relate(*pair_with(model, "none")).definition
    assert "probable enough" in model.relate(*pair_with(model, "unclear")).definition


def test_pairs_like_it_are_in_the_same_relation_and_share_no_word(model: Pair2vec) -> None:
    pairs = [pair for pair in PAIRS if model.relate(*pair, top=0).name in RELATION_NAMES[:-1]]
    found = {pair: model.relate(*pair, top=4) for pair in pairs}
    assert any(len(relation.like) > 1 for relation in found.values())
    for pair, relation in found.items():
        for match in relation.like:
            assert model.relate(match.x, match.y, top=0).name == relation.name
        words = [*pair, *(word for match in relation.like for word in match[:2])]
        assert len(set(words)) == len(words)
        scores = [match.score for match in relation.like]
        assert scores == sorted(scores, reverse=True)


def test_the_score_of_a_pair_like_it_is_its_probability_times_the_cosine(model: Pair2vec) -> None:
    pair = next(pair for pair in PAIRS if model.relate(*pair).like)
    relation = model.relate(*pair)
    match = relation.like[0]
    probability = model.relate(match.x, match.y).probability
    cosine = model.pair(*pair) @ model.pair(match.x, match.y) / 2
    assert match.score == pytest.approx(probability * cosine, abs=1e-5)


def test_nothing_is_like_a_pair_without_a_relation(model: Pair2vec) -> None:
    assert model.relate(*pair_with(model, "none")).like == []
    assert model.relate(*pair_with(model, "unclear")).like == []


def test_patterns_are_those_that_explain_the_pair(model: Pair2vec, tmp_path: Path) -> None:
    assert model.relate("hot", "cold", top=2).patterns == model.explain("hot", "cold", top=2)
    without = load(save_tiny_model(tmp_path, patterns=(), hidden=6))
    assert without.relate("hot", "cold").patterns == []


def test_zero_pairs_and_patterns_are_not_searched_for(model: Pair2vec) -> None:
    found = model.relate(*pair_with(model, "antonym"), top=0)
    assert (found.like, found.patterns) == ([], [])


@given(st.lists(st.sampled_from([*PAIRS, ("hott", "cold"), ("up", "")]), max_size=8))
def test_many_pairs_are_related_as_each_alone(
    model: Pair2vec, pairs: list[tuple[str, str]]
) -> None:
    zero = model.relate_many(pairs, unknown="zero")
    skip = model.relate_many(pairs, unknown="skip")
    assert zero.relations == skip.relations == RELATION_NAMES
    assert zero.known.tolist() == skip.known.tolist() == [pair in PAIRS for pair in pairs]
    assert len(zero.names) == len(zero.probabilities) == len(pairs)
    np.testing.assert_array_equal(zero.probabilities[zero.known], skip.probabilities)
    assert zero.names[zero.known].tolist() == skip.names.tolist()
    assert not zero.probabilities[~zero.known].any()
    assert set(zero.names[~zero.known]) <= {"unknown"}
    for pair, name, row in zip(pairs, zero.names, zero.probabilities, strict=True):
        if pair in PAIRS:
            alone = model.relate(*pair, top=0)
            assert alone.name == name
            assert alone.probability == pytest.approx(row.max(), abs=1e-4)


def test_an_unknown_word_is_refused_with_suggestions(model: Pair2vec) -> None:
    for query in (
        lambda: model.relate("hott", "cold"),
        lambda: model.relate_many([("hott", "up")]),
    ):
        with pytest.raises(UnknownWordError, match="'hott' is not in the vocabulary") as raised:
            query()
        assert raised.value.suggestions == ["hot"]
    with pytest.raises(UsageError, match="unknown is 'ignore'; it must be one of error, skip"):
        model.relate_many([("hot", "cold")], unknown="ignore")  # type: ignore[arg-type]


def test_a_rare_word_has_pairs_of_frequent_words_like_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pair2vec.query.space.FREQUENT_WORDS", len(WORDS) - 2)
    model = load(taught_model(tmp_path, ALL_ANSWERS))
    assert len(model.space.frequent_words) == len(WORDS) - 2
    frequent = set(model.vocabulary.words[: len(WORDS) - 2])
    rare = [pair for pair in PAIRS if not frequent.issuperset(pair)]
    like = [match for pair in rare for match in model.relate(*pair).like]
    assert like
    assert all(frequent.issuperset(match[:2]) for match in like)


def test_forms_of_one_word_are_in_no_relation(tmp_path: Path) -> None:
    model = load(save_tiny_model(tmp_path, [*WORDS, "cheaper", "went", "go"], hidden=6))
    for pair in (("cheap", "cheaper"), ("went", "go"), ("hot", "hot")):
        assert model.relate(*pair)[:2] == ("none", 1.0)
        assert model.relate_many([pair]).names.tolist() == ["none"]


def test_relations_of_ones_own_and_a_model_without_a_head_are_fitted(tmp_path: Path) -> None:
    model = load(save_tiny_model(tmp_path / "model"))
    (tmp_path / "mine.toml").write_text(RELATIONS)
    mine = model.relations(tmp_path / "mine.toml")
    found = model.relate("hot", "cold", relations=mine, unrelated=0.1)
    assert found.name == mine.predict([("hot", "cold")], unrelated=0.1)[0] == "opposite"
    assert found.definition == "y is the opposite of x"
    assert {other.name for other in found.others} == {"capital", "none"}
    pairs = [("hot", "cold"), ("france", "paris")]
    batch = model.relate_many(pairs, relations=mine, unrelated=0.1)
    assert batch.relations == ("opposite", "capital", "none")
    assert batch.names[0] == "opposite"
    with pytest.raises(UsageError, match="the model knows none of its examples and patterns"):
        model.relate("hot", "cold")


def test_a_prior_of_no_relation_lowers_the_others(model: Pair2vec) -> None:
    pair = pair_with(model, "antonym")
    assert model.relate(*pair, unrelated=0.9999).name == "none"
    assert model.relate_many([pair], unrelated=0.9999).names.tolist() == ["none"]

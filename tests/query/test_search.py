"""The shortlist against the exact answer."""

from pathlib import Path

import numpy as np
import pytest
from tests.tiny_model import WORDS, save_tiny_model

from pair2vec.api import Pair2vec, load
from pair2vec.query.pair_encoder import dot_with, make_pair_vectors
from pair2vec.query.search import SHORTLIST, Regions, shortlist

MANY = [*WORDS, *(f"w{number}" for number in range(4 * SHORTLIST))]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Pair2vec:
    return load(save_tiny_model(tmp_path_factory.mktemp("tiny") / "model", MANY))


def test_a_shortlist_finds_most_of_the_best_words_with_their_exact_scores(model: Pair2vec) -> None:
    found = total = 0
    for word in ("hot", "paris", "w7", "w500"):
        exact = dict(model.fill("X and Y", x=word))
        quick = dict(model.fill("X and Y", x=word, search="shortlist"))
        shared = exact.keys() & quick.keys()
        found, total = found + len(shared), total + len(exact)
        assert [exact[name] for name in shared] == pytest.approx(
            [quick[name] for name in shared], abs=1e-4
        )
    # Random weights bend far more than trained ones; chance would find a quarter.
    assert found / total > 0.6


def test_an_analogy_has_a_shortlist_too(model: Pair2vec) -> None:
    question = ("france", "paris", "hot")
    exact = dict(model.analogy(*question))
    quick = dict(model.analogy(*question, search="shortlist"))
    shared = exact.keys() & quick.keys()
    assert len(shared) >= 6
    assert not set(question) & quick.keys()
    assert all(quick[word] == pytest.approx(exact[word], abs=1e-5) for word in shared)


def test_a_linear_score_is_found_without_error(tmp_path: Path) -> None:
    # Of one layer the tangent is the score itself, so nothing can be missed.
    recipe = {"name": "t", "pair": {"composition": "multiply", "layers": 1, "dimension": 8}}
    model = load(save_tiny_model(tmp_path, MANY, config={"recipe": recipe}))
    pairs = make_pair_vectors(model.saved)
    half, context = pairs.given(9, "x"), model.context("X and Y")
    rough = Regions(pairs.all_inputs).rough_scores(half, dot_with(context))
    np.testing.assert_allclose(rough, half.scores(pairs.all_inputs, context), rtol=0, atol=1e-5)
    exact = model.fill("X and Y", x="hot")
    assert model.fill("X and Y", x="hot", search="shortlist") == exact


def test_a_shortlist_has_the_best_rough_scores_and_none_left_out() -> None:
    rough = np.random.default_rng(0).normal(size=2 * SHORTLIST).astype(np.float32)
    without = np.argsort(-rough)[:5].tolist()
    expected = np.sort(np.argsort(-rough)[5 : 5 + SHORTLIST])
    np.testing.assert_array_equal(shortlist(rough, without), expected)


def test_a_word_in_the_middle_of_its_region_has_its_exact_score(tmp_path: Path) -> None:
    # With as many regions as words, every word is a middle.
    pairs = make_pair_vectors(load(save_tiny_model(tmp_path)).saved)
    half, context = pairs.given(9, "y"), np.ones(8, np.float32)
    rough = Regions(pairs.all_inputs).rough_scores(half, dot_with(context))
    np.testing.assert_allclose(rough, half.scores(pairs.all_inputs, context), rtol=0, atol=1e-4)

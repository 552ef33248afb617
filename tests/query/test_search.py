"""Search: the shortlist against the exact answer, the prior against its closed form."""

import math
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.tiny_model import WORDS, save_tiny_model

from pair2vec.api import Pair2vec, load
from pair2vec.errors import UsageError
from pair2vec.query.pair_encoder import dot_product, make_pair_network
from pair2vec.query.search import (
    LARGEST_WEIGHT,
    PAPER_WEIGHTS,
    SHORTLIST,
    SLOT_WEIGHTS,
    Match,
    Search,
    SlotWeights,
    WordClusters,
    check_prior,
    log_frequencies,
    shortlist,
    slot_weights,
)
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary

MANY = [*WORDS, *(f"w{number}" for number in range(4 * SHORTLIST))]
# The score of a slot is then linear in its word, so that a shortlist misses nothing.
LINEAR = {"name": "t", "pair": {"composition": "multiply", "layers": 1, "dimension": 8}}


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
    query = ("france", "paris", "hot")
    exact = dict(model.analogy(*query))
    quick = dict(model.analogy(*query, search="shortlist"))
    shared = exact.keys() & quick.keys()
    assert len(shared) >= 6
    assert not set(query) & quick.keys()
    assert all(quick[word] == pytest.approx(exact[word], abs=1e-5) for word in shared)


def test_a_linear_score_is_found_without_error(tmp_path: Path) -> None:
    # The linearisation of one layer is the score itself, so nothing can be missed.
    model = load(save_tiny_model(tmp_path, MANY, config={"recipe": LINEAR}))
    pairs = make_pair_network(model.saved)
    network, context = pairs.conditioned_on(9, "x"), model.context("X and Y")
    approximate = WordClusters(pairs.all_inputs).approximate_scores(network, dot_product(context))
    np.testing.assert_allclose(
        approximate, network.scores(pairs.all_inputs, context), rtol=0, atol=1e-5
    )
    exact = model.fill("X and Y", x="hot", weights=PAPER_WEIGHTS)
    assert model.fill("X and Y", x="hot", weights=PAPER_WEIGHTS, search="shortlist") == exact


def test_a_shortlist_has_the_best_approximate_scores_and_none_left_out() -> None:
    approximate = np.random.default_rng(0).normal(size=2 * SHORTLIST).astype(np.float32)
    without = np.argsort(-approximate)[:5].tolist()
    expected = np.sort(np.argsort(-approximate)[5 : 5 + SHORTLIST])
    np.testing.assert_array_equal(shortlist(approximate, without), expected)


def test_a_word_at_the_centroid_of_its_cluster_has_its_exact_score(tmp_path: Path) -> None:
    # With as many clusters as words, every word is a centroid.
    pairs = make_pair_network(load(save_tiny_model(tmp_path)).saved)
    network, context = pairs.conditioned_on(9, "y"), np.ones(8, np.float32)
    approximate = WordClusters(pairs.all_inputs).approximate_scores(network, dot_product(context))
    np.testing.assert_allclose(
        approximate, network.scores(pairs.all_inputs, context), rtol=0, atol=1e-4
    )


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Pair2vec:
    return load(save_tiny_model(tmp_path_factory.mktemp("tiny") / "model"))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Pair2vec:
    folder = tmp_path_factory.mktemp("large") / "model"
    return load(save_tiny_model(folder, MANY, config={"recipe": LINEAR}))


def fill(
    model: Pair2vec,
    slot: str,
    *,
    top: int = 99,
    similarity: float = 0.0,
    prior: float = 0.0,
    search: Search = "exact",
) -> list[Match]:
    """By weights of our own, of all words."""
    x, y = ("hot", None) if slot == "x" else (None, "hot")
    weights = SlotWeights(similarity, prior)
    return model.fill("X and Y", x=x, y=y, top=top, weights=weights, search=search, all_words=True)


def test_shares_are_of_the_corpus_and_what_never_occurs_is_taken_to_occur_once() -> None:
    shares = np.exp(log_frequencies(Vocabulary([("a", 6), ("b", 1), ("c", 0)])))[
        len(SPECIAL_TOKENS) :
    ]
    np.testing.assert_allclose(shares, [6 / 8, 1 / 8, 1 / 8], rtol=1e-6)


@pytest.mark.parametrize("slot", ["x", "y"])
def test_without_weights_the_score_is_that_of_the_pair(tiny: Pair2vec, slot: str) -> None:
    plain = fill(tiny, slot)
    pairs = [("hot", word) if slot == "x" else (word, "hot") for word, _ in plain]
    fits = tiny.scores(pairs, ["X and Y"])[:, 0].tolist()
    assert [match.score for match in plain] == pytest.approx(fits, abs=1e-4)
    assert SlotWeights(0, 0) == PAPER_WEIGHTS


@pytest.mark.parametrize("slot", ["x", "y"])
def test_scores_differ_by_the_similarity_of_the_words(tiny: Pair2vec, slot: str) -> None:
    plain, similar = dict(fill(tiny, slot)), dict(fill(tiny, slot, similarity=3.0))
    unit, ids = tiny.unit_words, tiny.vocabulary.ids
    cosines = {word: float(unit[ids["hot"]] @ unit[ids[word]]) for word in plain}
    expected = {word: fit + 3 * cosines[word] for word, fit in plain.items()}
    assert similar == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("composition", ["multiply", "difference"])
def test_a_similarity_is_of_unit_vectors_whatever_the_inputs(
    tmp_path: Path, composition: str
) -> None:
    recipe = {"name": "t", "pair": {"composition": composition, "layers": 1, "dimension": 8}}
    model = load(save_tiny_model(tmp_path, config={"recipe": recipe}))
    plain, similar = dict(fill(model, "x")), dict(fill(model, "x", similarity=3.0))
    unit, ids = model.unit_words, model.vocabulary.ids
    cosines = {word: float(unit[ids["hot"]] @ unit[ids[word]]) for word in plain}
    expected = {word: fit + 3 * cosines[word] for word, fit in plain.items()}
    assert similar == pytest.approx(expected, abs=1e-4)


def test_options_choose_the_weights_and_a_prior_replaces_theirs(tiny: Pair2vec) -> None:
    assert slot_weights() == SLOT_WEIGHTS
    assert slot_weights(paper=True) == PAPER_WEIGHTS
    assert slot_weights(prior=0.7) == SLOT_WEIGHTS._replace(prior=0.7)
    assert slot_weights(paper=True, prior=0.7) == SlotWeights(0, 0.7)
    by_weights = tiny.fill("X and Y", x="hot", weights=slot_weights(prior=0.7))
    assert tiny.fill("X and Y", x="hot", prior=0.7) == by_weights
    assert tiny.fill("X and Y", x="hot") != by_weights


@pytest.mark.parametrize("slot", ["x", "y"])
@pytest.mark.parametrize("prior", [0.25, 1.0, 7.0])
def test_scores_differ_by_the_prior_times_the_log_of_the_share(
    tiny: Pair2vec, slot: str, prior: float
) -> None:
    plain, weighed = dict(fill(tiny, slot)), dict(fill(tiny, slot, prior=prior))
    counts = dict(zip(tiny.vocabulary.words, tiny.vocabulary.counts.tolist(), strict=True))
    total = sum(counts.values())
    assert weighed == pytest.approx(
        {word: fit + prior * math.log(counts[word] / total) for word, fit in plain.items()},
        abs=1e-4,
    )
    assert list(weighed.values()) == sorted(weighed.values(), reverse=True)


@pytest.mark.parametrize("prior", [1e5, LARGEST_WEIGHT])
def test_a_large_prior_ranks_by_frequency(tiny: Pair2vec, prior: float) -> None:
    found = [match.word for match in fill(tiny, "x", prior=prior)]
    assert found == [word for word in WORDS if word != "hot"]


def test_a_prior_weighs_the_words_to_choose_among(tiny: Pair2vec) -> None:
    all_words = dict(fill(tiny, "x", prior=0.5))
    among, weights = ["up", "paris", "of"], SlotWeights(0, 0.5)
    some = dict(tiny.fill("X and Y", x="hot", among=among, weights=weights))
    assert some == pytest.approx({word: all_words[word] for word in some}, abs=1e-4)
    assert len(some) == 3


@pytest.mark.parametrize(
    ("similarity", "prior"), [(0.0, 0.0), (0.0, 0.5), (4.0, 0.2), (50.0, 0.0), (0.0, 1e5)]
)
@pytest.mark.parametrize("slot", ["x", "y"])
def test_a_shortlist_finds_what_the_exact_search_finds(
    large: Pair2vec, slot: str, similarity: float, prior: float
) -> None:
    ask = partial(fill, large, slot, top=50, similarity=similarity, prior=prior)
    exact, found = ask(), ask(search="shortlist")
    assert [match.word for match in found] == [match.word for match in exact]
    scores = [match.score for match in exact]
    assert [match.score for match in found] == pytest.approx(scores, abs=1e-4)


def test_the_prior_takes_part_in_choosing_the_shortlist(large: Pair2vec) -> None:
    # Were the shortlist chosen by the fit alone, three of four frequent words would not be in it.
    found = fill(large, "x", top=100, prior=1e5, search="shortlist")
    assert [match.word for match in found] == [word for word in MANY if word != "hot"][:100]


@pytest.mark.parametrize("prior", [-0.1, math.inf, -math.inf, math.nan, 2 * LARGEST_WEIGHT])
def test_a_prior_that_is_negative_or_not_finite_is_refused(tiny: Pair2vec, prior: float) -> None:
    with pytest.raises(UsageError) as raised:
        tiny.fill("X and Y", x="hot", prior=prior)
    assert str(raised.value).startswith(f"prior is {prior:g}; it must be a number from 0")
    with pytest.raises(UsageError, match="prior is"):
        check_prior(prior)
    with pytest.raises(UsageError, match=r"similarity is .*; it must be a number from 0"):
        tiny.fill("X and Y", x="hot", weights=SlotWeights(prior, 0))


def test_a_prior_is_refused_where_no_word_is_left_to_find(tiny: Pair2vec) -> None:
    with pytest.raises(UsageError, match=r"prior is 0\.5, but both words are given"):
        tiny.fill(["X and Y"], x="hot", y="cold", prior=0.5)  # type: ignore[call-overload]

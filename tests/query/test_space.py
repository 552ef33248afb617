"""The pair space of a model: whitening subtracts the mean and scales directions, nothing else."""

import inspect
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torch

from pair2vec.api import Pair2vec
from pair2vec.cli.options import WhiteningOption
from pair2vec.encoders.context import ContextConfig
from pair2vec.encoders.pair import PairConfig
from pair2vec.errors import UsageError
from pair2vec.model.folder import load_model, save_model
from pair2vec.query import space as space_module
from pair2vec.query.pair_encoder import (
    LearnedPairNetwork,
    LinearLayer,
    PairNetwork,
    make_pair_network,
)
from pair2vec.query.space import WHITENING, PairSpace, sampled_pairs, whitening_layer
from pair2vec.text.vocabulary import Vocabulary, WordCount
from pair2vec.training.network import Network
from pair2vec.training.publish import published_arrays
from pair2vec.training.recipes import Recipe

SIZE, WORDS = 6, 60


every_learned_network = pytest.mark.parametrize(
    ("composition", "layers"), [("mlp", 1), ("mlp", 2), ("mlp", 4), ("multiply", 1)]
)


def make_pairs(folder: Path, composition: str = "mlp", layers: int = 3) -> PairNetwork:
    pair = PairConfig(composition=composition, layers=layers, dimension=SIZE)
    recipe = Recipe(name="t", pair=pair, context=ContextConfig(dimension=SIZE, hidden=3))
    generator = torch.Generator().manual_seed(layers)
    vocabulary = Vocabulary([WordCount(f"word{n}", WORDS - n) for n in range(WORDS)])
    network = Network(len(vocabulary), recipe.pair, recipe.context, generator)
    network.pair_words.normal_(generator=generator)
    for weight in network.pair.parameters():
        weight.data.normal_(generator=generator)
    save_model(folder, published_arrays(network), vocabulary, {"recipe": asdict(recipe)})
    return make_pair_network(load_model(folder))


def whitened(folder: Path, whitening: float) -> PairNetwork:
    return PairSpace(load_model(folder), whitening=whitening).whitened_pairs


def make_learned(folder: Path, composition: str = "mlp", layers: int = 3) -> LearnedPairNetwork:
    pairs = make_pairs(folder, composition, layers)
    assert isinstance(pairs, LearnedPairNetwork)
    return pairs


def some_layer() -> LinearLayer:
    generator = np.random.default_rng(0)
    return LinearLayer(
        generator.normal(size=(SIZE, SIZE)).astype(np.float32),
        generator.normal(size=SIZE).astype(np.float32),
    )


def all_pairs() -> tuple[np.ndarray, np.ndarray]:
    x, y = np.meshgrid(np.arange(4, WORDS), np.arange(4, WORDS))
    return x.ravel(), y.ravel()


@every_learned_network
def test_r_followed_by_a_layer_is_the_layer_of_r(
    tmp_path: Path, composition: str, layers: int
) -> None:
    pairs, layer = make_learned(tmp_path, composition, layers), some_layer()
    x, y = all_pairs()
    expected = layer(pairs(x, y))
    np.testing.assert_allclose(pairs.followed_by(layer)(x, y), expected, rtol=1e-4, atol=1e-3)
    for role in ("x", "y"):
        conditional = pairs.followed_by(layer).conditioned_on(7, role)
        words = np.arange(4, WORDS)
        vectors = conditional.vectors(pairs.inputs(words))
        fixed = np.full_like(words, 7)
        whole = pairs(fixed, words) if role == "x" else pairs(words, fixed)
        np.testing.assert_allclose(vectors, layer(whole), rtol=1e-4, atol=1e-3)


@every_learned_network
def test_a_layer_behind_r_leaves_the_original_as_it_was(
    tmp_path: Path, composition: str, layers: int
) -> None:
    pairs = make_learned(tmp_path, composition, layers)
    x, y = all_pairs()
    before = pairs(x, y)
    twice = pairs.followed_by(some_layer()).followed_by(some_layer())
    np.testing.assert_array_equal(pairs(x, y), before)
    np.testing.assert_allclose(twice(x, y), some_layer()(some_layer()(before)), atol=1e-4)


@every_learned_network
def test_fully_whitened_pairs_have_zero_mean_and_identity_covariance(
    tmp_path: Path, composition: str, layers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space_module, "_LEAST_VARIANCE", 1e-9)
    make_pairs(tmp_path, composition, layers)
    vectors = whitened(tmp_path, 1.0)(*sampled_pairs(WORDS + 4))
    np.testing.assert_allclose(vectors.mean(axis=0), 0, atol=1e-3)
    np.testing.assert_allclose(np.cov(vectors.T), np.eye(SIZE), atol=1e-2)


def test_half_whitened_pairs_have_the_root_of_each_variance(tmp_path: Path) -> None:
    pairs = make_pairs(tmp_path)
    sample = sampled_pairs(WORDS + 4)
    before, after = (np.cov(r(*sample).T) for r in (pairs, whitened(tmp_path, 0.5)))
    np.testing.assert_allclose(
        np.linalg.eigvalsh(after), np.sqrt(np.linalg.eigvalsh(before)), rtol=1e-2
    )


def test_a_direction_of_little_variance_is_not_amplified_without_limit(tmp_path: Path) -> None:
    pairs = make_learned(tmp_path)
    flat = pairs.followed_by(
        LinearLayer(np.diag([1, 1, 1, 1, 1, 0]).astype(np.float32), np.zeros(SIZE, np.float32))
    )
    layer = whitening_layer(flat, 1.0)
    assert layer is not None
    largest_variance = np.linalg.eigvalsh(np.cov(flat(*all_pairs()).T))[-1]
    limit = 1 / np.sqrt(space_module._LEAST_VARIANCE * largest_variance)
    assert np.abs(layer.weight).max() <= 1.2 * limit


@pytest.mark.parametrize(("composition", "whitening"), [("mlp", 0.0), ("difference", 1.0)])
def test_without_whitening_and_for_differences_r_is_compared_as_it_is(
    tmp_path: Path, composition: str, whitening: float
) -> None:
    pairs = make_pairs(tmp_path, composition)
    space = PairSpace(load_model(tmp_path), whitening=whitening)
    assert space.whitened_pairs is space.pairs
    x, y = all_pairs()
    vectors = pairs(x, y)[x != y]
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(space.whiten(vectors), unit, atol=1e-6)


def test_whitened_vectors_are_those_of_the_whitened_network(tmp_path: Path) -> None:
    pairs = make_pairs(tmp_path)
    space = PairSpace(load_model(tmp_path))
    assert space.whitening == WHITENING
    x, y = all_pairs()
    vectors = space.whitened_pairs(x, y)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(space.whiten(pairs(x, y)), unit, atol=1e-4)


@pytest.mark.parametrize("whitening", [-0.1, 1.5, float("nan")])
def test_whitening_is_between_0_and_1(tmp_path: Path, whitening: float) -> None:
    make_pairs(tmp_path)
    with pytest.raises(UsageError, match=r"whitening is .*; it must be between 0 and 1"):
        Pair2vec(load_model(tmp_path), whitening=whitening)


def test_whitening_changes_comparisons_but_not_the_vector_of_a_pair(tmp_path: Path) -> None:
    make_pairs(tmp_path)
    plain, white = (Pair2vec(load_model(tmp_path), whitening=w) for w in (0.0, 1.0))
    query = ("word1", "word2", "word3")
    np.testing.assert_array_equal(plain.pair(*query[:2]), white.pair(*query[:2]))
    assert plain.fill("X word9 Y", x="word1") == white.fill("X word9 Y", x="word1")
    assert plain.analogy(*query, alpha=1) != white.analogy(*query, alpha=1)
    assert plain.nearest(*query[:2]) != white.nearest(*query[:2])


def test_the_best_score_of_an_analogy_is_the_cosine_of_whitened_vectors(tmp_path: Path) -> None:
    make_pairs(tmp_path)
    white = whitened(tmp_path, 0.5)
    model = Pair2vec(load_model(tmp_path), whitening=0.5)
    (best,) = model.analogy("word1", "word2", "word3", alpha=1, direction="forward", top=1)
    a, b, x, y = (model.vocabulary.ids[w] for w in ("word1", "word2", "word3", best.word))
    example, answer = white([a, x], [b, y])
    cosine = example @ answer / np.linalg.norm(example) / np.linalg.norm(answer)
    assert best.score == pytest.approx(float(cosine), abs=1e-5)


def test_the_commands_name_the_default() -> None:
    (option,) = WhiteningOption.__metadata__  # type: ignore[attr-defined]
    assert float(option.show_default) == WHITENING
    assert "0, the paper's" in inspect.cleandoc(option.help)

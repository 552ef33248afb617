"""R and C with numpy against torch's, which trained them."""

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from pair2vec.arrays import ROWS_PER_BLOCK, normalise
from pair2vec.encoders.context import ContextConfig
from pair2vec.encoders.pair import PairConfig
from pair2vec.model.folder import SavedModel, load_model, save_model
from pair2vec.query.context_encoder import ContextNetwork
from pair2vec.query.pair_encoder import (
    PairNetwork,
    Role,
    after_normalising,
    directed_vectors,
    dot_product,
    make_pair_network,
)
from pair2vec.text.vocabulary import Vocabulary, WordCount
from pair2vec.training.network import Network
from pair2vec.training.publish import network_from_model, published_arrays
from pair2vec.training.recipes import Recipe

WORDS, SIZE, HIDDEN = 30, 12, 5
COMPOSITIONS = [("mlp", 1), ("mlp", 2), ("mlp", 4), ("multiply", 1), ("difference", 1)]


def saved_model(folder: Path, composition: str = "mlp", layers: int = 4) -> SavedModel:
    """A network with random weights, published."""
    recipe = Recipe(
        name="random",
        pair=PairConfig(composition=composition, layers=layers, dimension=SIZE),
        context=ContextConfig(dimension=SIZE, hidden=HIDDEN),
    )
    generator = torch.Generator().manual_seed(layers)
    vocabulary = Vocabulary([WordCount(f"word{n}", WORDS - n) for n in range(WORDS)])
    network = Network(len(vocabulary), recipe.pair, recipe.context, generator)
    for table in (network.pair_words, network.context_words):
        table.normal_(generator=generator)
    save_model(folder, published_arrays(network), vocabulary, {"recipe": asdict(recipe)})
    return load_model(folder)


@pytest.mark.parametrize("layers", [1, 3])
@torch.no_grad()
def test_a_model_trained_with_a_word_norm_is_published_for_unit_words(
    tmp_path: Path, layers: int
) -> None:
    pair = PairConfig(layers=layers, dimension=SIZE, length=3.5)
    recipe = Recipe(name="long", pair=pair, context=ContextConfig(dimension=SIZE, hidden=HIDDEN))
    vocabulary = Vocabulary([WordCount(f"word{n}", WORDS - n) for n in range(WORDS)])
    network = Network(len(vocabulary), pair, recipe.context, torch.Generator().manual_seed(0))
    network.pair_words.normal_(generator=torch.Generator().manual_seed(1))
    save_model(tmp_path, published_arrays(network), vocabulary, {"recipe": asdict(recipe)})
    saved, x, y = load_model(tmp_path), ids(50), ids(50, seed=1)
    parts = network.pair.word_parts(network.pair_words)
    expected = network.pair.compose(parts, torch.from_numpy(x), torch.from_numpy(y)).numpy()
    assert np.abs(network.pair_words.norm(dim=1).numpy() - 3.5).min() > 1e-3
    np.testing.assert_allclose(make_pair_network(saved)(x, y), expected, rtol=0, atol=1e-5)
    np.testing.assert_allclose(torch_pairs(saved, x, y).numpy(), expected, rtol=0, atol=1e-5)


def ids(*shape: int, seed: int = 0) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(4, WORDS, shape)


@torch.no_grad()
def torch_pairs(saved: SavedModel, x: NDArray[np.int64], y: NDArray[np.int64]) -> torch.Tensor:
    network = network_from_model(saved)
    parts = network.pair.word_parts(network.pair_words)
    return network.pair.compose(parts, torch.from_numpy(x), torch.from_numpy(y))


@pytest.mark.parametrize(("composition", "layers"), COMPOSITIONS)
@pytest.mark.parametrize("count", [0, 3, 2 * ROWS_PER_BLOCK + 1])
def test_both_directions_are_those_of_each_alone(
    tmp_path: Path, composition: str, layers: int, count: int
) -> None:
    network = make_pair_network(saved_model(tmp_path, composition, layers))
    x, y = ids(count), ids(count, seed=1)
    forward, backward = network(x, y), network(y, x)
    both = network.compose_both(network.inputs(x), network.inputs(y))
    np.testing.assert_allclose(both, [forward, backward], rtol=0, atol=1e-5)
    for direction, expected in (
        ("both", np.concatenate([normalise(forward), normalise(backward)], axis=1)),
        ("forward", normalise(forward)),
        ("backward", normalise(backward)),
    ):
        found = directed_vectors(network, x, y, direction)  # type: ignore[arg-type]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    plain = directed_vectors(network, x, y, "both", normalised=False)
    np.testing.assert_allclose(plain, np.hstack([forward, backward]), rtol=0, atol=1e-5)


@pytest.mark.parametrize(("composition", "layers"), COMPOSITIONS)
def test_pairs_are_those_of_torch(tmp_path: Path, composition: str, layers: int) -> None:
    saved = saved_model(tmp_path, composition, layers)
    x, y = ids(50), ids(50, seed=1)
    different = x != y
    x, y = x[different], y[different]
    np.testing.assert_allclose(
        make_pair_network(saved)(x, y), torch_pairs(saved, x, y).numpy(), rtol=0, atol=1e-5
    )


@pytest.mark.parametrize("role", ["x", "y"])
@pytest.mark.parametrize(("composition", "layers"), COMPOSITIONS)
def test_a_pair_network_with_one_word_fixed_is_the_whole_one(
    tmp_path: Path, composition: str, layers: int, role: Role
) -> None:
    pairs = make_pair_network(saved_model(tmp_path, composition, layers))
    others = np.array([n for n in range(4, WORDS) if n != 9])
    fixed = np.full_like(others, 9)
    expected = pairs(fixed, others) if role == "x" else pairs(others, fixed)
    conditional, words = pairs.conditioned_on(9, role), pairs.inputs(others)
    direction = np.random.default_rng(2).normal(size=SIZE).astype(np.float32)
    unit = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    target = direction / np.linalg.norm(direction)
    np.testing.assert_allclose(conditional.vectors(words), expected, rtol=0, atol=1e-5)
    np.testing.assert_allclose(
        conditional.scores(words, direction), expected @ direction, rtol=0, atol=1e-4
    )
    np.testing.assert_allclose(
        conditional.cosines(words, target[None])[:, 0], unit @ target, rtol=0, atol=1e-5
    )


@pytest.mark.parametrize("is_cosine", [False, True])
@pytest.mark.parametrize(("composition", "layers"), COMPOSITIONS)
def test_a_linearisation_has_the_value_and_the_gradient_of_the_score(
    tmp_path: Path, composition: str, layers: int, is_cosine: bool
) -> None:
    pairs = make_pair_network(saved_model(tmp_path, composition, layers))
    conditional = pairs.conditioned_on(9, "x")
    random = np.random.default_rng(3)
    at = random.normal(size=(6, SIZE)).astype(np.float32)
    target = random.normal(size=SIZE).astype(np.float32)
    target /= np.linalg.norm(target)

    def score(words: NDArray[np.float32]) -> NDArray[np.float32]:
        return (
            conditional.cosines(words, target[None])[:, 0]
            if is_cosine
            else conditional.scores(words, target)
        )

    readout = after_normalising(dot_product(target)) if is_cosine else dot_product(target)
    values, gradients = conditional.linearise(at, readout)
    np.testing.assert_allclose(values, score(at), rtol=0, atol=1e-5)
    step = np.float32(1e-3)
    for column in range(SIZE):
        ahead, behind = at.copy(), at.copy()
        ahead[:, column] += step
        behind[:, column] -= step
        slope = (score(ahead) - score(behind)) / (2 * step)
        # A few words may sit on a ReLU's kink, where there are two slopes.
        assert np.median(np.abs(slope - gradients[:, column])) < 2e-3


@torch.no_grad()
@pytest.mark.parametrize("length", [4, 6, 8])
def test_contexts_are_those_of_torch(tmp_path: Path, length: int) -> None:
    saved = saved_model(tmp_path)
    contexts = np.random.default_rng(length).integers(0, WORDS, (7, length))
    network = network_from_model(saved)
    expected = network.context.encode(
        network.context.word_gates(network.context_words), torch.from_numpy(contexts)
    )
    found = ContextNetwork(saved)(contexts)
    np.testing.assert_allclose(found, expected.numpy(), rtol=0, atol=1e-5)


@pytest.mark.parametrize(("precision", "tolerance"), [("float16", 2e-2), ("int8", 0.2)])
def test_a_model_of_less_precision_is_nearly_the_same(
    tmp_path: Path, precision: str, tolerance: float
) -> None:
    whole = saved_model(tmp_path / "whole")
    arrays = {name: whole.array(name) for name in whole.names}
    save_model(
        tmp_path / "small",
        arrays,
        whole.vocabulary,
        whole.config,
        precision=precision,  # type: ignore[arg-type]
    )
    small = load_model(tmp_path / "small")
    x, y = ids(40), ids(40, seed=1)

    def vectors(saved: SavedModel) -> tuple[PairNetwork, NDArray[np.float32]]:
        pairs = make_pair_network(saved)
        return pairs, pairs(x, y)

    pairs, found = vectors(small)
    _, expected = vectors(whole)
    assert 0 < np.abs(found - expected).max() < tolerance * np.abs(expected).max()
    # Row by row or all at once, a word is the same.
    np.testing.assert_array_equal(pairs.all_inputs[x], pairs.inputs(x))

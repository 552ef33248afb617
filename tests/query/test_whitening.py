"""R made comparable: the mean of pairs taken off, directions evened out, nothing else changed."""

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
from pair2vec.query import whitening as comparison_module
from pair2vec.query.pair_encoder import Layer, LearntPairs, PairVectors, make_pair_vectors
from pair2vec.query.whitening import WHITENING, sampled_pairs, whiten, whitening_layer
from pair2vec.text.vocabulary import Vocabulary, WordCount
from pair2vec.training.network import Network
from pair2vec.training.publish import published_arrays
from pair2vec.training.recipes import Recipe

SIZE, WORDS = 6, 60


learnt = pytest.mark.parametrize(
    ("composition", "layers"), [("mlp", 1), ("mlp", 2), ("mlp", 4), ("multiply", 1)]
)


def make_pairs(folder: Path, composition: str = "mlp", layers: int = 3) -> PairVectors:
    pair = PairConfig(composition=composition, layers=layers, dimension=SIZE)
    recipe = Recipe(name="t", pair=pair, context=ContextConfig(dimension=SIZE, hidden=3))
    generator = torch.Generator().manual_seed(layers)
    vocabulary = Vocabulary([WordCount(f"word{n}", WORDS - n) for n in range(WORDS)])
    network = Network(len(vocabulary), recipe.pair, recipe.context, generator)
    network.pair_words.normal_(generator=generator)
    for weight in network.pair.parameters():
        weight.data.normal_(generator=generator)
    save_model(folder, published_arrays(network), vocabulary, {"recipe": asdict(recipe)})
    return make_pair_vectors(load_model(folder))


def make_learnt(folder: Path, composition: str = "mlp", layers: int = 3) -> LearntPairs:
    pairs = make_pairs(folder, composition, layers)
    assert isinstance(pairs, LearntPairs)
    return pairs


def some_layer() -> Layer:
    generator = np.random.default_rng(0)
    return Layer(
        generator.normal(size=(SIZE, SIZE)).astype(np.float32),
        generator.normal(size=SIZE).astype(np.float32),
    )


def all_pairs() -> tuple[np.ndarray, np.ndarray]:
    x, y = np.meshgrid(np.arange(4, WORDS), np.arange(4, WORDS))
    return x.ravel(), y.ravel()


@learnt
def test_a_changed_r_is_the_change_of_r(tmp_path: Path, composition: str, layers: int) -> None:
    pairs, change = make_learnt(tmp_path, composition, layers), some_layer()
    x, y = all_pairs()
    expected = change(pairs(x, y))
    np.testing.assert_allclose(pairs.changed(change)(x, y), expected, rtol=1e-4, atol=1e-3)
    for role in ("x", "y"):
        half = pairs.changed(change).given(7, role)
        words = np.arange(4, WORDS)
        of_half = half.vectors(pairs.inputs(words))
        given = np.full_like(words, 7)
        whole = pairs(given, words) if role == "x" else pairs(words, given)
        np.testing.assert_allclose(of_half, change(whole), rtol=1e-4, atol=1e-3)


@learnt
def test_changing_r_leaves_the_first_as_it_was(
    tmp_path: Path, composition: str, layers: int
) -> None:
    pairs = make_learnt(tmp_path, composition, layers)
    x, y = all_pairs()
    before = pairs(x, y)
    twice = pairs.changed(some_layer()).changed(some_layer())
    np.testing.assert_array_equal(pairs(x, y), before)
    np.testing.assert_allclose(twice(x, y), some_layer()(some_layer()(before)), atol=1e-4)


@learnt
def test_fully_whitened_pairs_have_no_mean_and_vary_alike_in_all_directions(
    tmp_path: Path, composition: str, layers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison_module, "_LEAST_VARIANCE", 1e-9)
    white = whiten(make_pairs(tmp_path, composition, layers), 1.0)
    vectors = white(*sampled_pairs(WORDS + 4))
    np.testing.assert_allclose(vectors.mean(axis=0), 0, atol=1e-3)
    np.testing.assert_allclose(np.cov(vectors.T), np.eye(SIZE), atol=1e-2)


def test_half_whitened_pairs_have_the_root_of_each_variance(tmp_path: Path) -> None:
    pairs = make_pairs(tmp_path)
    sample = sampled_pairs(WORDS + 4)
    before, after = (np.cov(r(*sample).T) for r in (pairs, whiten(pairs, 0.5)))
    np.testing.assert_allclose(
        np.linalg.eigvalsh(after), np.sqrt(np.linalg.eigvalsh(before)), rtol=1e-2
    )


def test_a_direction_that_hardly_varies_is_not_blown_up(tmp_path: Path) -> None:
    pairs = make_learnt(tmp_path)
    flat = pairs.changed(
        Layer(np.diag([1, 1, 1, 1, 1, 0]).astype(np.float32), np.zeros(SIZE, np.float32))
    )
    layer = whitening_layer(flat, 1.0)
    assert layer is not None
    assert (
        np.abs(layer.weight).max()
        <= 1
        / np.sqrt(
            comparison_module._LEAST_VARIANCE * np.linalg.eigvalsh(np.cov(flat(*all_pairs()).T))[-1]
        )
        * 1.2
    )


def test_without_whitening_r_is_as_the_paper_has_it(tmp_path: Path) -> None:
    pairs = make_pairs(tmp_path)
    assert whiten(pairs, 0.0) is pairs


def test_the_difference_of_words_is_compared_as_it_is(tmp_path: Path) -> None:
    pairs = make_pairs(tmp_path, "difference")
    assert whiten(pairs, 1.0) is pairs


@pytest.mark.parametrize("whitening", [-0.1, 1.5, float("nan")])
def test_whitening_is_between_0_and_1(tmp_path: Path, whitening: float) -> None:
    make_pairs(tmp_path)
    with pytest.raises(UsageError, match=r"whitening is .*; it must be between 0 and 1"):
        Pair2vec(load_model(tmp_path), whitening=whitening)


def test_whitening_changes_comparisons_but_not_the_vector_of_a_pair(tmp_path: Path) -> None:
    make_pairs(tmp_path)
    plain, white = (Pair2vec(load_model(tmp_path), whitening=w) for w in (0.0, 1.0))
    question = ("word1", "word2", "word3")
    np.testing.assert_array_equal(plain.pair(*question[:2]), white.pair(*question[:2]))
    assert plain.fill("X word9 Y", x="word1") == white.fill("X word9 Y", x="word1")
    assert plain.analogy(*question, alpha=1) != white.analogy(*question, alpha=1)
    assert plain.nearest(*question[:2]) != white.nearest(*question[:2])


def test_the_best_score_of_an_analogy_is_the_cosine_of_whitened_vectors(tmp_path: Path) -> None:
    white = whiten(make_pairs(tmp_path), 0.5)
    model = Pair2vec(load_model(tmp_path), whitening=0.5)
    (best,) = model.analogy("word1", "word2", "word3", alpha=1, direction="forward", top=1)
    a, b, x, y = (model.vocabulary.ids[w] for w in ("word1", "word2", "word3", best.word))
    of_example, of_answer = white([a, x], [b, y])
    cosine = of_example @ of_answer / np.linalg.norm(of_example) / np.linalg.norm(of_answer)
    assert best.score == pytest.approx(float(cosine), abs=1e-5)


def test_the_commands_name_the_default() -> None:
    (option,) = WhiteningOption.__metadata__  # type: ignore[attr-defined]
    assert float(option.show_default) == WHITENING
    assert "0, the paper's" in inspect.cleandoc(option.help)

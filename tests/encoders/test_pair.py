"""Pair encoders against the formulas they stand for."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from pair2vec.encoders.pair import (
    DifferencePair,
    MlpPair,
    MultiplyPair,
    PairConfig,
    PairEncoder,
    make_pair_encoder,
    widen,
)
from pair2vec.errors import UsageError
from pair2vec.training.recipes import find_recipe

WORDS, SIZE, PAIRS = 9, 6, 14

compositions = pytest.mark.parametrize("composition", ["mlp", "multiply", "difference"])


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def pairs() -> tuple[Tensor, Tensor]:
    """Rows of x and y, some of them the same word."""
    generator = torch.Generator().manual_seed(1)
    x, y = torch.randint(WORDS, (2, PAIRS), generator=generator)
    return x, y


def make(composition: str, layers: int = 4) -> PairEncoder:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(layers)
        config = PairConfig(composition=composition, layers=layers, dimension=SIZE)
        return make_pair_encoder(config)


def encode(encoder: PairEncoder, words: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return encoder.compose(encoder.word_parts(words), x, y)


def plain_mlp(encoder: PairEncoder, words: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """MLP([x; y; x∘y]) on unit-norm words, with ReLU between its layers."""
    assert isinstance(encoder, MlpPair)
    layers = [nn.Linear(3 * SIZE, SIZE), *(nn.Linear(SIZE, SIZE) for _ in encoder.others)]
    for ours, plain in zip([encoder.first, *encoder.others], layers, strict=True):
        plain.weight, plain.bias = ours.weight, ours.bias
    first = words[x] / words[x].norm(dim=1, keepdim=True)
    second = words[y] / words[y].norm(dim=1, keepdim=True)
    hidden = torch.cat([first, second, first * second], dim=1)
    for number, layer in enumerate(layers):
        hidden = layer(hidden if number == 0 else hidden.relu())
    return hidden


@pytest.mark.parametrize("layers", [1, 2, 4])
def test_the_mlp_in_two_steps_is_the_plain_one_with_its_gradients(layers: int) -> None:
    encoder = make("mlp", layers)
    words = random(WORDS, SIZE).requires_grad_()
    actual, expected = (way(encoder, words, *pairs()) for way in (encode, plain_mlp))
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-5)

    leaves = [words, *encoder.parameters()]
    assert len(leaves) == 1 + 2 * layers
    weights = random(PAIRS, SIZE, seed=2)
    gradients, plain_gradients = (
        torch.autograd.grad((result * weights).sum(), leaves) for result in (actual, expected)
    )
    for gradient, plain in zip(gradients, plain_gradients, strict=True):
        torch.testing.assert_close(gradient, plain, rtol=0, atol=1e-5)


@torch.no_grad()
def test_multiply_starts_with_vectors_as_long_as_those_of_the_mlp() -> None:
    words, x = random(500, 300), torch.arange(250)
    norms = {}
    for recipe in ("paper", "paper_multiply"):
        encoder = make_pair_encoder(find_recipe(recipe).pair)
        norms[recipe] = float(encode(encoder, words, x, x + 250).norm(dim=1).mean())
    assert norms["paper_multiply"] == pytest.approx(1.0, abs=0.05)
    assert 0.5 < norms["paper"] / norms["paper_multiply"] < 2


@pytest.mark.parametrize("length", [1.0, 3.0])
def test_multiply_scales_words_to_their_length(length: float) -> None:
    config = PairConfig(composition="multiply", dimension=SIZE, length=length)
    words, (x, y) = random(WORDS, SIZE), pairs()
    unit = words / words.norm(dim=1, keepdim=True)
    actual = encode(make_pair_encoder(config), words, x, y)
    torch.testing.assert_close(actual, length**2 * unit[x] * unit[y], rtol=0, atol=1e-5)


def test_difference_is_the_normalised_difference_of_the_words_as_they_are() -> None:
    words, (x, y) = random(WORDS, SIZE), pairs()
    different = x != y
    x, y = x[different], y[different]
    apart = words[x] - words[y]
    actual = encode(make("difference"), words, x, y)
    torch.testing.assert_close(actual, apart / apart.norm(dim=1, keepdim=True), rtol=0, atol=1e-6)
    assert actual.norm(dim=1).tolist() == pytest.approx([1.0] * len(x), abs=1e-6)


@pytest.mark.parametrize(
    ("composition", "layers"),
    [("mlp", 1), ("mlp", 2), ("mlp", 4), ("multiply", 4), ("difference", 4)],
)
def test_both_ways_are_one_way_and_the_other(composition: str, layers: int) -> None:
    encoder = make(composition, layers)
    parts = encoder.word_parts(random(WORDS, SIZE))
    a, b = torch.arange(6).view(2, 3)[:, :, None], torch.arange(8).view(2, 4)[:, None, :]
    every_a, every_b = a.expand(2, 3, 4), b.expand(2, 3, 4)
    with torch.no_grad():
        forward, backward = encoder.both_ways(parts.rows(a), parts.rows(b))
        torch.testing.assert_close(forward, encoder.compose(parts, every_a, every_b))
        torch.testing.assert_close(backward, encoder.compose(parts, every_b, every_a))


@compositions
def test_a_zero_word_or_a_word_paired_with_itself_gives_finite_values(composition: str) -> None:
    words = random(WORDS, SIZE)
    words[3] = 0
    leaf = words.requires_grad_()
    encoded = encode(make(composition), leaf, torch.tensor([3, 3, 5]), torch.tensor([4, 3, 5]))
    (gradient,) = torch.autograd.grad(encoded.sum(), leaf)
    assert bool(encoded.isfinite().all())
    assert bool(gradient.isfinite().all())


@compositions
def test_a_pair_does_not_depend_on_other_pairs_words_or_their_order(composition: str) -> None:
    encoder, words, (x, y) = make(composition), random(WORDS, SIZE), pairs()
    together = encode(encoder, words, x, y)
    order = torch.randperm(PAIRS, generator=torch.Generator().manual_seed(3))
    shuffled = encode(encoder, words, x[order], y[order])
    torch.testing.assert_close(shuffled, together[order], rtol=0, atol=1e-6)
    zero, one = torch.tensor([0]), torch.tensor([1])
    for row in range(PAIRS):
        alone = encode(encoder, torch.stack([words[x[row]], words[y[row]]]), zero, one)
        torch.testing.assert_close(alone[0], together[row], rtol=0, atol=1e-6)


def test_pairs_may_come_in_any_shape() -> None:
    encoder, words, (x, y) = make("mlp"), random(WORDS, SIZE), pairs()
    flat = encode(encoder, words, x, y)
    folded = encode(encoder, words, x.view(2, -1), y.view(2, -1))
    torch.testing.assert_close(folded, flat.view(2, -1, SIZE), rtol=0, atol=1e-6)


@pytest.mark.parametrize("width", [SIZE, SIZE + 1, 2 * SIZE])
@compositions
def test_padded_vectors_give_the_same_pairs_and_gradients_padded(
    composition: str, width: int
) -> None:
    encoder, words = make(composition), random(WORDS, SIZE).requires_grad_()
    wide = functional.pad(words, (0, width - SIZE))
    actual, expected = (encode(encoder, vectors, *pairs()) for vectors in (wide, words))
    assert actual.shape == (PAIRS, width)
    torch.testing.assert_close(actual[:, :SIZE], expected, rtol=0, atol=1e-6)
    assert not actual[:, SIZE:].any()

    # Whatever gradient the zeros are given.
    weights = random(PAIRS, width, seed=2)
    leaves = [words, *encoder.parameters()]
    actual_gradients = torch.autograd.grad((actual * weights).sum(), leaves)
    expected_gradients = torch.autograd.grad((expected * weights[:, :SIZE]).sum(), leaves)
    for gradient, narrow in zip(actual_gradients, expected_gradients, strict=True):
        torch.testing.assert_close(gradient, narrow, rtol=0, atol=1e-5)


@compositions
def test_the_parts_of_padded_words_are_padded_too(composition: str) -> None:
    encoder, words = make(composition), random(WORDS, SIZE)
    parts = encoder.word_parts(functional.pad(words, (0, 3)))
    narrow = encoder.word_parts(words)
    for part, expected in zip(sum(parts, ()), sum(narrow, ()), strict=True):
        torch.testing.assert_close(part, functional.pad(expected, (0, 3)), rtol=0, atol=1e-6)


def test_a_widened_weight_is_padded_with_zeros_in_each_dimension() -> None:
    assert widen(torch.ones(2), 3).tolist() == [1, 1, 0]
    assert widen(torch.ones(2, 2), 3).tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 0]]
    assert widen(torch.ones(2, 2), 2).tolist() == [[1, 1], [1, 1]]


@torch.no_grad()
def test_x_and_y_have_different_roles_but_for_multiply() -> None:
    words, x, y = random(WORDS, SIZE), torch.tensor([0, 2]), torch.tensor([1, 3])

    def change(composition: str) -> float:
        encoder = make(composition)
        return float((encode(encoder, words, x, y) - encode(encoder, words, y, x)).abs().max())

    assert change("mlp") > 1e-2
    assert change("difference") > 1e-2
    assert change("multiply") == 0


def test_only_the_mlp_has_weights() -> None:
    assert isinstance(make("multiply"), MultiplyPair)
    assert isinstance(make("difference"), DifferencePair)
    for composition in ("multiply", "difference"):
        assert not list(make(composition).parameters())


def test_a_wrong_composition_or_number_of_layers_is_named() -> None:
    with pytest.raises(UsageError, match="'sum'; it must be one of mlp, multiply, difference"):
        PairConfig(composition="sum")
    with pytest.raises(UsageError, match="layers is 0; it must be from 1 to 100"):
        PairConfig(layers=0)

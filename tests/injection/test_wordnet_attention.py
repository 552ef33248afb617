"""WordNet's relations under attention against the sum they stand for, written with plain loops."""

from copy import deepcopy
from pathlib import Path

import pytest
import torch
from tests.injection.small_layer import close, random_attention
from tests.wordnet.real_wordnet import real_wordnet
from tests.wordnet.small_wordnet import small_wordnet
from torch import Tensor

from pair2vec.errors import UsageError
from pair2vec.injection.sources import RelationSource
from pair2vec.injection.wordnet_attention import WordNetAttention
from pair2vec.wordnet.dictionary import WordNet
from pair2vec.wordnet.relations import wordnet_relations

A = [["The", "Dog", "is", "hot"], ["wolves", "dogs", "capital"], ["canid"]]
B = [["the", "canids", "cold"], ["wolf", "Paris", "animal", "dog", "x"], []]
"""With capitals, inflections, unknown words, and sentences of several lengths."""


def make_layer(wordnet: WordNet, dropout: float = 0.0) -> WordNetAttention:
    words = [word for sentence in A + B for word in sentence]
    return WordNetAttention(wordnet, words, dropout=dropout).eval()


def naive(wordnet: WordNet, a: list[list[str]], b: list[list[str]], alpha: Tensor) -> Tensor:
    found = torch.zeros(len(a), max(map(len, a)), 5)
    for k, (first, second) in enumerate(zip(a, b, strict=True)):
        for i, x in enumerate(first):
            for j, y in enumerate(second):
                found[k, i] = found[k, i] + alpha[k, i, j] * torch.tensor(
                    wordnet_relations(wordnet, x, y)
                )
    return found


def test_the_layer_and_its_gradient_are_those_of_the_plain_sums(tmp_path: Path) -> None:
    wordnet = small_wordnet(tmp_path)
    check_against_plain_sums(wordnet)


def test_the_same_holds_in_the_real_wordnet() -> None:
    check_against_plain_sums(real_wordnet())


def check_against_plain_sums(wordnet: WordNet) -> None:
    layer = make_layer(wordnet)
    a, b = layer.ids(A), layer.ids(B)
    alpha = random_attention(a, b).requires_grad_()
    beta = random_attention(b, a, seed=1).requires_grad_()
    found = layer.both(a, b, alpha, beta)
    expected = naive(wordnet, A, B, alpha), naive(wordnet, B, A, beta)
    for side, (one, other) in enumerate(zip(found, expected, strict=True)):
        assert one.shape == ((3, 4, 5), (3, 5, 5))[side]
        close(one, other)
    assert torch.equal(layer(a, b, alpha), found.a)
    # Of the first batch the dog is below a canid, and hot is not cold.
    assert found.a[0, 1, 2] > 0 and found.a[0, 3, 1] > 0 and found.b[0, 1, 3] > 0
    weights = [
        torch.randn(side.shape, generator=torch.Generator().manual_seed(2)) for side in found
    ]
    gradients = [
        torch.autograd.grad(
            sum((w * side).sum() for w, side in zip(weights, sides, strict=True)),  # type: ignore[arg-type]
            [alpha, beta],
        )
        for sides in (found, expected)
    ]
    for one, other in zip(*gradients, strict=True):
        assert one.abs().sum() > 0
        close(one, other)


def test_ids_are_zero_for_words_that_have_no_relations_to_look_up(tmp_path: Path) -> None:
    layer = make_layer(small_wordnet(tmp_path))
    found = layer.ids([["DOG", "dogs", "the", "unheard"], ["wolf"], ["cat", "", "wolves"]])
    assert found.dtype == torch.long
    dog, wolf = int(found[0, 0]), int(found[1, 0])
    # A cat is in WordNet, but the layer was not made for it.
    assert found.tolist() == [[dog, dog, 0, 0], [wolf, 0, 0, 0], [0, 0, wolf, 0]]
    assert 0 < dog != wolf > 0


def test_there_is_nothing_to_train_and_nothing_to_save(tmp_path: Path) -> None:
    layer = make_layer(small_wordnet(tmp_path))
    source: RelationSource = layer
    assert source.dimension == 5
    assert list(layer.parameters()) == []
    assert layer.state_dict() == {}
    assert f"pairs={len(layer.keys)}" in repr(layer)


def test_attention_that_is_no_number_to_unrelated_words_is_no_harm(tmp_path: Path) -> None:
    layer = make_layer(small_wordnet(tmp_path))
    a, b = layer.ids([["dog", "hot"]]), layer.ids([["unheard", "cold", ""]])
    alpha = torch.full((1, 2, 3), torch.nan)
    alpha[0, 1, 1] = 0.5
    found = layer.both(a, b, alpha, alpha.mT)
    assert found.a.tolist() == [[[0.0] * 5, [0, 0.5, 0, 0, 0]]]
    assert found.b.tolist() == [[[0.0] * 5, [0, 0.5, 0, 0, 0], [0.0] * 5]]


def test_a_layer_without_any_related_words_gives_zeros(tmp_path: Path) -> None:
    layer = WordNetAttention(small_wordnet(tmp_path), ["unheard"])
    a, b = layer.ids([["unheard", "dog"]]), layer.ids([[]])
    alpha = torch.zeros(1, 2, 0)
    assert layer.both(a, b, alpha, alpha.mT).a.tolist() == [[[0.0] * 5] * 2]
    alpha = torch.ones(1, 2, 2)
    assert layer.both(a, a, alpha, alpha).b.eq(0).all()


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_the_result_has_the_precision_of_the_attention(dtype: torch.dtype, tmp_path: Path) -> None:
    layer = make_layer(small_wordnet(tmp_path))
    a, b = layer.ids(A), layer.ids(B)
    alpha, beta = random_attention(a, b), random_attention(b, a)
    exact = layer.both(a, b, alpha, beta)
    for one in (layer, deepcopy(layer).to(dtype)):
        for found, side in zip(one.both(a, b, alpha.to(dtype), beta.to(dtype)), exact, strict=True):
            assert found.dtype == dtype
            torch.testing.assert_close(found.float(), side, rtol=0, atol=0.01)


def test_dropout_is_for_training_only(tmp_path: Path) -> None:
    layer = make_layer(small_wordnet(tmp_path), dropout=0.5)
    ids = layer.ids([["dog"] * 40])
    ones = torch.ones(1, 40, 40)
    exact = layer.both(ids, ids, ones, ones)
    assert exact.a[..., 0].eq(40).all()
    torch.manual_seed(0)
    for side in layer.train().both(ids, ids, ones, ones):
        assert set(side[..., 0].flatten().tolist()) == {0, 80}
    with pytest.raises(UsageError, match="dropout is -1; it must be at least 0"):
        make_layer(small_wordnet(tmp_path), dropout=-1)


def test_bad_input_is_one_clear_error(tmp_path: Path) -> None:
    layer = make_layer(small_wordnet(tmp_path))
    a, b = layer.ids(A), layer.ids(B)
    alpha, beta = random_attention(a, b), random_attention(b, a)
    with pytest.raises(UsageError, match="id 9 is not one of the model's, which go from 0 to 8"):
        layer.both(a, b.clamp_min(9), alpha, beta)
    with pytest.raises(UsageError, match="id -1 is not one"):
        layer.both(a - 1, b, alpha, beta)
    with pytest.raises(UsageError, match=r"attention_ab .* \(3, 5, 4\) where"):
        layer.both(a, b, beta, beta)
    with pytest.raises(UsageError, match=r"attention_ba .* words of b, words of a"):
        layer.both(a, b, alpha, alpha)
    with pytest.raises(UsageError, match=r"b_ids is torch\.float32"):
        layer.both(a, b.float(), alpha, beta)
    with pytest.raises(UsageError, match="'the dog' is a string; give a list of its words"):
        layer.ids(["the dog"])

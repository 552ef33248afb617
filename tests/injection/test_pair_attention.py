"""The injection layer against the formula it stands for, written down with plain loops."""

from pathlib import Path

import pytest
import torch
from tests.injection.small_layer import (
    SIZE,
    A,
    B,
    close,
    every_composition,
    make_layer,
    make_model,
    random_attention,
    watch_pairs,
)
from torch import Tensor

from pair2vec.api import Pair2vec
from pair2vec.errors import UsageError
from pair2vec.injection import frozen_pair
from pair2vec.injection.pair_attention import PairAttention
from pair2vec.injection.pooling import tiles
from pair2vec.model.folder import load_model

both_attentions = pytest.mark.parametrize("attention", ["kept", "renormalised"])


def naive_pairs(model: Pair2vec, a: list[list[str]], b: list[list[str]]) -> tuple[Tensor, Tensor]:
    """r_ij of all pairs, (B, n, m, 2D), and which of them are of known words."""
    longest_a, longest_b = (max(map(len, side)) for side in (a, b))
    vectors = torch.zeros(len(a), longest_a, longest_b, 2 * SIZE)
    known = torch.zeros(len(a), longest_a, longest_b, dtype=torch.bool)
    for k, (first, second) in enumerate(zip(a, b, strict=True)):
        for i, x in enumerate(first):
            for j, y in enumerate(second):
                if "unheard" not in (x, y):
                    vectors[k, i, j] = torch.from_numpy(model.pair(x, y))
                    known[k, i, j] = True
    return vectors, known


def naive(vectors: Tensor, known: Tensor, alpha: Tensor, attention: str) -> Tensor:
    if attention == "renormalised":
        shares = (alpha * known).sum(-1, keepdim=True)
        alpha = torch.where(shares > 0, alpha * known / shares.clamp_min(1e-13), 0)
    return (alpha[..., None] * vectors).sum(2)


@every_composition
@both_attentions
def test_the_layer_and_its_gradient_are_those_of_the_naive_formula(
    composition: str, layers: int, attention: str, tmp_path: Path
) -> None:
    layer = make_layer(
        tmp_path, composition=composition, layers=layers, attention=attention, pairs_at_once=7
    )
    vectors, known = naive_pairs(Pair2vec(load_model(tmp_path)), A, B)
    a, b = layer.ids(A), layer.ids(B)
    alpha = random_attention(a, b).requires_grad_()
    found, expected = layer(a, b, alpha), naive(vectors, known, alpha, attention)
    assert found.shape == (3, 5, layer.dimension)
    close(found, expected)

    weights = torch.randn(found.shape, generator=torch.Generator().manual_seed(1))
    gradients = [torch.autograd.grad((r * weights).sum(), alpha)[0] for r in (found, expected)]
    assert gradients[1].abs().max() > 0.1
    close(*gradients)


@every_composition
@both_attentions
def test_both_sides_at_once_are_two_calls(
    composition: str, layers: int, attention: str, tmp_path: Path
) -> None:
    layer = make_layer(
        tmp_path, composition=composition, layers=layers, attention=attention, pairs_at_once=4
    )
    a, b = layer.ids(A), layer.ids(B)
    alpha, beta = random_attention(a, b).requires_grad_(), random_attention(b, a).requires_grad_()
    found, expected = layer.both(a, b, alpha, beta), (layer(a, b, alpha), layer(b, a, beta))
    for ours, theirs in zip(found, expected, strict=True):
        close(ours, theirs)
    gradients = [
        torch.autograd.grad((side_a**2).sum() + (side_b**3).sum(), (alpha, beta))
        for side_a, side_b in (found, expected)
    ]
    for ours, theirs in zip(*gradients, strict=True):
        close(ours, theirs)


@every_composition
@both_attentions
def test_the_gradient_is_that_of_finite_differences(
    composition: str, layers: int, attention: str, tmp_path: Path
) -> None:
    layer = make_layer(tmp_path, composition=composition, layers=layers, attention=attention)
    layer = layer.double()
    a, b = layer.ids(A), layer.ids(B)
    alpha = random_attention(a, b).double().requires_grad_()
    beta = random_attention(b, a).double().requires_grad_()
    assert torch.autograd.gradcheck(lambda weights: layer(a, b, weights), alpha)
    assert torch.autograd.gradcheck(lambda *weights: layer.both(a, b, *weights), (alpha, beta))


@pytest.mark.parametrize("sharpness", [0.5, 2, 4])
@both_attentions
def test_sharper_attention_is_a_softmax_of_larger_scores(
    attention: str, sharpness: float, tmp_path: Path
) -> None:
    layer = make_layer(tmp_path, attention=attention, sharpness=sharpness).double()
    vectors, known = naive_pairs(Pair2vec(load_model(tmp_path)), A, B)
    a, b = layer.ids(A), layer.ids(B)
    draw = torch.Generator().manual_seed(2)
    scores = torch.randn(3, 5, 4, dtype=torch.double, generator=draw).requires_grad_()
    found = layer(a, b, scores.softmax(-1))
    sharp = (sharpness * scores).softmax(-1)
    expected = naive(vectors.double(), known, sharp, attention)
    close(found, expected)
    weights = torch.randn(found.shape, dtype=torch.double, generator=draw)
    close(*(torch.autograd.grad((r * weights).sum(), scores)[0] for r in (found, expected)))


def test_sharp_attention_is_of_the_most_attended_word_whatever_the_precision(
    tmp_path: Path,
) -> None:
    layer = make_layer(tmp_path, sharpness=60)
    a, b = layer.ids([["hot"]]), layer.ids([["cold", "hot", "cold"] * 100])
    alpha = torch.full((1, 1, 300), 0.003, dtype=torch.half)
    alpha[..., 1] = 0.006
    plain = PairAttention(load_model(tmp_path)).eval()
    alone = plain(a, layer.ids([["hot"]]), torch.ones(1, 1, 1))
    torch.testing.assert_close(layer(a, b, alpha).float(), alone, rtol=0, atol=1e-3)
    nothing = torch.zeros_like(alpha).requires_grad_()
    lost = layer(a, b, nothing)
    assert lost.eq(0).all()
    assert torch.autograd.grad(lost.sum(), nothing)[0].eq(0).all()
    assert layer(a, layer.ids([[]]), torch.zeros(1, 1, 0)).eq(0).all()


@pytest.mark.parametrize("sharpness", [0, -1.0, float("inf"), float("nan")])
def test_a_sharpness_out_of_range_is_refused(sharpness: float, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"sharpness is .*; it must be above 0"):
        make_layer(tmp_path, sharpness=sharpness)


@every_composition
def test_parts_of_all_words_are_those_of_the_words_of_a_batch(
    composition: str, layers: int, tmp_path: Path
) -> None:
    plain = make_layer(tmp_path, composition=composition, layers=layers)
    kept = PairAttention(load_model(tmp_path), keep_parts=True).eval()
    a, b = plain.ids(A), plain.ids(B)
    found = []
    for layer in (plain, kept, kept):
        alpha = random_attention(a, b).requires_grad_()
        beta = random_attention(b, a, seed=1).requires_grad_()
        sides = layer.both(a, b, alpha, beta)
        torch.autograd.backward([side.square().sum() for side in sides])
        found.append((*sides, alpha.grad, beta.grad))
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            assert one is not None and two is not None
            close(one, two)


def test_kept_parts_follow_the_words_and_the_precision(tmp_path: Path) -> None:
    kept = PairAttention(load_model(make_model(tmp_path / "one")), keep_parts=True).eval()
    other = make_layer(tmp_path / "other", layers=4)
    a, b = kept.ids(A), kept.ids(B)
    alpha = random_attention(a, b)
    before = kept(a, b, alpha)
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(kept(a, b, alpha), before, rtol=0.05, atol=0.05)
    close(kept.double()(a, b, alpha.double()).float(), before)
    close(kept.float()(a, b, alpha), before)
    with torch.no_grad():
        kept.pair.words.mul_(-1).add_(other.pair.words)
    assert not torch.allclose(kept(a, b, alpha), before, atol=0.01)


def test_padded_vectors_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frozen_pair, "_padded_width", lambda _device, size: size + 5)
    plain = make_layer(tmp_path)
    wide = PairAttention(load_model(tmp_path), keep_parts=True).eval()
    assert wide.pair.prepared().parts.as_x[0].shape[1] == SIZE + 5
    a, b = plain.ids(A), plain.ids(B)
    found = []
    for layer in (plain, wide):
        alpha = random_attention(a, b).requires_grad_()
        side = layer(a, b, alpha)
        torch.autograd.backward(side.square().sum())
        assert alpha.grad is not None
        found.append((side, alpha.grad))
    for one, two in zip(*found, strict=True):
        close(one, two)


@pytest.mark.parametrize("pairs_at_once", [1, 2, 3, 5, 8, 21, 59, 60, 1000])
def test_tiles_of_any_size_cover_each_pair_once(pairs_at_once: int) -> None:
    seen = torch.zeros(3, 5, 4, dtype=torch.int)
    for slices in tiles(3, 5, 4, pairs_at_once):
        part = seen[slices]
        assert 0 < part.numel() <= pairs_at_once
        part += 1
    assert seen.eq(1).all()


@pytest.mark.parametrize("pairs_at_once", [1, 3, 9, 40])
def test_the_size_of_tiles_changes_nothing(pairs_at_once: int, tmp_path: Path) -> None:
    layer = make_layer(tmp_path)
    a, b = layer.ids(A), layer.ids(B)
    alpha, beta = random_attention(a, b), random_attention(b, a)
    expected = layer.both(a, b, alpha, beta)
    layer.pairs_at_once = pairs_at_once
    for found, side in zip(layer.both(a, b, alpha, beta), expected, strict=True):
        close(found, side)


def test_no_more_pairs_than_a_tile_has_are_encoded_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = make_layer(tmp_path, pairs_at_once=8)
    sizes: list[int] = []
    watch_pairs(monkeypatch, lambda vectors: sizes.append(vectors[..., 0].numel()))
    a, b = layer.ids(A), layer.ids(B)
    layer(a, b, random_attention(a, b).requires_grad_()).sum().backward()
    assert max(sizes) <= 8
    assert sum(sizes) == 2 * 2 * 3 * 5 * 4  # directions, passes, pairs


@both_attentions
def test_a_word_that_attends_to_no_known_word_gets_zeros(attention: str, tmp_path: Path) -> None:
    layer = make_layer(tmp_path, attention=attention)
    a, b = layer.ids([["hot", "cold"]]), layer.ids([["unheard", "unheard", ""]])
    # Not even a number: what a softmax makes of a row that is masked as a whole.
    alpha = torch.full((1, 2, 3), torch.nan)
    assert layer(a, b, alpha).eq(0).all()
    assert layer(b, a, alpha.mT).eq(0).all()
    special = torch.tensor([[1, 2, 3]])
    assert layer(a, special, alpha).eq(0).all()


def test_an_empty_batch_or_sentence_is_no_special_case(tmp_path: Path) -> None:
    layer = make_layer(tmp_path)
    nothing, a = layer.ids([]), layer.ids([["hot", "cold"]])
    assert layer(nothing, nothing, torch.zeros(0, 0, 0)).shape == (0, 0, 2 * SIZE)
    assert layer(a, layer.ids([[]]), torch.zeros(1, 2, 0)).tolist() == [[[0.0] * 2 * SIZE] * 2]

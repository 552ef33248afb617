"""Layers over padded sequences."""

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from pair2vec.experiments.tasks.layers import (
    Bidirectional,
    BiGru,
    BiLstm,
    VariationalDropout,
    masked_softmax,
    max_words,
    mean_words,
)

LENGTHS = st.lists(st.integers(0, 6), min_size=1, max_size=5)


def is_word(lengths: Tensor, width: int) -> Tensor:
    """The mask of words: (B, n)."""
    return torch.arange(width, device=lengths.device) < lengths[:, None]


def blocks_of(lengths: list[list[int]]) -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [
        torch.randn(len(block), max(block), 3, generator=generator)
        * is_word(torch.tensor(block), max(block))[..., None]
        for block in lengths
    ]


def masks_of(lengths: list[list[int]]) -> list[Tensor]:
    return [is_word(torch.tensor(block), max(block)) for block in lengths]


def run_by_torch(network: Bidirectional, sequence: Tensor) -> Tensor:
    """Both directions over a sequence (n, D), by torch's networks as they are: (n, 2 hidden)."""
    back: Tensor = network.back(sequence.flip(0))[0].flip(0)
    return torch.cat([network.ahead(sequence)[0], back], dim=1)


@settings(max_examples=25)
@given(st.lists(LENGTHS, min_size=1, max_size=2))
@example([[0], [1]])
def test_a_sequence_is_encoded_as_if_it_were_alone(lengths: list[list[int]]) -> None:
    torch.manual_seed(0)
    for network in (BiLstm(3, 4), BiGru(3, 4)):
        blocks = blocks_of(lengths)
        states = network(blocks, masks_of(lengths))
        for encoded, block, row_lengths in zip(states, blocks, lengths, strict=True):
            for row, length in enumerate(row_lengths):
                expected = torch.zeros(max(row_lengths), 8)
                if length:
                    expected[:length] = run_by_torch(network, block[row, :length])
                torch.testing.assert_close(encoded[row], expected)


def test_both_directions_are_those_of_a_network_of_torch_that_has_both() -> None:
    torch.manual_seed(0)
    ours, theirs = BiGru(3, 4), nn.GRU(3, 4, bidirectional=True, batch_first=True)
    for suffix, cells in (("", ours.ahead), ("_reverse", ours.back)):
        for name, values in cells.named_parameters():
            theirs.get_parameter(f"{name}{suffix}").data.copy_(values.data)
    (block,) = blocks_of([[5, 5]])
    torch.testing.assert_close(ours([block], masks_of([[5, 5]]))[0], theirs(block)[0])


@pytest.mark.parametrize("kind", [BiLstm, BiGru])
def test_padding_changes_neither_states_nor_gradients(
    kind: type[BiLstm] | type[BiGru],
) -> None:
    torch.manual_seed(0)
    lengths, network, results = [[3, 0, 5, 1], [2, 2, 4]], kind(3, 4), []
    for more in (0, 3):
        blocks = [
            nn.functional.pad(b, (0, 0, 0, more)).requires_grad_() for b in blocks_of(lengths)
        ]
        masks = [nn.functional.pad(mask, (0, more)) for mask in masks_of(lengths)]
        network.zero_grad()
        states = network(blocks, masks)
        torch.autograd.backward([(s * s.detach().cos()).sum() for s in states])
        ends = [max(block) for block in lengths]
        results.append(
            [s[:, :end] for s, end in zip(states, ends, strict=True)]
            + [b.grad[:, :end] for b, end in zip(blocks, ends, strict=True) if b.grad is not None]
            + [p.grad for p in network.parameters() if p.grad is not None]
        )
        assert all(not s[:, end:].any() for s, end in zip(states, ends, strict=True))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other)


def test_states_are_not_rounded_by_autocast() -> None:
    torch.manual_seed(0)
    network, lengths = BiLstm(3, 4), [[3, 2]]
    with torch.autocast("cpu", torch.bfloat16):
        (states,) = network(blocks_of(lengths), masks_of(lengths))
    torch.testing.assert_close(states, network(blocks_of(lengths), masks_of(lengths))[0])


def test_initial_weights_are_those_of_allennlp() -> None:
    torch.manual_seed(0)
    network = BiLstm(6, 4)
    for cells in (network.ahead, network.back):
        weights = dict(cells.named_parameters())
        square = weights["weight_hh_l0"]
        torch.testing.assert_close(square.T @ square, torch.eye(4))
        bias = weights["bias_hh_l0"] + weights["bias_ih_l0"]
        assert bias.tolist() == [0.0] * 4 + [1.0] * 4 + [0.0] * 8


def test_variational_dropout_drops_the_same_dimensions_of_all_words() -> None:
    torch.manual_seed(0)
    layer = VariationalDropout(0.5)
    dropped = layer(torch.ones(200, 7, 20))
    assert torch.equal(dropped, dropped[:, :1].expand_as(dropped))
    assert set(dropped.unique().tolist()) == {0.0, 2.0}
    assert abs(float(dropped.mean()) - 1) < 0.1
    assert torch.equal(layer.eval()(torch.ones(2, 3, 4)), torch.ones(2, 3, 4))


def test_attention_is_zero_where_masked() -> None:
    scores = torch.tensor([[3.0, 1.0, 1.0], [5.0, 2.0, 2.0]])
    mask = torch.tensor([[False, True, True], [False, False, False]])
    assert masked_softmax(scores, mask, dim=1).tolist() == [[0.0, 0.5, 0.5], [0.0, 0.0, 0.0]]
    (gradient,) = torch.autograd.grad(
        masked_softmax(scores.requires_grad_(), mask, dim=1)[:, 1].sum(), scores
    )
    assert gradient.tolist() == [[0.0, 0.25, -0.25], [0.0, 0.0, 0.0]]


def test_pooling_ignores_padding() -> None:
    block = torch.tensor([[[1.0], [-3.0], [9.0]], [[-5.0], [9.0], [9.0]], [[9.0], [9.0], [9.0]]])
    mask = is_word(torch.tensor([2, 1, 0]), 3)
    assert mean_words(block, mask).tolist() == [[-1.0], [-5.0], [0.0]]
    assert max_words(block, mask).tolist() == [[1.0], [-5.0], [0.0]]
    assert max_words(block[:, :0], mask[:, :0]).tolist() == [[0.0], [0.0], [0.0]]
    half = block.to(torch.bfloat16)
    assert max_words(half, mask).tolist() == [[1.0], [-5.0], [0.0]]


@pytest.mark.parametrize("lengths", [[[0, 0]], [[0], [0, 0]]])
def test_sequences_without_any_word_are_zero(lengths: list[list[int]]) -> None:
    blocks = blocks_of(lengths)
    for states, block in zip(BiLstm(3, 2)(blocks, masks_of(lengths)), blocks, strict=True):
        assert states.shape == (*block.shape[:2], 4)
        assert not states.any()

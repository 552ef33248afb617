"""Sequences of several lengths."""

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence

from pair2vec.supervised.recurrent import BiGru, BiLstm
from pair2vec.supervised.sequences import (
    Packing,
    VariationalDropout,
    is_word,
    masked_softmax,
    max_words,
    mean_words,
)

LENGTHS = st.lists(st.integers(0, 6), min_size=1, max_size=5)


def blocks_of(lengths: list[list[int]]) -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [
        torch.randn(len(block), max(block), 3, generator=generator)
        * is_word(torch.tensor(block), max(block))[..., None]
        for block in lengths
    ]


def packing_of(lengths: list[list[int]]) -> Packing:
    return Packing.of([np.array(block) for block in lengths])


@given(LENGTHS.filter(all))
def test_one_block_is_packed_as_torch_packs_it(lengths: list[int]) -> None:
    (block,) = blocks_of([lengths])
    ours = packing_of([lengths]).pack([block])
    theirs = pack_padded_sequence(block, torch.tensor(lengths), True, enforce_sorted=False)
    assert torch.equal(ours.batch_sizes, theirs.batch_sizes)
    assert theirs.sorted_indices is not None
    # Sequences of one length may stand in another order.
    assert torch.equal(ours.data.sort(dim=0).values, theirs.data.sort(dim=0).values)


@given(st.lists(LENGTHS, min_size=1, max_size=3))
def test_what_is_packed_can_be_unpacked(lengths: list[list[int]]) -> None:
    blocks, packing = blocks_of(lengths), packing_of(lengths)
    again = packing.unpack(packing.pack(blocks), blocks)
    assert all(torch.equal(one, other) for one, other in zip(blocks, again, strict=True))


@settings(max_examples=25, deadline=None)
@given(st.lists(LENGTHS, min_size=1, max_size=2))
@example([[0], [1]])
def test_a_sequence_is_read_as_if_it_were_alone(lengths: list[list[int]]) -> None:
    torch.manual_seed(0)
    for network in (BiLstm(3, 4), BiGru(3, 4)):
        blocks, packing = blocks_of(lengths), packing_of(lengths)
        for found, block, of_block in zip(network(blocks, packing), blocks, lengths, strict=True):
            for row, length in enumerate(of_block):
                expected = torch.zeros(max(of_block), 8)
                if length:
                    expected[:length] = network.cells(block[row, :length])[0]
                torch.testing.assert_close(found[row], expected)


@pytest.mark.parametrize("kind", [BiLstm, BiGru])
def test_packed_and_padded_are_the_same_with_their_gradients(
    kind: type[BiLstm] | type[BiGru],
) -> None:
    torch.manual_seed(0)
    lengths = [[3, 0, 5, 1], [2, 2, 4]]
    network = kind(3, 4)
    packing, found = packing_of(lengths), []
    for way in ("padded", "packed"):
        blocks = [block.requires_grad_() for block in blocks_of(lengths)]
        network.zero_grad()
        if way == "padded":
            states = network(blocks, packing)
        else:
            states = packing.unpack(network.cells(packing.pack(blocks))[0], blocks)
        sum((s * s.detach().cos()).sum() for s in states).backward()
        found.append([*states, *(b.grad for b in blocks), *(p.grad for p in network.parameters())])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


def test_the_first_weights_are_those_of_allennlp() -> None:
    torch.manual_seed(0)
    network = BiLstm(6, 4)
    for suffix in ("", "_reverse"):
        square = getattr(network.lstm, f"weight_hh_l0{suffix}")
        torch.testing.assert_close(square.T @ square, torch.eye(4))
        bias = getattr(network.lstm, f"bias_hh_l0{suffix}") + getattr(
            network.lstm, f"bias_ih_l0{suffix}"
        )
        assert bias.tolist() == [0.0] * 4 + [1.0] * 4 + [0.0] * 8


def test_variational_dropout_drops_the_same_dimensions_of_all_words() -> None:
    torch.manual_seed(0)
    layer = VariationalDropout(0.5)
    found = layer(torch.ones(200, 7, 20))
    assert torch.equal(found, found[:, :1].expand_as(found))
    assert set(found.unique().tolist()) == {0.0, 2.0}
    assert abs(float(found.mean()) - 1) < 0.1
    assert torch.equal(layer.eval()(torch.ones(2, 3, 4)), torch.ones(2, 3, 4))


def test_attention_is_on_what_is_allowed_alone() -> None:
    scores = torch.tensor([[3.0, 1.0, 1.0], [5.0, 2.0, 2.0]])
    is_in = torch.tensor([[False, True, True], [False, False, False]])
    assert masked_softmax(scores, is_in, dim=1).tolist() == [[0.0, 0.5, 0.5], [0.0, 0.0, 0.0]]
    (gradient,) = torch.autograd.grad(
        masked_softmax(scores.requires_grad_(), is_in, dim=1)[:, 1].sum(), scores
    )
    assert gradient.tolist() == [[0.0, 0.25, -0.25], [0.0, 0.0, 0.0]]


def test_pooling_sees_words_alone() -> None:
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
    for found, block in zip(BiLstm(3, 2)(blocks, packing_of(lengths)), blocks, strict=True):
        assert found.shape == (*block.shape[:2], 4)
        assert not found.any()

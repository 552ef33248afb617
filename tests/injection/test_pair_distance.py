"""The difference of word vectors in R's place."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.injection.small_layer import close
from torch.nn.functional import normalize

from pair2vec.errors import InputError, UsageError
from pair2vec.injection.frozen_pair import whitened_for_differences
from pair2vec.injection.pair_distance import pair_distance_attention
from pair2vec.injection.sources import RelationSource
from pair2vec.word_vectors.formats import write_vec

WORDS = "hot cold Paris paris rest zero".split()
VECTORS = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    VECTORS[WORDS.index("zero")] = 0
    write_vec(tmp_path / "words.vec", WORDS, VECTORS)
    return tmp_path / "words.vec"


def test_pair_vectors_are_differences_of_word_vectors(path: Path) -> None:
    layer = pair_distance_attention(path, ["Hot", "cold", "PARIS", "unheard"]).eval()
    source: RelationSource = layer
    assert (source.dimension, layer.dropout.p) == (6, 0.15)
    a, b = source.ids([["hot", "Paris"]]), source.ids([["Cold", "unheard"]])
    alpha = torch.tensor([[[0.75, 0.25], [1.0, 0.0]]])
    hot, cold, _, paris, *_ = torch.from_numpy(VECTORS)
    forward = normalize(torch.stack([hot - cold, paris - cold]), dim=-1)
    found = source.both(a, b, alpha, alpha.mT)
    close(found.a[0], torch.tensor([[0.75], [1.0]]) * torch.cat([forward, -forward], dim=-1))
    assert found.b[0, 1].eq(0).all()


def test_only_requested_words_that_have_a_vector_are_known(path: Path) -> None:
    layer = pair_distance_attention(path, ["hot", "zero", "cold", "two words", "", "unheard"])
    assert layer.vocabulary.words[4:] == ("cold", "hot")
    assert layer.pair.words.shape == (6, 3)
    assert layer.pair.words[:4].eq(0).all()
    assert layer.ids([["zero", "rest", "hot"]]).tolist() == [[0, 0, 5]]
    assert list(layer.parameters()) == []


def test_whitening_does_not_depend_on_which_words_are_asked_for(path: Path) -> None:
    few, more = (
        pair_distance_attention(path, words, dropout=0, whitening=1)
        for words in (["hot", "cold"], ["hot", "cold", "paris", "rest"])
    )
    pairs = [layer.ids([["hot"]]) for layer in (few, more)]
    others = [layer.ids([["cold"]]) for layer in (few, more)]
    one = torch.ones(1, 1, 1)
    found = [layer(*ids, one) for layer, *ids in zip((few, more), pairs, others, strict=True)]
    close(*found)
    plain = pair_distance_attention(path, ["hot", "cold"], dropout=0)
    assert (plain(pairs[0], others[0], one) - found[0]).abs().max() > 0.01
    # By all words of the file, special tokens left out.
    special = np.zeros((4, 3), np.float32)
    whole = np.concatenate([special, VECTORS])
    white = whitened_for_differences(VECTORS[:2], whole, 1.0)
    expected = normalize(torch.from_numpy(white[:1] - white[1:]), dim=-1)
    close(found[0][0, :, :3], expected)


def test_settings_and_files_that_cannot_be_used_are_named(path: Path) -> None:
    assert pair_distance_attention(path, ["hot"], dropout=0).dropout.p == 0
    with pytest.raises(UsageError, match="dropout is 2; it must"):
        pair_distance_attention(path, ["hot"], dropout=2)
    with pytest.raises(InputError, match="has none of the 1 words"):
        pair_distance_attention(path, ["unheard"])
    with pytest.raises(UsageError, match="words: has no word to look for"):
        pair_distance_attention(path, [" "])

"""R derived from a model: whitened, or of a subset of its words."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.injection.small_layer import A, B, close, make_model, random_attention
from tests.tiny_model import save_tiny_model

from pair2vec.arrays import normalise
from pair2vec.errors import UsageError
from pair2vec.injection.frozen_pair import subset_vocabulary, token_spellings, whitened_weights
from pair2vec.injection.pair_attention import PairAttention
from pair2vec.model.folder import SavedModel, load_model
from pair2vec.query.space import PairSpace
from pair2vec.text.vocabulary import SPECIAL_TOKENS


@pytest.fixture
def saved(tmp_path: Path) -> SavedModel:
    return load_model(save_tiny_model(tmp_path / "model"))


@pytest.mark.parametrize("whitening", [0.0, 0.5, 1.0])
def test_whitened_weights_give_the_vectors_that_are_compared(
    saved: SavedModel, whitening: float
) -> None:
    layer = PairAttention(whitened_weights(saved, whitening), dropout=0)
    x, y = (torch.tensor([[saved.vocabulary.ids[word]]]) for word in ("hot", "cold"))
    (found,) = layer(x, y, torch.ones(1, 1, 1))[0].numpy()
    pairs = PairSpace(saved, whitening=whitening).whitened_pairs
    there, back = (
        pairs(a, b) for a, b in ((x[0].numpy(), y[0].numpy()), (y[0].numpy(), x[0].numpy()))
    )
    expected = np.concatenate([normalise(there), normalise(back)], axis=1)[0]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_whitening_changes_the_last_layer(saved: SavedModel) -> None:
    plain, changed = (
        whitened_weights(saved, whitening).array("pair.others.0.weight") for whitening in (0, 1)
    )
    assert not np.allclose(plain, changed)


def test_an_r_without_layers_cannot_be_whitened(tmp_path: Path) -> None:
    recipe = {"name": "t", "pair": {"composition": "multiply", "layers": 1, "dimension": 8}}
    saved = load_model(save_tiny_model(tmp_path / "model", config={"recipe": recipe}))
    assert whitened_weights(saved, 0) is saved
    with pytest.raises(UsageError, match="whitening needs an R with layers"):
        whitened_weights(saved, 0.5)
    with pytest.raises(UsageError, match="between 0 and 1"):
        whitened_weights(saved, 2)


WORDS = [word for sentence in [*A, *B] for word in sentence]


def test_words_are_spelled_as_the_tokeniser_spells_them() -> None:
    assert token_spellings(["Up", "up", "don't know", "", "<x>", "hot"]) == ["hot", "up"]


def test_a_subset_of_the_words_has_the_same_vectors(tmp_path: Path) -> None:
    saved = load_model(make_model(tmp_path))
    few = subset_vocabulary(saved, WORDS)
    assert len(SPECIAL_TOKENS) < len(few.vocabulary) < len(saved.vocabulary)
    found = []
    for source in (saved, few):
        layer = PairAttention(source, attention="renormalised").eval()
        a, b = layer.ids(A), layer.ids(B)
        found.append(layer(a, b, random_attention(a, b)))
    close(*found)


def test_a_subset_may_be_empty(tmp_path: Path) -> None:
    few = subset_vocabulary(load_model(make_model(tmp_path)), ["unheard"])
    layer = PairAttention(few).eval()
    a = layer.ids([["unheard", "hot"]])
    assert not a.any()
    assert not layer(a, a, random_attention(a, a)).any()

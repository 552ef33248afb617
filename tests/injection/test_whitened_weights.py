"""R evened out for injection is R as it is compared."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.tiny_model import save_tiny_model

from pair2vec.arrays import normalise
from pair2vec.errors import UsageError
from pair2vec.injection.frozen_pair import whitened_weights
from pair2vec.injection.pair_attention import PairAttention
from pair2vec.model.folder import SavedModel, load_model
from pair2vec.query.pair_encoder import make_pair_vectors
from pair2vec.query.whitening import whiten


@pytest.fixture
def saved(tmp_path: Path) -> SavedModel:
    return load_model(save_tiny_model(tmp_path / "model"))


@pytest.mark.parametrize("whitening", [0.0, 0.5, 1.0])
def test_what_is_injected_is_what_is_compared(saved: SavedModel, whitening: float) -> None:
    layer = PairAttention(whitened_weights(saved, whitening), dropout=0)
    x, y = (torch.tensor([[saved.vocabulary.ids[word]]]) for word in ("hot", "cold"))
    (found,) = layer(x, y, torch.ones(1, 1, 1))[0].numpy()
    pairs = whiten(make_pair_vectors(saved), whitening)
    there, back = (
        pairs(a, b) for a, b in ((x[0].numpy(), y[0].numpy()), (y[0].numpy(), x[0].numpy()))
    )
    expected = np.concatenate([normalise(there), normalise(back)], axis=1)[0]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_evening_out_changes_the_vectors(saved: SavedModel) -> None:
    plain, changed = (
        whitened_weights(saved, whitening).array("pair.others.0.weight") for whitening in (0, 1)
    )
    assert not np.allclose(plain, changed)


def test_an_r_without_layers_cannot_be_evened_out(tmp_path: Path) -> None:
    recipe = {"name": "t", "pair": {"composition": "multiply", "layers": 1, "dimension": 8}}
    saved = load_model(save_tiny_model(tmp_path / "model", config={"recipe": recipe}))
    assert whitened_weights(saved, 0) is saved
    with pytest.raises(UsageError, match="whitening needs an R with layers"):
        whitened_weights(saved, 0.5)
    with pytest.raises(UsageError, match="between 0 and 1"):
        whitened_weights(saved, 2)

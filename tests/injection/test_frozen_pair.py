"""R derived from a model: whitened, or of a subset of its words."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.injection.small_layer import SIZE, A, B, close, make_model, random_attention
from tests.tiny_model import save_tiny_model

from pair2vec.arrays import normalise
from pair2vec.errors import UsageError
from pair2vec.injection.frozen_pair import subset_vocabulary, token_spellings, whitened_weights
from pair2vec.injection.pair_attention import PairAttention
from pair2vec.model.folder import SavedModel, load_model
from pair2vec.query.space import PairSpace, sampled_pairs
from pair2vec.text.vocabulary import SPECIAL_TOKENS


@pytest.fixture
def saved(tmp_path: Path) -> SavedModel:
    return load_model(save_tiny_model(tmp_path / "model"))


@pytest.mark.parametrize("whitening", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("composition", "layers"), [("mlp", 1), ("mlp", 3), ("multiply", 1)])
def test_whitened_weights_give_the_vectors_that_are_compared(
    tmp_path: Path, composition: str, layers: int, whitening: float
) -> None:
    saved = load_model(make_model(tmp_path, composition, layers))
    layer = PairAttention(whitened_weights(saved, whitening), dropout=0)
    x, y = (torch.tensor([[saved.vocabulary.ids[word]]]) for word in ("hot", "cold"))
    (found,) = layer(x, y, torch.ones(1, 1, 1))[0].numpy()
    pairs = PairSpace(saved, whitening=whitening).whitened_pairs
    there, back = (
        pairs(a, b) for a, b in ((x[0].numpy(), y[0].numpy()), (y[0].numpy(), x[0].numpy()))
    )
    expected = np.concatenate([normalise(there), normalise(back)], axis=1)[0]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_differences_are_whitened_before_they_are_normalised(tmp_path: Path) -> None:
    saved = load_model(make_model(tmp_path, "difference"))
    words = saved.array("pair.words")
    x, y = sampled_pairs(len(words))
    whitened = {
        power: whitened_weights(saved, power).array("pair.words") for power in (0.0, 0.5, 1.0)
    }
    covariances = {power: np.cov((w[x] - w[y]).T) for power, w in whitened.items()}
    np.testing.assert_allclose(covariances[1.0], np.eye(SIZE), atol=1e-3)
    variances = np.linalg.eigvalsh(covariances[0.0])
    np.testing.assert_allclose(np.linalg.eigvalsh(covariances[0.5]), variances**0.5, rtol=1e-3)
    assert whitened_weights(saved, 0) is saved
    # Still a difference, of the same length in both directions.
    layer = PairAttention(whitened_weights(saved, 0.5), dropout=0)
    hot, cold = (torch.tensor([[saved.vocabulary.ids[word]]]) for word in ("hot", "cold"))
    found = layer(hot, cold, torch.ones(1, 1, 1))[0, 0]
    difference = whitened[0.5][hot[0, 0]] - whitened[0.5][cold[0, 0]]
    unit = difference / np.linalg.norm(difference)
    np.testing.assert_allclose(found.numpy(), np.concatenate([unit, -unit]), atol=1e-5)


def test_whitening_changes_the_last_layer(saved: SavedModel) -> None:
    plain, changed = (
        whitened_weights(saved, whitening).array("pair.others.0.weight") for whitening in (0, 1)
    )
    assert not np.allclose(plain, changed)


@pytest.mark.parametrize("composition", ["mlp", "multiply", "difference"])
def test_a_whitening_out_of_range_is_refused(tmp_path: Path, composition: str) -> None:
    saved = load_model(make_model(tmp_path, composition))
    assert whitened_weights(saved, 0) is saved
    with pytest.raises(UsageError, match="between 0 and 1"):
        whitened_weights(saved, 2)


@pytest.mark.parametrize("composition", ["mlp", "multiply", "difference"])
def test_a_subset_is_whitened_as_the_whole_is(tmp_path: Path, composition: str) -> None:
    whole = whitened_weights(load_model(make_model(tmp_path, composition)), 0.5)
    found = []
    for source in (whole, subset_vocabulary(whole, WORDS)):
        layer = PairAttention(source).eval()
        a, b = layer.ids(A), layer.ids(B)
        found.append(layer(a, b, random_attention(a, b)))
    close(*found)


WORDS = [word for sentence in [*A, *B] for word in sentence]


def test_words_are_spelled_as_the_tokeniser_spells_them() -> None:
    spelled = token_spellings(["Up", "up", "New  York", "", "hot"])
    assert spelled == ["hot", "new york", "up"]


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

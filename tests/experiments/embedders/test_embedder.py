"""What all embedders share: inputs, padding, and the mix of layers."""

import pytest
import torch

from pair2vec.errors import UsageError
from pair2vec.experiments.embedders.embedder import (
    EmbedderInputs,
    ScalarMix,
    WordVectorEmbedder,
    pad_rows,
)


def test_inputs_move_as_a_whole() -> None:
    inputs = EmbedderInputs({"a": torch.zeros(2), "b": torch.ones(3, dtype=torch.long)})
    moved = inputs.to("meta", non_blocking=True)
    assert [*moved.tensors] == ["a", "b"]
    assert all(tensor.is_meta for tensor in moved.tensors.values())
    assert moved["b"].dtype == torch.long
    assert not inputs["a"].is_meta


def test_a_string_is_not_a_sentence() -> None:
    embedder = WordVectorEmbedder({"dog": 0}, torch.ones(1, 2))
    with pytest.raises(UsageError, match="'a dog' is a string; give a list of its words"):
        embedder.prepare([["dog"], "a dog"])


def test_short_rows_are_padded() -> None:
    assert pad_rows([[1, 2], [], [3]], 9).tolist() == [[1, 2], [9, 9], [3, 9]]
    assert pad_rows([]).shape == (0, 0)
    assert pad_rows([[], []]).dtype == torch.long


def test_a_mix_begins_as_the_mean_of_the_layers() -> None:
    layers = torch.randn(3, 2, 4, 5)
    torch.testing.assert_close(ScalarMix(3)(layers), layers.mean(0))


def test_a_mix_weighs_its_layers() -> None:
    mix = ScalarMix(2)
    with torch.no_grad():
        mix.weights.copy_(torch.tensor([0.0, 1.0]).log_().clamp(min=-100))
        mix.gamma.fill_(3.0)
    layers = torch.randn(2, 4)
    torch.testing.assert_close(mix(layers), 3 * layers[1])

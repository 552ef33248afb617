"""ELMo: the published files, and the same vectors as a plain computation gives."""

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tests.experiments.embedders.plain_elmo import plain_elmo
from tests.experiments.embedders.small_elmo import SIZE, small_options, small_weights, write_elmo

from pair2vec.experiments.embedders import elmo as elmo_module
from pair2vec.experiments.embedders.elmo import Elmo

SENTENCES = [
    ["The", "dog", "sleeps", ",", "the", "dog", "!"],
    ["Été"],
    ["incomprehensibilities", "東京に行った人", "🙂", ""],
    [],
    ["a" * 9, "b" * 10, "c" * 11, "é" * 5 + "x", "lone\ud800"],
]
"""Of several lengths, with repeated, foreign, truncated and unprintable words."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_elmo(tmp_path / "elmo", small_options(), small_weights())


def vectors_of(elmo: Elmo, sentences: list[list[str]]) -> NDArray[np.floating]:
    vectors: NDArray[np.floating] = elmo(elmo.prepare(sentences)).detach().numpy()
    return vectors


def without_lone_halves(sentence: list[str]) -> list[str]:
    return [word.encode("utf-8", "ignore").decode() for word in sentence]


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("skip", [True, False])
def test_vectors_are_those_of_a_plain_computation(
    activation: str, skip: bool, tmp_path: Path
) -> None:
    options, weights = small_options(activation=activation, skip=skip), small_weights()
    elmo = Elmo.open(write_elmo(tmp_path / "elmo", options, weights))
    with torch.no_grad():
        elmo.mix.weights.copy_(torch.tensor([0.3, -0.4, 1.1]))
        elmo.mix.gamma.fill_(1.7)
    shares = np.exp([0.3, -0.4, 1.1]) / np.exp([0.3, -0.4, 1.1]).sum()
    vectors = vectors_of(elmo, SENTENCES)
    assert vectors.shape == (len(SENTENCES), 7, elmo.dimension) == (5, 7, 2 * SIZE)
    for row, sentence in zip(vectors, SENTENCES, strict=True):
        layers = plain_elmo(without_lone_halves(sentence), options, weights)
        expected = 1.7 * np.einsum("k,knd->nd", shares, layers)
        np.testing.assert_allclose(row[: len(sentence)], expected, atol=1e-5)
        assert not row[len(sentence) :].any()


def test_the_clips_of_the_example_matter() -> None:
    options, weights = small_options(), small_weights()
    clipped = plain_elmo(SENTENCES[0], options, weights)
    for clip in ("cell_clip", "proj_clip"):
        loose = {**options, "lstm": {**options["lstm"], clip: 100}}
        assert not np.allclose(plain_elmo(SENTENCES[0], loose, weights), clipped, atol=1e-2)


def test_a_sentence_is_embedded_the_same_in_any_batch(folder: Path) -> None:
    # In float64: how float32 rounds depends on the machine and on the shapes.
    elmo = Elmo.open(folder).double()
    alone = vectors_of(elmo, SENTENCES[2:3])
    beside = vectors_of(elmo, SENTENCES[::-1])
    assert alone.dtype == np.float64
    np.testing.assert_allclose(beside[2, :4], alone[0], atol=1e-12)


def test_computing_in_chunks_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elmo = Elmo.open(folder).double()
    at_once = vectors_of(elmo, SENTENCES)
    monkeypatch.setattr(elmo_module, "_WORDS_PER_GEMM", 2 * len(SENTENCES))
    monkeypatch.setattr(elmo_module, "_WORDS_PER_CHUNK", 3)
    np.testing.assert_allclose(vectors_of(elmo, SENTENCES), at_once, atol=1e-12)


def test_short_words_take_few_characters(folder: Path) -> None:
    inputs = Elmo.open(folder).prepare([["a", "b", "a"]])
    assert inputs["characters"].tolist() == [
        [258, 256, 259, *[260] * 5],
        [258, 257, 259, *[260] * 5],
        [258, ord("a"), 259, *[260] * 5],
        [258, ord("b"), 259, *[260] * 5],
    ]


def test_precomputed_layers_and_more_padding_change_nothing(folder: Path) -> None:
    elmo = Elmo.open(folder)
    expected, width = elmo(elmo.prepare(SENTENCES)), 3 + max(map(len, SENTENCES))
    computed = elmo.precompute(elmo.prepare(SENTENCES, width))
    assert elmo.precompute(computed) is computed
    assert not computed["layers"].requires_grad
    vectors = elmo(computed)
    assert vectors.shape == (len(SENTENCES), width, expected.shape[2])
    torch.testing.assert_close(vectors[:, : expected.shape[1]], expected)
    assert not vectors[:, expected.shape[1] :].any()


def test_only_the_mix_is_trained_and_saved(folder: Path) -> None:
    elmo = Elmo.open(folder)
    elmo(elmo.prepare(SENTENCES)).square().sum().backward()
    assert [*dict(elmo.named_parameters())] == [*elmo.state_dict()] == ["mix.weights", "mix.gamma"]
    for parameter in elmo.parameters():
        assert parameter.grad is not None
        assert parameter.grad.abs().min() > 0


def test_there_may_be_no_sentences_or_no_words(folder: Path) -> None:
    elmo = Elmo.open(folder)
    assert vectors_of(elmo, []).shape == (0, 0, 2 * SIZE)
    assert vectors_of(elmo, [[], []]).shape == (2, 0, 2 * SIZE)


def test_weights_stay_as_they_are_under_autocast(folder: Path) -> None:
    elmo = Elmo.open(folder)
    inputs = elmo.prepare(SENTENCES)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = elmo(inputs).float()
    # Only the mix is rounded, once.
    torch.testing.assert_close(rounded, elmo(inputs), rtol=0.01, atol=0.01)


def test_files_may_keep_the_names_they_were_published_with(folder: Path) -> None:
    before = vectors_of(Elmo.open(folder), SENTENCES)
    name = "elmo_2x4096_512_2048cnn_2xhighway"
    (folder / "options.json").rename(folder / f"{name}_options.json")
    (folder / "weights.hdf5").rename(folder / f"{name}_weights.hdf5")
    np.testing.assert_array_equal(vectors_of(Elmo.open(folder), SENTENCES), before)

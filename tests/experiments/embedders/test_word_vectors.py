"""Word vectors as an embedder."""

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from pair2vec.errors import InputError
from pair2vec.experiments.embedders.embedder import WordVectorEmbedder
from pair2vec.word_vectors.formats import write_vec

WORDS = ["the", "Paris", "paris", "cat", "Été", "<s>", "zeroes"]
VECTORS = np.random.default_rng(0).normal(size=(7, 4)).astype(np.float32)
VECTORS[6] = 0


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_vec(tmp_path / "vectors.vec", WORDS, VECTORS)
    return tmp_path / "vectors.vec"


def rows(embedder: WordVectorEmbedder, *words: str) -> NDArray[np.float32]:
    vectors: NDArray[np.float32] = embedder(embedder.prepare([words]))[0].detach().numpy()
    return vectors


def test_words_have_the_vectors_of_the_file_and_padding_has_zeros(file: Path) -> None:
    embedder = WordVectorEmbedder.open(file, ["the", "cat", "paris", "the"])
    vectors = embedder(embedder.prepare([["the"], ["cat", "the", "paris"], []])).detach().numpy()
    assert vectors.shape == (3, 3, embedder.dimension) == (3, 3, 4)
    np.testing.assert_array_equal(vectors[0, 0], VECTORS[0])
    np.testing.assert_array_equal(vectors[1], VECTORS[[3, 0, 2]])
    assert not vectors[0, 1:].any()
    assert not vectors[2].any()


def test_the_exact_spelling_comes_before_lower_case(file: Path) -> None:
    words = ["Paris", "CAT", "The", "été", "ÉTÉ", "E\u0301te\u0301"]
    vectors = rows(WordVectorEmbedder.open(file, words), *words)
    np.testing.assert_array_equal(vectors, VECTORS[[1, 3, 0, 4, 4, 4]])


def test_a_vector_serves_its_spelling_and_lower_case(file: Path) -> None:
    for words in (["Été", "été"], ["été", "Été"], ["été"], ["Été"]):
        embedder = WordVectorEmbedder.open(file, words)
        np.testing.assert_array_equal(rows(embedder, "été", "Été", "ÉTÉ"), VECTORS[[4, 4, 4]])


def test_a_word_outside_the_list_has_the_vector_of_its_lower_case(file: Path) -> None:
    embedder = WordVectorEmbedder.open(file, ["cat", "Paris"])
    np.testing.assert_array_equal(rows(embedder, "Cat", "PARIS"), VECTORS[[3, 2]])


def test_words_without_a_vector_share_a_small_trained_one(file: Path) -> None:
    embedder = WordVectorEmbedder.open(file, ["the", "cat", "Paris", "zeroes", "<s>", "dodo"])
    vectors = rows(embedder, "dodo", "never requested", "zeroes", "<s>", "")
    assert (vectors == embedder.unknown.detach().numpy()).all()
    norms = np.linalg.norm(VECTORS[:4], axis=1)
    assert 0 < np.linalg.norm(vectors[0]) < norms.min()
    embedder(embedder.prepare([["the", "dodo"], ["dodo"]])).sum().backward()
    assert embedder.unknown.grad is not None
    assert embedder.unknown.grad.tolist() == [2.0] * 4


def test_the_trained_vector_is_drawn_from_torchs_generator(file: Path) -> None:
    drawn = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        drawn.append(WordVectorEmbedder.open(file, ["cat"]).unknown.tolist())
    assert drawn[0] == drawn[1] != drawn[2]


def test_only_the_trained_vector_is_saved(file: Path) -> None:
    embedder = WordVectorEmbedder.open(file, ["the", "cat"])
    assert [*dict(embedder.named_parameters())] == [*embedder.state_dict()] == ["unknown"]
    # Only the requested words are in memory.
    assert embedder.vectors.shape == (2 + 2, 4)
    assert repr(embedder) == "WordVectorEmbedder(words=2, dimension=4)"


def test_there_may_be_no_sentences_or_no_words(file: Path) -> None:
    embedder = WordVectorEmbedder.open(file, ["the"])
    assert embedder(embedder.prepare([])).shape == (0, 0, 4)
    assert not embedder(embedder.precompute(embedder.prepare([[]], 3))).any()
    assert embedder(embedder.prepare([["the"]], 3)).shape == (1, 3, 4)
    assert embedder(embedder.prepare([[], []])).shape == (2, 0, 4)


def test_a_file_with_none_of_the_words_is_an_error(file: Path) -> None:
    with pytest.raises(InputError, match="has none of the 1 words"):
        WordVectorEmbedder.open(file, ["dodo"])

"""What all tests of training share: the text of a small world."""

from pathlib import Path

import pytest
from tests.training.small_run import given_vectors

from pair2vec.experiments.miniworld.world import MiniWorld
from pair2vec.text.corpus import Corpus
from pair2vec.text.prepare import prepare
from pair2vec.word_vectors.formats import write_vec


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "text.txt").write_text(MiniWorld.create(0).text(3000))
    return prepare([str(folder / "text.txt")], folder / "corpus")


@pytest.fixture(scope="module")
def vectors(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of all words."""
    path = tmp_path_factory.mktemp("vectors") / "words.vec"
    words = corpus.vocabulary.words[4:]
    write_vec(path, words, given_vectors(corpus))
    return path

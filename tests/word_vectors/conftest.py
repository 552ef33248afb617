"""Fixtures for word vectors: a small corpus, a file to write, and how much is read at a time."""

from pathlib import Path

import pytest
from tests.word_vectors.two_topics import two_topics_text

from pair2vec.text import sources
from pair2vec.text.corpus import Corpus
from pair2vec.text.prepare import PrepareConfig, prepare
from pair2vec.text.vocabulary import IncludedWords
from pair2vec.word_vectors import fasttext_format


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("two_topics")
    (folder / "text.txt").write_text(two_topics_text(8000))
    return prepare([str(folder / "text.txt")], folder / "corpus")


@pytest.fixture(scope="module")
def corpus_with_unseen_word(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """With ``visitedly``, which never occurs but has the n-grams of a word that does."""
    folder = tmp_path_factory.mktemp("unseen")
    (folder / "text.txt").write_text(two_topics_text(2000))
    include = IncludedWords(words=frozenset({"visitedly"}), min_count=0)
    return prepare([str(folder / "text.txt")], folder / "corpus", PrepareConfig(include=include))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "vectors"


@pytest.fixture(params=[13, 1 << 20])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes read at a time: less than a row, or all of the file."""
    monkeypatch.setattr(sources, "BLOCK_BYTES", request.param)
    monkeypatch.setattr(fasttext_format, "_MATRIX_BLOCK", 10 * request.param)

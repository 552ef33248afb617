"""Where tests of files of vectors write, and how much is read at a time."""

from pathlib import Path

import pytest

from pair2vec.text import sources
from pair2vec.word_vectors import fasttext_format as fasttext_file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "vectors"


@pytest.fixture(params=[13, 1 << 20])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes read at a time: less than a row, or all of the file."""
    monkeypatch.setattr(sources, "BLOCK", request.param)
    monkeypatch.setattr(fasttext_file, "_MATRIX_BLOCK", 10 * request.param)

"""Text, relations, corpora and consoles that the tests of several commands share."""

import io
from pathlib import Path

import pytest
from rich.console import Console
from tests.command import pair2vec

from pair2vec.experiments.miniworld.world import MiniWorld

TEXT = "Hot is the opposite of cold. Paris is the capital of France.\n\nUp is not down.\n"

RELATIONS = """
[opposite]
definition = "y is the opposite of x"
symmetric = true
examples = ["hot cold", "up down", "cheap dear"]
patterns = ["neither X nor Y"]
[capital]
examples = ["france paris"]
patterns = ["Y of X"]
"""


def console(*, terminal: bool) -> tuple[Console, io.StringIO]:
    file = io.StringIO()
    return Console(file=file, force_terminal=terminal, width=150, color_system=None), file


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small corpus of the mini-world."""
    folder = tmp_path_factory.mktemp("world")
    (folder / "world.txt").write_text(MiniWorld.create().text(2000))
    assert pair2vec("prepare", folder / "world.txt", "--out", folder / "corpus").returncode == 0
    return folder / "corpus"

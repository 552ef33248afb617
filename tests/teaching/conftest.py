"""What all tests of teaching share: the text of a small world, with a few opposites in it."""

import pytest
from tests.teaching.world_inputs import WorldInputs, write_inputs

from pair2vec.experiments.miniworld.world import MiniWorld
from pair2vec.text.corpus import Corpus
from pair2vec.text.prepare import prepare

OPPOSITES = "Able is not unable . Happy is not unhappy ."


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "text.txt").write_text(f"{MiniWorld.create(0).text(2000)}\n\n{OPPOSITES}\n")
    return prepare([str(folder / "text.txt")], folder / "corpus")


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> WorldInputs:
    return write_inputs(tmp_path_factory.mktemp("inputs"))

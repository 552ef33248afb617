"""A small model, and a client of its server."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.tiny_model import save_tiny_model

from pair2vec.api import Pair2vec, load
from pair2vec.server.app import make_app
from pair2vec.server.endpoints import Resources

WORDS = """
    the of in , . or and either neither nor hot cold warm cool france paris japan tokyo
""".split()


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Pair2vec:
    folder: Path = tmp_path_factory.mktemp("models") / "tiny"
    return load(save_tiny_model(folder, WORDS))


@pytest.fixture
def client(model: Pair2vec) -> Iterator[TestClient]:
    with TestClient(make_app(Resources(model)), base_url="http://127.0.0.1") as made:
        yield made

"""A small model, a client of its server, and the server as a process."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
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
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny", WORDS)


@pytest.fixture(scope="session")
def model(folder: Path) -> Pair2vec:
    return load(folder)


@pytest.fixture
def client(model: Pair2vec) -> Iterator[TestClient]:
    with TestClient(make_app(Resources(model)), base_url="http://127.0.0.1") as made:
        yield made


@contextmanager
def served(
    folder: Path, *options: str, setup: str = ""
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server process that has said its address; `setup` is run in it first."""
    code = f"{setup}\nfrom pair2vec.cli.main import main\nmain()"
    command = [sys.executable, "-c", code, "serve", "--model", str(folder), "--port", "0"]
    with subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        line = process.stderr.readline()
        found = re.search(r"http://\S+", line)
        assert found, line
        try:
            yield process, found.group()
        finally:
            process.kill()

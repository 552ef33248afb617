"""Choosing an engine: Ray not installed, not reachable, or started by `prepare` itself."""

import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.command import assert_fails
from tests.command import pair2vec_process as pair2vec

from pair2vec.errors import Pair2vecError, UsageError
from pair2vec.text.prepare import open_engine, prepare

TEXT = "The cat sat on the mat. The dog sat on the cat.\n" * 500


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


def prepare_by_ray(text: Path) -> tuple[str | Path, ...]:
    return ("prepare", text, "--out", text.parent / "corpus", "--engine", "ray", "--workers", "2")


def test_without_ray_the_error_names_the_extra(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (text.parent / "ray.py").write_text("raise ImportError('no Ray here')")
    monkeypatch.setenv("PYTHONPATH", str(text.parent))
    assert_fails(pair2vec(*prepare_by_ray(text)), 1, "needs Ray: pip install 'pair2vec[ray]'")
    assert not (text.parent / "corpus").exists()


def test_an_unknown_engine_is_refused(text: Path) -> None:
    with pytest.raises(UsageError, match="engine is 'spark'; it must be local or ray"):
        open_engine("spark", 1)
    done = pair2vec("prepare", text, "--out", text.parent / "corpus", "--engine", "spark")
    assert_fails(done, 2, "engine is 'spark'")


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port at which something listens and never answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_cluster_that_does_not_answer_is_an_error_and_not_a_hang(
    silent_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray", reason="needs Ray: pip install 'pair2vec[ray]'")
    monkeypatch.setattr("pair2vec.text.ray_engine._HEALTH_CHECK_SECONDS", 3)
    monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{silent_port}")
    with (
        pytest.raises(Pair2vecError, match=rf"RAY_ADDRESS=127.0.0.1:{silent_port}: no Ray cluster"),
        open_engine("ray", 2),
    ):
        pass


def test_an_invalid_ray_address_is_an_error(text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="needs Ray: pip install 'pair2vec[ray]'")
    monkeypatch.setenv("RAY_ADDRESS", "nowhere")
    assert_fails(pair2vec(*prepare_by_ray(text)), 1, "RAY_ADDRESS=nowhere: ")


def test_without_an_address_a_cluster_is_started_and_stopped(
    text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray", reason="needs Ray: pip install 'pair2vec[ray]'")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    before = ray_processes()
    done = pair2vec(*prepare_by_ray(text))
    assert done.returncode == 0, done.stderr
    assert "INFO" not in done.stderr
    local = prepare([str(text)], text.parent / "local")
    for path in local.folder.iterdir():
        assert (text.parent / "corpus" / path.name).read_bytes() == path.read_bytes()
    deadline = time.monotonic() + 20
    while ray_processes() - before:
        assert time.monotonic() < deadline, "Ray was left running"
        time.sleep(0.1)


def ray_processes() -> set[int]:
    processes = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if b"raylet" in command and (folder / "stat").read_text().split()[2] != "Z":
            processes.add(int(folder.name))
    return processes - {os.getpid()}

"""The server as a process: it answers, and finishes requests in flight when it stops."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from tests.server.conftest import WORDS
from tests.tiny_model import save_tiny_model

SERVE = [sys.executable, "-m", "pair2vec", "serve"]


@contextmanager
def served(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [*SERVE, "--model", str(folder), "--port", "0"]
    with subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        line = process.stderr.readline()
        found = re.search(r"http://\S+", line)
        assert found, line
        try:
            yield process, found.group()
        finally:
            process.kill()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny", WORDS)


def test_it_answers_and_ends_at_a_signal_with_code_0(folder: Path) -> None:
    with served(folder) as (process, address):
        pair = {"x": "hot", "y": "cold"}
        assert httpx.get(f"{address}/api/nearest", params=pair).status_code == 200
        assert httpx.get(address).headers["content-type"].startswith("text/html")
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) in (0, -signal.SIGTERM)


def test_a_request_that_is_being_sent_at_the_signal_is_still_answered(folder: Path) -> None:
    body = b'{"x": "hot", "y": "cold"}'
    head = f"POST /api/nearest HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n"
    with served(folder) as (process, address):
        port = int(address.rsplit(":", 1)[1])
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            connection.sendall(head.encode() + body[:5])
            time.sleep(0.3)  # so that the server has begun with it
            process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            connection.sendall(body[5:])
            answer = connection.recv(65536)
        assert answer.startswith(b"HTTP/1.1 200")
        process.wait(timeout=20)


def test_an_address_in_use_is_one_line_and_code_2(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [*SERVE, "--model", str(folder), "--port", str(port)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        f"pair2vec: cannot listen at 127.0.0.1 port {port}: Address already in use\n"
    )


def test_a_host_that_is_not_there_is_one_line_and_code_2(folder: Path) -> None:
    done = subprocess.run(
        [*SERVE, "--model", str(folder), "--host", "no.such.host.invalid"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("pair2vec: cannot listen at no.such.host.invalid port 8017: ")
    assert done.stderr.count("\n") == 1


def test_without_its_packages_the_command_says_what_to_install(folder: Path) -> None:
    code = "import sys; sys.modules['uvicorn'] = None; from pair2vec.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "serve", "--model", str(folder)],
        capture_output=True, text=True, check=False, env=os.environ,
    )  # fmt: skip
    assert done.returncode == 2
    assert "pip install 'pair2vec[serve]'" in done.stderr
    assert "Traceback" not in done.stderr

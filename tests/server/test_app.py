"""The server as a process: it answers, and finishes requests in flight when it stops."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
from pytest import MonkeyPatch
from tests.server.conftest import served

SERVE = [sys.executable, "-m", "pair2vec", "serve"]


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


HELD = """
import pathlib, sys, time
from pair2vec.server import app
warm_up_model = app.warm_up_model
def held(resources):
    while not pathlib.Path({flag!r}).exists():
        time.sleep(0.01)
    {then}
app.warm_up_model = held
from pair2vec.cli.main import main
main()
"""
"""The command, with a model that takes until the file `flag` is there."""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


def get_when_listening(address: str) -> httpx.Response:
    while True:
        try:
            return httpx.get(address)
        except httpx.TransportError:
            time.sleep(0.02)


def test_it_is_ready_when_the_model_is_and_healthy_before(folder: Path, tmp_path: Path) -> None:
    port, flag = free_port(), tmp_path / "flag"
    code = HELD.format(flag=str(flag), then="warm_up_model(resources)")
    command = [sys.executable, "-c", code, "serve", "--model", str(folder), "--port", str(port)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            address = f"http://127.0.0.1:{port}"
            assert get_when_listening(f"{address}/health").json() == {"status": "ok"}
            pair = {"x": "hot", "y": "cold"}
            for early in (
                httpx.get(f"{address}/ready"),
                httpx.get(f"{address}/api/nearest", params=pair),
                httpx.get(f"{address}/api/model"),
                httpx.get(f"{address}/openapi.json"),
            ):
                assert early.status_code == 503
                assert early.headers["Retry-After"] == "1"
                assert "the model is being loaded" in early.json()["error"]
            flag.touch()
            assert process.stderr
            assert address in process.stderr.readline(), "it says its address when it is ready"
            assert httpx.get(f"{address}/ready").json() == {"status": "ok"}
            assert httpx.get(f"{address}/api/nearest", params=pair).status_code == 200
        finally:
            process.kill()


def test_a_model_that_cannot_be_loaded_ends_the_server_with_one_line(
    folder: Path, tmp_path: Path
) -> None:
    (flag := tmp_path / "flag").touch()
    then = "from pair2vec.errors import UsageError; raise UsageError('it is damaged')"
    code = HELD.format(flag=str(flag), then=then)
    command = [sys.executable, "-c", code, "serve", "--model", str(folder), "--port", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (2, "pair2vec: it is damaged\n")


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


def test_the_key_may_come_from_the_environment(folder: Path, monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setenv("PAIR2VEC_API_KEY", "secret")
    with served(folder, "--cors", "https://example.org", "--allow-host", "pairs.example") as (
        _,
        address,
    ):
        headers = {"Origin": "https://example.org", "Host": "pairs.example"}
        assert httpx.get(f"{address}/api/model", headers=headers).status_code == 401
        answer = httpx.get(f"{address}/api/model", headers={**headers, "X-API-Key": "secret"})
        assert answer.status_code == 200
        assert answer.headers["Access-Control-Allow-Origin"] == "https://example.org"


def test_an_option_that_cannot_be_is_one_line_and_code_2(folder: Path) -> None:
    done = subprocess.run(
        [*SERVE, "--model", str(folder), "--cors", "example.org"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == (
        "pair2vec: --cors is 'example.org'; it must be an origin such as https://example.org, "
        "or *\n"
    )

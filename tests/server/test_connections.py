"""Real sockets at a real server: no client can hold connections so that others get none."""

import contextlib
import http.client
import resource
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from tests.server.conftest import served

from pair2vec.server.access import HEADERS

HALF_A_HEAD = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
HALF_A_BODY = b"POST /api/score HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{"
QUESTION = {"x": "hot", "y": "cold", "pattern": "X or Y"}
IMPATIENT = """
from pair2vec.server.connections import BoundedConnection
BoundedConnection.client_seconds = 0.5
"""
PATIENCE = 30.0


@contextmanager
def connected(address: str) -> Iterator[socket.socket]:
    url = urlsplit(address)
    assert url.hostname
    assert url.port
    with socket.create_connection((url.hostname, url.port), timeout=PATIENCE) as connection:
        yield connection


@pytest.fixture
def many_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
@pytest.mark.parametrize("half", [HALF_A_HEAD, HALF_A_BODY, b""], ids=["head", "body", "nothing"])
def test_hundreds_of_half_sent_requests_shut_nobody_out(folder: Path, half: bytes) -> None:
    with served(folder) as (_, address), ExitStack() as open_connections:
        for _ in range(600):
            connection = open_connections.enter_context(connected(address))
            connection.sendall(half)
        for _ in range(5):  # each by a connection of its own
            assert httpx.get(f"{address}/health", timeout=PATIENCE).status_code == 200
            answer = httpx.get(f"{address}/api/score", params=QUESTION, timeout=PATIENCE)
            assert answer.status_code == 200


def is_closed(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


@pytest.mark.parametrize("half", [HALF_A_HEAD, HALF_A_BODY, b""], ids=["head", "body", "nothing"])
def test_a_new_connection_takes_the_place_of_the_one_that_waits_longest(
    folder: Path, half: bytes
) -> None:
    few = """
from pair2vec.server.connections import BoundedConnection
BoundedConnection.max_connections, BoundedConnection.client_seconds = 10, 600
"""
    options = ("--timeout", "600")
    with served(folder, *options, setup=few) as (_, address), ExitStack() as open_connections:
        connections = []
        for _ in range(30):
            connections.append(open_connections.enter_context(connected(address)))
            connections[-1].sendall(half)
        assert httpx.get(f"{address}/health", timeout=PATIENCE).status_code == 200
        end = time.monotonic() + PATIENCE
        while sum(map(is_closed, connections)) < 21 and time.monotonic() < end:
            time.sleep(0.05)
        closed = [is_closed(connection) for connection in connections]
        assert sum(closed) == 21, "ten may be open, and one made room for the last"
        if half != HALF_A_BODY:  # of which all have waited equally long
            assert closed == [True] * 21 + [False] * 9


def test_a_half_sent_head_is_given_up_even_if_it_goes_on_byte_by_byte(folder: Path) -> None:
    with served(folder, setup=IMPATIENT) as (_, address), connected(address) as connection:
        connection.sendall(HALF_A_HEAD)
        connection.settimeout(0.05)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                connection.sendall(b"a")
                if connection.recv(1) == b"":
                    return
            except TimeoutError:
                continue
            except ConnectionError:
                return
        pytest.fail("it was held for ever")


def test_so_is_the_second_request_of_a_connection(folder: Path) -> None:
    with served(folder, setup=IMPATIENT) as (_, address), connected(address) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        connection.sendall(HALF_A_HEAD)
        with contextlib.suppress(ConnectionError):
            while connection.recv(4096):
                pass


def test_a_body_that_does_not_come_after_the_answer_is_given_up(folder: Path) -> None:
    with served(folder, setup=IMPATIENT) as (_, address), connected(address) as connection:
        connection.sendall(
            b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nhalf"
        )
        received = b""
        with contextlib.suppress(ConnectionError):
            while part := connection.recv(4096):
                received += part
        assert received.startswith(b"HTTP/1.1 200")


def test_a_response_that_is_not_read_is_given_up(folder: Path) -> None:
    # Far more than the buffers of both sides hold.
    large = """
from starlette.responses import Response
from pair2vec.server.handlers import Handlers
async def large(self, request):
    return Response(b"a" * 50_000_000)
Handlers.model_info = large
"""
    with served(folder, setup=IMPATIENT + large) as (_, address):
        with connected(address) as connection:
            connection.sendall(b"GET /api/model HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            time.sleep(2)
            read = 0
            with contextlib.suppress(ConnectionError):
                while part := connection.recv(1 << 20):
                    read += len(part)
            assert read < 50_000_000
        assert len(httpx.get(f"{address}/api/model", timeout=PATIENCE).content) == 50_000_000


def test_an_answer_that_takes_longer_than_clients_may_is_still_given(folder: Path) -> None:
    slow = """
import time
from pair2vec.api import Pair2vec
Pair2vec.score = lambda *_, **__: time.sleep(1.5) or 0.0
"""
    with served(folder, setup=IMPATIENT + slow) as (_, address):
        answer = httpx.get(f"{address}/api/score", params=QUESTION, timeout=PATIENCE)
        assert answer.json()["score"] == 0


def test_connections_are_kept_for_further_requests(folder: Path) -> None:
    with served(folder) as (_, address):
        connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE)
        connection.connect()
        first = connection.sock
        for method in ("GET", "HEAD") * 10:
            connection.request(method, "/health")
            response = connection.getresponse()
            assert response.status == 200
            assert bool(response.read()) is (method == "GET")
        assert connection.sock is first
        connection.close()


def test_what_is_no_http_is_refused_with_the_strict_headers(folder: Path) -> None:
    with served(folder) as (process, address), connected(address) as connection:
        connection.sendall(b"\x16\x03\x01 nonsense\r\n\r\n")
        response = http.client.HTTPResponse(connection)
        response.begin()
        assert response.status == 400
        assert b"Invalid HTTP request" in response.read()
        assert {name: response.headers[name] for name in HEADERS} == HEADERS
        process.kill()


def test_many_clients_at_a_time_are_answered(folder: Path) -> None:
    statuses: list[int] = []

    def ask(address: str) -> None:
        with httpx.Client(timeout=PATIENCE) as client:
            for _ in range(5):
                statuses.append(client.get(f"{address}/health").status_code)

    with served(folder) as (_, address):
        threads = [threading.Thread(target=ask, args=(address,)) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert statuses == [200] * 100

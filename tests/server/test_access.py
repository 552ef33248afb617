"""Who may ask: API keys, requests a minute, pages of other sites, host names."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from starlette.testclient import TestClient

from pair2vec.api import Pair2vec
from pair2vec.errors import UsageError
from pair2vec.server.access import HEADERS, RateLimiter, ServerConfig, client_of
from pair2vec.server.app import make_app
from pair2vec.server.endpoints import Resources

ORIGIN = "https://example.org"
WORDS = {"start": "h"}


@contextmanager
def client_of_server(model: Pair2vec, **config: Any) -> Iterator[TestClient]:
    app = make_app(Resources(model), ServerConfig(**config))
    with TestClient(app, base_url="http://127.0.0.1") as made:
        yield made


def test_with_a_key_only_those_who_have_it_are_answered(model: Pair2vec) -> None:
    with client_of_server(model, api_key="se:cret") as client:

        def status(path: str = "/api/words?start=h", **headers: str) -> int:
            return client.get(path, headers=headers).status_code

        assert status(**{"X-API-Key": "se:cret"}) == 200
        assert status(Authorization="Bearer se:cret") == 200
        assert status(Authorization="bearer  se:cret") == 200
        for wrong in ("se:cre", "se:crett", "", "SE:CRET"):
            assert status(**{"X-API-Key": wrong}) == 401
            assert status(Authorization=f"Bearer {wrong}") == 401
        assert status(Authorization="Basic se:cret") == 401
        assert client.get("/api/model", headers={b"X-API-Key": b"\xe9\xff"}).status_code == 401
        for path in ("/api/words?start=h", "/api/model", "/api/unheard", "/metrics"):
            assert status(path) == 401
        for path in ("/", "/docs", "/health", "/ready", "/openapi.json", "/static/api.js"):
            assert status(path) == 200
        refused = client.get("/api/model")
        assert refused.headers["WWW-Authenticate"] == "Bearer"
        assert refused.json() == {"error": "this server wants an API key, in the header X-API-Key"}
        assert {name: refused.headers[name] for name in HEADERS} == HEADERS
        document = client.get("/openapi.json").json()
        assert document["security"] == [{"ApiKey": []}, {"Bearer": []}]
        assert {*document["components"]["securitySchemes"]} == {"ApiKey", "Bearer"}


def test_a_client_has_a_minutes_requests_and_is_told_when_to_come_again(model: Pair2vec) -> None:
    with client_of_server(model, requests_per_minute=3) as client:
        responses = [client.get("/api/words", params=WORDS) for _ in range(4)]
        assert [response.status_code for response in responses] == [200, 200, 200, 429]
        assert 1 <= int(responses[3].headers["Retry-After"]) <= 20
        assert responses[3].json()["error"].startswith("more than 3 requests a minute; come again")
        assert client.get("/health").status_code == 200


def test_keys_cannot_be_tried_without_limit(model: Pair2vec) -> None:
    with client_of_server(model, api_key="secret", requests_per_minute=3) as client:
        tried = [client.get("/api/model", headers={"X-API-Key": str(n)}) for n in range(5)]
        assert [response.status_code for response in tried] == [401] * 3 + [429] * 2


def test_requests_come_due_one_by_one_and_clients_are_counted_apart() -> None:
    now = 0.0
    limiter = RateLimiter(6, clock=lambda: now)
    assert [limiter.seconds_to_wait("a") for _ in range(8)] == [0] * 6 + [10, 10]
    assert limiter.seconds_to_wait("b") == 0
    now = 9.0
    assert limiter.seconds_to_wait("a") == 1
    now = 10.0
    assert [limiter.seconds_to_wait("a") for _ in range(2)] == [0, 10]
    now = 1000.0
    assert [limiter.seconds_to_wait("a") for _ in range(7)] == [0] * 6 + [10]


def test_a_limiter_remembers_so_many_clients_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RateLimiter, "max_clients", 3)
    limiter = RateLimiter(1, clock=lambda: 0.0)
    for name in "abcd":
        assert limiter.seconds_to_wait(name) == 0
    assert limiter.seconds_to_wait("d") == 60
    assert limiter.seconds_to_wait("a") == 0, "forgotten"


@pytest.mark.parametrize(
    ("host", "client"),
    [
        ("10.1.2.3", "10.1.2.3"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"),
        ("::ffff:10.1.2.3", "::ffff:10.1.2.3"),
        ("testclient", "testclient"),
    ],
)
def test_a_client_is_an_address_or_a_network_of_ipv6(host: str, client: str) -> None:
    assert client_of({"client": (host, 1)}) == client
    assert client_of({"client": None}) == ""


def test_pages_of_a_named_origin_may_ask_and_no_others(model: Pair2vec) -> None:
    with client_of_server(model, cors=(ORIGIN,), api_key="secret") as client:
        preflight = client.options(
            "/api/words",
            headers={
                "Origin": ORIGIN,
                "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "X-API-Key, Content-Type",
            },
        )
        assert preflight.status_code == 200
        assert preflight.headers["Access-Control-Allow-Origin"] == ORIGIN
        answer = client.get(
            "/api/words", params=WORDS, headers={"Origin": ORIGIN, "X-API-Key": "secret"}
        )
        assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN
        refused = client.get("/api/words", params=WORDS, headers={"Origin": ORIGIN})
        assert refused.status_code == 401
        assert refused.headers["Access-Control-Allow-Origin"] == ORIGIN, "the page can read why"
        other = client.get("/api/words", params=WORDS, headers={"Origin": "https://evil.example"})
        assert "Access-Control-Allow-Origin" not in other.headers
    with client_of_server(model) as client:
        answer = client.get("/api/words", params=WORDS, headers={"Origin": ORIGIN})
        assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"cors": ("example.org",)}, "--cors is 'example.org'; it must be an origin such as https"),
        ({"cors": ("https://example.org/page",)}, "--cors is 'https://example.org/page'; it must"),
        ({"api_key": ""}, "--api-key must have one character or more"),
        ({"api_key": "a b"}, "--api-key must have"),
        ({"requests_per_minute": 0}, "--requests-per-minute is 0; it must be 1 or more"),
    ],
)
def test_an_impossible_config_is_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ServerConfig(**config)


def test_a_key_is_not_shown() -> None:
    assert "secret" not in repr(ServerConfig(api_key="secret"))

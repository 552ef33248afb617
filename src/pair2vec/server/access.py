"""Who may ask and how much: the limits of a server, its API key, and requests a minute."""

import hmac
import ipaddress
import json
import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pair2vec.errors import UsageError
from pair2vec.server.worker_pool import WorkerPoolConfig

HEADERS = {
    # Nothing but our own files; no script or style inside the page.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-cache",
}
"""Of every response."""

KEY_HEADER = "X-API-Key"
_GUARDED = ("/api/", "/metrics")
"""Paths that need the key and count for the limit; the page and what monitors probe do not."""

_ORIGIN = re.compile(r"https?://[^\s/?#@,*]+")
_KEY = re.compile(r"[!-~]+")
"""What a header can hold."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerConfig:
    """The limits of a server."""

    pool: WorkerPoolConfig = field(default_factory=WorkerPoolConfig)
    max_body_bytes: int = 65_536
    max_parameters: int = 64
    """In one address."""
    max_questions: int = 64
    """In one request."""
    max_cost: int = 5_000
    """Of all questions in one request, by `Endpoint.cost`."""
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]")
    """Host headers that are accepted: guards against DNS rebinding."""
    cors: tuple[str, ...] = ()
    """Origins whose pages may ask."""
    api_key: str | None = field(default=None, repr=False)
    requests_per_minute: int | None = None
    """Of one client."""

    def __post_init__(self) -> None:
        for origin in self.cors:
            if origin != "*" and not _ORIGIN.fullmatch(origin):
                raise UsageError(
                    f"--cors is {origin!r}; it must be an origin such as https://example.org, or *"
                )
        if self.api_key is not None and not _KEY.fullmatch(self.api_key):
            raise UsageError(
                "--api-key must have one character or more, ASCII without spaces: a header holds it"
            )
        if self.requests_per_minute is not None and self.requests_per_minute < 1:
            raise UsageError(
                f"--requests-per-minute is {self.requests_per_minute}; it must be 1 or more"
            )


def client_of(scope: Scope) -> str:
    """The address that a request comes from; of IPv6 the network, as a client has all of it."""
    host = scope["client"][0] if scope.get("client") else ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return str(host)
    if address.version == 4 or address.ipv4_mapped:
        return str(host)
    return str(ipaddress.ip_network((address, 64), strict=False))


def json_bytes(content: Mapping[str, object]) -> bytes:
    """With text as it is, not escaped; without NaN, which JSON does not have."""
    return json.dumps(content, ensure_ascii=False, allow_nan=False).encode()


def error_response(
    message: str,
    status: int,
    *,
    retry: int | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """An error as every path gives it; `retry` says after how many seconds to come again."""
    more = {} if retry is None else {"Retry-After": str(retry)}
    return Response(
        json_bytes({"error": message}), status, {**(headers or {}), **more}, "application/json"
    )


class RateLimiter:
    """A token bucket for each client: a minute's requests at once, then one as each comes due."""

    max_clients = 10_000
    """Of more, those that were seen last are remembered."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity, self._clock = per_minute, clock
        self._buckets: dict[str, tuple[float, float]] = {}
        """The tokens of a client and when they were counted; the one seen last is the last."""

    def seconds_to_wait(self, client: str) -> int:
        """0 where the client may ask now, which takes a token; or after how many seconds."""
        now = self._clock()
        tokens, since = self._buckets.pop(client, (float(self._capacity), now))
        tokens = min(self._capacity, tokens + (now - since) * self._capacity / 60)
        wait = 0 if tokens >= 1 else math.ceil((1 - tokens) * 60 / self._capacity)
        self._buckets[client] = (tokens if wait else tokens - 1, now)
        if len(self._buckets) > self.max_clients:
            del self._buckets[next(iter(self._buckets))]
        return wait


class AccessMiddleware:
    """Refuses requests without the API key, and those of a client beyond its limit."""

    def __init__(self, app: ASGIApp, config: ServerConfig) -> None:
        self._app = app
        self._key = config.api_key and config.api_key.encode()
        self._per_minute = config.requests_per_minute
        self._limiter = RateLimiter(self._per_minute) if self._per_minute else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        guarded = scope["type"] == "http" and scope["path"].startswith(_GUARDED)
        refusal = self._refusal(scope) if guarded else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        # The limit comes first, so that keys cannot be tried without one.
        if self._limiter and (wait := self._limiter.seconds_to_wait(client_of(scope))):
            message = f"more than {self._per_minute} requests a minute; come again in {wait} s"
            return error_response(message, 429, retry=wait)
        if self._key and not hmac.compare_digest(_given_key(scope), self._key):
            message = f"this server wants an API key, in the header {KEY_HEADER}"
            return error_response(message, 401, headers={"WWW-Authenticate": "Bearer"})
        return None


def _given_key(scope: Scope) -> bytes:
    headers = Headers(scope=scope)
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    key = headers.get(KEY_HEADER) or (token.strip() if scheme.lower() == "bearer" else "")
    return key.encode("latin-1")

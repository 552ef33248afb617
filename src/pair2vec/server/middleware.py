"""Middleware around every response: strict security headers, and metrics for Prometheus."""

import time
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

METRICS_CONTENT_TYPE = CONTENT_TYPE_LATEST

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

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
"""Seconds."""
_UNROUTED = "other"
"""The path label of unknown paths: clients can make up any number of them."""


class ServerMetrics:
    """The metrics of one server, in a registry of its own: several can live in a process.

    Args:
        in_flight: Returns how many requests are being answered or wait for a worker.
    """

    def __init__(self, in_flight: Callable[[], int]) -> None:
        self._registry = CollectorRegistry()
        self._answers = Counter(
            "pair2vec_answers",
            "Answers, by path and status",
            ["path", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "pair2vec_answer_seconds",
            "Time to an answer",
            ["path"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        gauge = Gauge(
            "pair2vec_questions_taken", "Being answered or waiting", registry=self._registry
        )
        gauge.set_function(in_flight)

    def observe(self, path: str, status: int, seconds: float) -> None:
        self._answers.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def exposition(self) -> bytes:
        """All metrics in Prometheus's text format."""
        return generate_latest(self._registry)


class ResponseMiddleware:
    """Adds `HEADERS` to each response and observes its status and time."""

    def __init__(self, app: ASGIApp, metrics: ServerMetrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = time.perf_counter(), 500

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        finally:
            route = scope.get("route")
            path = getattr(route, "path", None) or _UNROUTED
            self._metrics.observe(path, status, time.perf_counter() - start)

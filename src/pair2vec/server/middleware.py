"""What is counted of the server, for Prometheus."""

import time
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_TYPE = CONTENT_TYPE_LATEST

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class ServerMetrics:
    """Of one server: each has its own registry, so that several can live in a process."""

    def __init__(self, taken: Callable[[], int]) -> None:
        """`taken` says how many questions are at the desk."""
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
            buckets=_SECONDS,
            registry=self._registry,
        )
        at_desk = Gauge(
            "pair2vec_questions_taken", "Being answered or waiting", registry=self._registry
        )
        at_desk.set_function(taken)

    def note(self, path: str, status: int, seconds: float) -> None:
        """An answer was sent."""
        self._answers.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def text(self) -> bytes:
        """All of it."""
        return generate_latest(self._registry)


# == What surrounds every answer: strict headers, and a note of how long it took.


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

_UNKNOWN = "other"
"""For addresses that are not ours: anybody can make up as many as they like."""


class HeadersMiddleware:
    """Middleware around everything else."""

    def __init__(self, app: ASGIApp, measures: ServerMetrics) -> None:
        self._app, self._measures = app, measures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
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
            path = getattr(route, "path", None) or _UNKNOWN
            self._measures.note(path, status, time.perf_counter() - start)

"""The web application: routes, security headers, metrics, and the server process that runs it."""

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pair2vec.errors import UsageError
from pair2vec.server.endpoints import Resources
from pair2vec.server.handlers import Handlers, ServerConfig, json_response
from pair2vec.server.openapi import openapi_document
from pair2vec.server.worker_pool import WorkerPool

STATIC = Path(__file__).parent / "static"

_GRACE_SECONDS = 10
_KEEP_ALIVE_SECONDS = 5
_CONNECTIONS = 512

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


def make_app(resources: Resources, config: ServerConfig | None = None) -> Starlette:
    config = config or ServerConfig()
    pool = WorkerPool(config.pool)
    metrics = ServerMetrics(lambda: pool.in_flight)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(pool.close)

    return Starlette(
        routes=_routes(Handlers(resources, pool, config), metrics),
        middleware=[
            Middleware(ResponseMiddleware, metrics=metrics),
            Middleware(TrustedHostMiddleware, allowed_hosts=list(config.hosts)),
        ],
        lifespan=lifespan,
    )


def _routes(handlers: Handlers, server_metrics: ServerMetrics) -> list[BaseRoute]:
    document = openapi_document(handlers.endpoints, max_questions=handlers.config.max_questions)

    async def health(_: Request) -> Response:
        return json_response({"status": "ok"})

    async def metrics(_: Request) -> Response:
        return Response(server_metrics.exposition(), media_type=CONTENT_TYPE_LATEST)

    async def openapi(_: Request) -> Response:
        return json_response(document)

    async def page(_: Request) -> Response:
        return FileResponse(STATIC / "index.html")

    endpoints = [
        Route(f"/api/{endpoint.name}", handlers.handler(endpoint), methods=["GET", "POST"])
        for endpoint in handlers.endpoints
    ]
    return [
        Route("/", page),
        Route("/health", health),
        Route("/metrics", metrics),
        Route("/openapi.json", openapi),
        Route("/api/model", handlers.model_info),
        *endpoints,
        Mount("/static", StaticFiles(directory=STATIC)),
    ]


def run(
    resources: Resources, config: ServerConfig, host: str, port: int, say: Callable[[str], None]
) -> None:
    """Serve until a signal to stop; requests in flight are then finished.

    Raises:
        UsageError: the address is not available.
    """
    listening = listen(host, port)
    warm_up_model(resources)
    settings = uvicorn.Config(
        make_app(resources, config),
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    name, number = listening.getsockname()[:2]
    shown = f"[{name}]" if ":" in name else name
    say(f"{resources.model.saved.folder.name}: http://{shown}:{number} (stop with Ctrl-C)")
    asyncio.run(uvicorn.Server(settings).serve(sockets=[listening]))


def listen(host: str, port: int) -> socket.socket:
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        # `create_server` replaces the message where an address is in use.
        reason = (
            error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        )
        raise UsageError(f"cannot listen at {host} port {port}: {reason}") from error


def warm_up_model(resources: Resources) -> None:
    """Load everything that queries need before the first request."""
    model = resources.model
    first, second, third = model.vocabulary.words[-3:]
    model.analogy(first, second, third, search="shortlist")
    model.nearest(first, second)
    model.fill("X and Y", x=first, search="shortlist")
    if model.patterns:
        model.explain(first, second)
    if resources.has_relations:
        resources.relations.typed_neighbours(first)
        model.relate(first, second)
    if resources.index is not None:
        resources.evidence_scorer.for_pair(first, second)

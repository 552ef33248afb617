"""The web application: routes, security headers, metrics, and the server process that runs it."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

import uvicorn
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pair2vec.server.access import (
    HEADERS,
    KEY_HEADER,
    AccessMiddleware,
    ServerConfig,
    error_response,
    json_bytes,
)
from pair2vec.server.connections import BoundedConnection, address_of, listen
from pair2vec.server.endpoints import Resources, possible_endpoints
from pair2vec.server.handlers import Handlers, not_ready
from pair2vec.server.openapi import openapi_document
from pair2vec.server.worker_pool import WorkerPool

STATIC = Path(__file__).parent / "static"

_GRACE_SECONDS = 10
_POLL_SECONDS = 0.01
_KEEP_ALIVE_SECONDS = 5

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
    """Adds `HEADERS` to each response and observes its status and time.

    Args:
        paths: Those that are counted by their name.
    """

    def __init__(self, app: ASGIApp, metrics: ServerMetrics, paths: Collection[str]) -> None:
        self._app, self._metrics, self._paths = app, metrics, paths

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
            path = scope["path"] if scope["path"] in self._paths else _UNROUTED
            self._metrics.observe(path, status, time.perf_counter() - start)


def make_app(
    resources: Resources,
    config: ServerConfig | None = None,
    is_ready: Callable[[], bool] = lambda: True,
) -> Starlette:
    """The application; until `is_ready`, questions are answered with 503."""
    config = config or ServerConfig()
    pool = WorkerPool(config.pool)
    metrics = ServerMetrics(lambda: pool.in_flight)
    routes = _routes(resources, Handlers(resources, pool, config, is_ready), metrics, is_ready)
    paths = {route.path for route in routes if isinstance(route, Route)}
    cors = Middleware(
        CORSMiddleware,
        allow_origins=config.cors,
        allow_methods=("GET", "HEAD", "POST"),
        allow_headers=("Authorization", "Content-Type", KEY_HEADER),
        expose_headers=("Retry-After",),
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(pool.close)

    return Starlette(
        routes=routes,
        middleware=[
            Middleware(ResponseMiddleware, metrics=metrics, paths=paths),
            Middleware(TrustedHostMiddleware, allowed_hosts=list(config.hosts)),
            *([cors] if config.cors else []),
            Middleware(AccessMiddleware, config=config),
        ],
        exception_handlers={HTTPException: _refuse, Exception: _fail},
        lifespan=lifespan,
    )


async def _refuse(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return error_response(error.detail, error.status_code, headers=error.headers)


async def _fail(_: Request, __: Exception) -> Response:
    # Outside all middleware, so that it adds the headers itself; the error is logged by uvicorn.
    return error_response("the server failed; its log says why", 500, headers=HEADERS)


def _routes(
    resources: Resources,
    handlers: Handlers,
    server_metrics: ServerMetrics,
    is_ready: Callable[[], bool],
) -> list[BaseRoute]:
    @cache
    def document() -> bytes:
        return json_bytes(openapi_document(handlers.endpoints, handlers.config))

    async def health(_: Request) -> Response:
        return Response(b'{"status": "ok"}', media_type="application/json")

    async def ready(request: Request) -> Response:
        return await health(request) if is_ready() else not_ready()

    async def metrics(_: Request) -> Response:
        return Response(server_metrics.exposition(), media_type=CONTENT_TYPE_LATEST)

    async def openapi(_: Request) -> Response:
        return Response(document(), media_type="application/json") if is_ready() else not_ready()

    async def page(_: Request) -> Response:
        return FileResponse(STATIC / "index.html")

    async def docs(_: Request) -> Response:
        return FileResponse(STATIC / "docs.html")

    endpoints = [
        Route(f"/api/{endpoint.name}", handlers.handler(endpoint), methods=["GET", "POST"])
        for endpoint in possible_endpoints(resources)
    ]
    return [
        Route("/", page),
        Route("/docs", docs),
        Route("/health", health),
        Route("/ready", ready),
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

    The port is open at once. The address is said when the model is ready to be asked.

    Raises:
        UsageError: the address is not available.
    """
    listening = listen(host, port)
    asyncio.run(_serve(resources, config, listening, say))


async def _serve(
    resources: Resources, config: ServerConfig, listening: socket.socket, say: Callable[[str], None]
) -> None:
    ready = asyncio.Event()
    settings = uvicorn.Config(
        make_app(resources, config, ready.is_set),
        http=BoundedConnection,
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    server = uvicorn.Server(settings)

    async def warm_up() -> None:
        try:
            await asyncio.to_thread(warm_up_model, resources)
        except BaseException:
            # A server told to stop while it starts never ends its lifespan, and logs that.
            while not (server.started or server.should_exit):
                await asyncio.sleep(_POLL_SECONDS)
            server.should_exit = True
            raise
        ready.set()
        say(f"{resources.model.saved.folder.name}: {address_of(listening)} (stop with Ctrl-C)")

    warming = asyncio.create_task(warm_up())
    await server.serve(sockets=[listening])
    await warming


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

"""The web application: its routes, and the server process that runs it."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from pair2vec.errors import UsageError
from pair2vec.server.endpoints import Resources
from pair2vec.server.handlers import Handlers, ServerConfig, json_response
from pair2vec.server.middleware import METRICS_CONTENT_TYPE, ResponseMiddleware, ServerMetrics
from pair2vec.server.openapi import openapi_document
from pair2vec.server.worker_pool import WorkerPool

STATIC = Path(__file__).parent / "static"

_GRACE_SECONDS = 10
_KEEP_ALIVE_SECONDS = 5
_CONNECTIONS = 512


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
        return Response(server_metrics.exposition(), media_type=METRICS_CONTENT_TYPE)

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

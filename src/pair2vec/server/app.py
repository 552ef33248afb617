"""The application: addresses, and what is answered there."""

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
from pair2vec.server.handlers import Handlers, ServerConfig, as_json
from pair2vec.server.middleware import CONTENT_TYPE, HeadersMiddleware, ServerMetrics
from pair2vec.server.openapi import openapi_document
from pair2vec.server.worker_pool import WorkerPool

STATIC = Path(__file__).parent / "static"


def make_app(library: Resources, config: ServerConfig | None = None) -> Starlette:
    """An application that answers questions."""
    config = config or ServerConfig()
    desk = WorkerPool(config.desk)
    measures = ServerMetrics(lambda: desk.taken)
    reception = Handlers(library, desk, config)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(desk.close)

    return Starlette(
        routes=_routes(reception, measures),
        middleware=[
            Middleware(HeadersMiddleware, measures=measures),
            Middleware(TrustedHostMiddleware, allowed_hosts=list(config.hosts)),
        ],
        lifespan=lifespan,
    )


def _routes(reception: Handlers, measures: ServerMetrics) -> list[BaseRoute]:
    description = openapi_document(
        reception.questions, most_questions=reception.config.most_questions
    )

    async def health(_: Request) -> Response:
        return as_json({"status": "ok"})

    async def metrics(_: Request) -> Response:
        return Response(measures.text(), media_type=CONTENT_TYPE)

    async def openapi(_: Request) -> Response:
        return as_json(description)

    async def page(_: Request) -> Response:
        return FileResponse(STATIC / "index.html")

    questions = [
        Route(f"/api/{question.name}", reception.endpoint(question), methods=["GET", "POST"])
        for question in reception.questions
    ]
    return [
        Route("/", page),
        Route("/health", health),
        Route("/metrics", metrics),
        Route("/openapi.json", openapi),
        Route("/api/model", reception.facts),
        *questions,
        Mount("/static", StaticFiles(directory=STATIC)),
    ]


# == The server as a process: opened, warmed up, and stopped without cutting anybody off.


_GRACE_SECONDS = 10
_KEEP_ALIVE_SECONDS = 5
_CONNECTIONS = 512


def run(
    library: Resources, config: ServerConfig, host: str, port: int, say: Callable[[str], None]
) -> None:
    """Answer until a signal to stop; requests that are being answered then are finished.

    Raises:
        UsageError: the address cannot be listened at.
    """
    listening = listen(host, port)
    warm_up(library)
    settings = uvicorn.Config(
        make_app(library, config),
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    name, number = listening.getsockname()[:2]
    shown = f"[{name}]" if ":" in name else name
    say(f"{library.model.saved.folder.name}: http://{shown}:{number} (stop with Ctrl-C)")
    asyncio.run(uvicorn.Server(settings).serve(sockets=[listening]))


def listen(host: str, port: int) -> socket.socket:
    """A socket there."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        # Of an address that is taken, `create_server` makes a message of its own.
        reason = (
            error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        )
        raise UsageError(f"cannot listen at {host} port {port}: {reason}") from error


def warm_up(library: Resources) -> None:
    """Have everything in memory that questions need, before the first and not during it."""
    model = library.model
    first, second, third = model.vocabulary.words[-3:]
    model.analogy(first, second, third, search="shortlist")
    model.nearest(first, second)
    model.fill("X and Y", x=first, search="shortlist")
    if model.patterns:
        model.explain(first, second)
    if library.can_relate:
        library.relations.typed_neighbours(first)
    if library.index is not None:
        library.telling.of_pair(first, second)

"""The application: addresses, and what is answered there."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from pair2vec.server.desk import Desk
from pair2vec.server.measures import CONTENT_TYPE, Measures
from pair2vec.server.openapi import described
from pair2vec.server.questions import Library
from pair2vec.server.reception import Reception, ServerConfig, as_json
from pair2vec.server.surroundings import Surroundings

STATIC = Path(__file__).parent / "static"


def make_app(library: Library, config: ServerConfig | None = None) -> Starlette:
    """An application that answers questions."""
    config = config or ServerConfig()
    desk = Desk(config.desk)
    measures = Measures(lambda: desk.taken)
    reception = Reception(library, desk, config)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(desk.close)

    return Starlette(
        routes=_routes(reception, measures),
        middleware=[
            Middleware(Surroundings, measures=measures),
            Middleware(TrustedHostMiddleware, allowed_hosts=list(config.hosts)),
        ],
        lifespan=lifespan,
    )


def _routes(reception: Reception, measures: Measures) -> list[BaseRoute]:
    description = described(reception.questions, most_questions=reception.config.most_questions)

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

"""Request handlers: read the parameters, run the endpoint in the worker pool, respond with JSON.

A POST body may hold a list ``questions``: each is answered, or has an error of its own.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from pair2vec.errors import Pair2vecError, UsageError
from pair2vec.server.endpoints import Endpoint, Resources, available_endpoints
from pair2vec.server.parameters import parse_parameters
from pair2vec.server.worker_pool import PoolFullError, TooSlowError, WorkerPool, WorkerPoolConfig
from pair2vec.text.vocabulary import UnknownWordError

_RETRY_SECONDS = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerConfig:
    """The limits of a server."""

    pool: WorkerPoolConfig = field(default_factory=WorkerPoolConfig)
    max_body_bytes: int = 65_536
    max_questions: int = 64
    """In one request."""
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]")
    """Host headers that are accepted: guards against DNS rebinding."""


class BodyTooLargeError(UsageError):
    """More bytes than a request may have."""


class Handlers:
    def __init__(self, resources: Resources, pool: WorkerPool, config: ServerConfig) -> None:
        self.config = config
        self.endpoints = available_endpoints(resources)
        self._resources, self._pool = resources, pool

    def handler(self, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            try:
                values = await self._read(request)
                return json_response(await self._pool.run(lambda: self._answer(endpoint, values)))
            except PoolFullError:
                message = "too many questions at a time; come again in a moment"
                return json_response({"error": message}, 503, {"Retry-After": str(_RETRY_SECONDS)})
            except TooSlowError:
                return json_response({"error": "it took too long; ask for less"}, 504)
            except Pair2vecError as error:
                return json_response(error_content(error), error_status(error))

        return respond

    async def model_info(self, _: Request) -> Response:
        model = self._resources.model
        facts = {**model.info(), "model": model.saved.folder.name}
        names = [endpoint.name for endpoint in self.endpoints]
        return json_response({"facts": facts, "questions": names})

    async def _read(self, request: Request) -> dict[str, Any]:
        """The parameters of a request, not yet parsed."""
        if request.method == "GET":
            query = request.query_params
            values = {name: query.getlist(name) for name in query}
            return {name: many[0] if len(many) == 1 else many for name, many in values.items()}
        body = await self._body(request)
        try:
            content = json.loads(body)
        except ValueError as error:
            raise UsageError(f"the body is not JSON: {error}") from error
        if not isinstance(content, dict):
            raise UsageError("the body is not a JSON object")
        return content

    async def _body(self, request: Request) -> bytes:
        """The body, within the limits of size and time."""
        body, limit = b"", self.config.max_body_bytes
        try:
            async with asyncio.timeout(self.config.pool.timeout):
                async for part in request.stream():
                    body += part
                    if len(body) > limit:
                        raise BodyTooLargeError(f"the body has more than {limit:,} bytes")
        except TimeoutError as error:
            raise TooSlowError from error
        except ClientDisconnect as error:
            raise UsageError("the body ended early") from error
        return body

    def _answer(self, endpoint: Endpoint, values: Mapping[str, Any]) -> dict[str, object]:
        """The answer to one question, or to each of ``questions``."""
        if "questions" not in values:
            return self._answer_one(endpoint, values)
        questions, limit = values["questions"], self.config.max_questions
        if len(values) > 1 or not isinstance(questions, list):
            raise UsageError("questions must be a list, and the only parameter")
        if len(questions) > limit:
            raise UsageError(f"{len(questions)} questions are too many at a time; at most {limit}")
        return {"answers": [self._answer_or_error(endpoint, question) for question in questions]}

    def _answer_one(self, endpoint: Endpoint, values: Mapping[str, object]) -> dict[str, object]:
        parameters = parse_parameters(endpoint.parameters, values)
        query = {name: value for name, value in parameters.items() if value is not None}
        return {
            "query": {"command": endpoint.name, **query},
            **endpoint.answer(self._resources, parameters),
        }

    def _answer_or_error(self, endpoint: Endpoint, question: object) -> dict[str, object]:
        try:
            if not isinstance(question, dict):
                raise UsageError("a question must be a JSON object")
            return self._answer_one(endpoint, question)
        except Pair2vecError as error:
            return error_content(error)


def error_content(error: Pair2vecError) -> dict[str, object]:
    content: dict[str, object] = {"error": str(error)}
    if isinstance(error, UnknownWordError):
        content |= {"word": error.word, "alike": error.suggestions}
    return content


def error_status(error: Pair2vecError) -> int:
    if isinstance(error, UnknownWordError):
        return 404
    return 413 if isinstance(error, BodyTooLargeError) else 400


def json_response(
    content: Mapping[str, object], status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """With text as it is, not escaped; without NaN, which JSON does not have."""
    body = json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
    return Response(body, status, headers, media_type="application/json")

"""Where questions come in: read, given to the desk, and sent back answered."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from pair2vec.errors import Pair2vecError, UsageError
from pair2vec.server.endpoints import Endpoint, Resources, bind_endpoints
from pair2vec.server.parameters import read_all
from pair2vec.server.worker_pool import PoolFullError, TooSlowError, WorkerPool, WorkerPoolConfig
from pair2vec.text.vocabulary import UnknownWordError

_RETRY_SECONDS = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerConfig:
    """What the server lets itself in for."""

    desk: WorkerPoolConfig = field(default_factory=WorkerPoolConfig)
    most_bytes: int = 65_536
    """Of a question."""
    most_questions: int = 64
    """In one request."""
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]")
    """Names that it answers to: a page of another site that has its name point here is refused."""


class TooLongError(UsageError):
    """More bytes than a question may have."""


class Handlers:
    """Of one library."""

    def __init__(self, library: Resources, desk: WorkerPool, config: ServerConfig) -> None:
        self.config = config
        self.questions = bind_endpoints(library)
        self._library, self._desk = library, desk

    def endpoint(self, question: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        """What answers questions of a kind, in an address or as JSON."""

        async def answer(request: Request) -> Response:
            try:
                asked = await self._read(request)
                return as_json(await self._desk.answer(lambda: self._answer_all(question, asked)))
            except PoolFullError:
                message = "too many questions at a time; come again in a moment"
                return as_json({"error": message}, 503, {"Retry-After": str(_RETRY_SECONDS)})
            except TooSlowError:
                return as_json({"error": "it took too long; ask for less"}, 504)
            except Pair2vecError as error:
                return as_json(failure(error), status_of(error))

        return answer

    async def facts(self, _: Request) -> Response:
        """What is known of the model, and what can be asked."""
        model = self._library.model
        facts = {**model.info(), "model": model.saved.folder.name}
        names = [question.name for question in self.questions]
        return as_json({"facts": facts, "questions": names})

    async def _read(self, request: Request) -> dict[str, Any]:
        """What is asked, as it came."""
        if request.method == "GET":
            query = request.query_params
            given = {name: query.getlist(name) for name in query}
            return {name: many[0] if len(many) == 1 else many for name, many in given.items()}
        body = await self._body(request)
        try:
            found = json.loads(body)
        except ValueError as error:
            raise UsageError(f"the body is not JSON: {error}") from error
        if not isinstance(found, dict):
            raise UsageError("the body is not a JSON object")
        return found

    async def _body(self, request: Request) -> bytes:
        """As long as it may be, and in the time it may take."""
        body = b""
        try:
            async with asyncio.timeout(self.config.desk.seconds):
                async for part in request.stream():
                    body += part
                    if len(body) > self.config.most_bytes:
                        most = self.config.most_bytes
                        raise TooLongError(f"the body has more than {most:,} bytes")
        except TimeoutError as error:
            raise TooSlowError from error
        except ClientDisconnect as error:
            raise UsageError("the body ended early") from error
        return body

    def _answer_all(self, question: Endpoint, asked: Mapping[str, Any]) -> dict[str, object]:
        """One question, or each of ``questions``."""
        if "questions" not in asked:
            return self._answer(question, asked)
        many = asked["questions"]
        if len(asked) > 1 or not isinstance(many, list):
            raise UsageError("questions must be a list, and stand alone")
        if len(many) > self.config.most_questions:
            most = self.config.most_questions
            raise UsageError(f"{len(many)} questions are too many at a time; at most {most}")
        return {"answers": [self._answer_or_error(question, one) for one in many]}

    def _answer(self, question: Endpoint, given: Mapping[str, object]) -> dict[str, object]:
        asked = read_all(question.parameters, given)
        said = {name: value for name, value in asked.items() if value is not None}
        return {
            "query": {"command": question.name, **said},
            **question.answer(self._library, asked),
        }

    def _answer_or_error(self, question: Endpoint, given: object) -> dict[str, object]:
        try:
            if not isinstance(given, dict):
                raise UsageError("a question must be a JSON object")
            return self._answer(question, given)
        except Pair2vecError as error:
            return failure(error)


def failure(error: Pair2vecError) -> dict[str, object]:
    """An error as it is sent."""
    known = (
        {"word": error.word, "alike": error.alike} if isinstance(error, UnknownWordError) else {}
    )
    return {"error": str(error), **known}


def status_of(error: Pair2vecError) -> int:
    """As HTTP tells errors apart."""
    if isinstance(error, UnknownWordError):
        return 404
    return 413 if isinstance(error, TooLongError) else 400


def as_json(
    content: Mapping[str, object], status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Text as it is, not escaped; no NaN, which JSON does not have."""
    body = json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
    return Response(body, status, headers, media_type="application/json")

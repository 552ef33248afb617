"""Request handlers: read the parameters, run the endpoint in the worker pool, respond with JSON.

A POST body may hold a list ``questions``: each is answered, or has an error of its own.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from pair2vec.errors import Pair2vecError, UsageError
from pair2vec.server.access import ServerConfig, client_of, error_response, json_bytes
from pair2vec.server.endpoints import Endpoint, Resources, Values, available_endpoints
from pair2vec.server.parameters import parse_parameters
from pair2vec.server.worker_pool import PoolFullError, TooSlowError, WorkerPool
from pair2vec.text.vocabulary import UnknownWordError

_RETRY_SECONDS = 1
_CLIENT_GONE = 499
"""A status that nobody receives, for the metrics."""
_JSON = "application/json"


class TooLargeError(UsageError):
    """More bytes, parameters or costly questions than a request may have."""


class NotOfferedError(UsageError):
    """An endpoint that needs what the model does not have."""


class Handlers:
    """The handlers of one server.

    Args:
        is_ready: Whether questions can be answered yet.
    """

    def __init__(
        self,
        resources: Resources,
        pool: WorkerPool,
        config: ServerConfig,
        is_ready: Callable[[], bool] = lambda: True,
    ) -> None:
        self.config = config
        self._resources, self._pool, self._is_ready = resources, pool, is_ready

    @cached_property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """Those that can be asked; only known once the model is ready."""
        return available_endpoints(self._resources)

    def handler(self, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            if not self._is_ready():
                return not_ready()
            try:
                if endpoint not in self.endpoints:
                    raise NotOfferedError(f"this model cannot answer '{endpoint.name}'")
                values = await self._read(request)
                return Response(await self._answer(endpoint, values, request), media_type=_JSON)
            except PoolFullError:
                message = "too many questions at a time; come again in a moment"
                return error_response(message, 503, retry=_RETRY_SECONDS)
            except TooSlowError:
                return error_response("it took too long; ask for less", 504)
            except ClientDisconnect:
                return Response(status_code=_CLIENT_GONE)
            except Pair2vecError as error:
                return Response(
                    json_bytes(error_content(error)), error_status(error), media_type=_JSON
                )

        return respond

    async def model_info(self, _: Request) -> Response:
        if not self._is_ready():
            return not_ready()
        model = self._resources.model
        facts = {**model.info(), "model": model.saved.folder.name}
        names = [endpoint.name for endpoint in self.endpoints]
        return Response(json_bytes({"facts": facts, "questions": names}), media_type=_JSON)

    async def _read(self, request: Request) -> dict[str, Any]:
        """The parameters of a request, not yet parsed."""
        if request.method in ("GET", "HEAD"):
            return self._read_query(request)
        body = await self._body(request)
        try:
            content = json.loads(body)
        except ValueError as error:
            raise UsageError(f"the body is not JSON: {error}") from error
        except RecursionError as error:
            raise UsageError("the body is nested too deeply") from error
        if not isinstance(content, dict):
            raise UsageError("the body is not a JSON object")
        return content

    def _read_query(self, request: Request) -> dict[str, Any]:
        # Counted before anything is parsed: a long address can hold thousands.
        count, limit = request.scope["query_string"].count(b"&") + 1, self.config.max_parameters
        if count > limit:
            raise TooLargeError(f"the address has {count:,} parameters; it may have {limit}")
        values: dict[str, list[str]] = {}
        for name, value in request.query_params.multi_items():
            values.setdefault(name, []).append(value)
        return {name: many[0] if len(many) == 1 else many for name, many in values.items()}

    async def _body(self, request: Request) -> bytes:
        """The body, within the limits of size and time."""
        body, limit = bytearray(), self.config.max_body_bytes
        try:
            async with asyncio.timeout(self.config.pool.timeout):
                async for part in request.stream():
                    body += part
                    if len(body) > limit:
                        raise TooLargeError(f"the body has more than {limit:,} bytes")
        except TimeoutError as error:
            raise TooSlowError from error
        return bytes(body)

    async def _answer(
        self, endpoint: Endpoint, values: Mapping[str, Any], request: Request
    ) -> bytes:
        """The answer to one question, or to each of ``questions``."""
        if "questions" not in values:
            parameters = parse_parameters(endpoint.parameters, values)
            self._check_cost(endpoint, [parameters])
            (answer,) = await self._run([partial(self._compute, endpoint, parameters)], request)
            return answer
        questions, limit = values["questions"], self.config.max_questions
        if len(values) > 1 or not isinstance(questions, list):
            raise UsageError("questions must be a list, and the only parameter")
        if len(questions) > limit:
            raise UsageError(f"{len(questions)} questions are too many at a time; at most {limit}")
        parsed = [_parse_or_error(endpoint, question) for question in questions]
        self._check_cost(endpoint, [each for each in parsed if not isinstance(each, Pair2vecError)])
        tasks = [partial(self._compute_or_error, endpoint, each) for each in parsed]
        return b'{"answers": [' + b", ".join(await self._run(tasks, request)) + b"]}"

    def _check_cost(self, endpoint: Endpoint, questions: Sequence[Values]) -> None:
        """Refuse questions that would keep the workers from everybody else for long."""
        cost, limit = sum(map(endpoint.cost, questions)), self.config.max_cost
        if cost <= limit:
            return
        if len(questions) == 1:
            raise TooLargeError(f"the question costs {cost:,}; a request may cost {limit:,}")
        raise TooLargeError(
            f"the {len(questions)} questions cost {cost:,}, about {cost // len(questions):,} each; "
            f"a request may cost {limit:,}: ask fewer at a time"
        )

    async def _run(self, tasks: Sequence[Callable[[], bytes]], request: Request) -> list[bytes]:
        """The results of the tasks, unless the client goes before.

        Raises:
            ClientDisconnect: it has gone.
        """
        answers = asyncio.create_task(self._pool.run(tasks, client_of(request.scope)))
        gone = asyncio.create_task(_disconnected(request))
        try:
            await asyncio.wait({answers, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not answers.done():
                raise ClientDisconnect
            return answers.result()
        finally:
            answers.cancel()
            gone.cancel()

    def _compute(self, endpoint: Endpoint, parameters: Values) -> bytes:
        """Also makes JSON of the answer: long ones would hold up the event loop."""
        query = {name: value for name, value in parameters.items() if value is not None}
        answer = endpoint.answer(self._resources, parameters)
        return json_bytes({"query": {"command": endpoint.name, **query}, **answer})

    def _compute_or_error(self, endpoint: Endpoint, parsed: Values | Pair2vecError) -> bytes:
        if isinstance(parsed, Pair2vecError):
            return json_bytes(error_content(parsed))
        try:
            return self._compute(endpoint, parsed)
        except Pair2vecError as error:
            return json_bytes(error_content(error))


def not_ready() -> Response:
    message = "the model is being loaded; come again in a moment"
    return error_response(message, 503, retry=_RETRY_SECONDS)


def _parse_or_error(endpoint: Endpoint, question: object) -> Values | Pair2vecError:
    try:
        if not isinstance(question, dict):
            raise UsageError("a question must be a JSON object")
        return parse_parameters(endpoint.parameters, question)
    except Pair2vecError as error:
        return error


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def error_content(error: Pair2vecError) -> dict[str, object]:
    content: dict[str, object] = {"error": str(error)}
    if isinstance(error, UnknownWordError):
        content |= {"word": error.word, "alike": error.suggestions}
    return content


def error_status(error: Pair2vecError) -> int:
    if isinstance(error, UnknownWordError | NotOfferedError):
        return 404
    return 413 if isinstance(error, TooLargeError) else 400

"""The OpenAPI 3.1 document of the API, generated from its endpoints and their parameters."""

from collections.abc import Iterable

from pair2vec.server.endpoints import Endpoint
from pair2vec.server.parameters import Parameter
from pair2vec.version import __version__

_JSON = "application/json"
_ERRORS = {
    "400": "The question cannot be answered as it is; `error` says why",
    "404": "A word is unknown; `alike` has words of similar spelling",
    "413": "The question is too long",
    "503": "Too many questions at a time; come again after `Retry-After` seconds",
    "504": "It took too long",
}


def openapi_document(endpoints: Iterable[Endpoint], *, max_questions: int) -> dict[str, object]:
    paths = {f"/api/{endpoint.name}": _path_item(endpoint, max_questions) for endpoint in endpoints}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "pair2vec",
            "version": __version__,
            "description": "Which relation holds between two words.",
        },
        "paths": paths | _plain_paths(),
        "components": {"schemas": {"Error": _error_schema()}},
    }


def _path_item(endpoint: Endpoint, max_questions: int) -> dict[str, object]:
    question_schema = {
        "type": "object",
        "properties": {
            p.name: p.schema() | {"description": p.description} for p in endpoint.parameters
        },
        "required": [p.name for p in endpoint.parameters if p.required],
        "additionalProperties": False,
    }
    batch_schema = {
        "type": "object",
        "properties": {
            "questions": {"type": "array", "items": question_schema, "maxItems": max_questions}
        },
        "required": ["questions"],
        "additionalProperties": False,
    }
    content = {_JSON: {"schema": {"oneOf": [question_schema, batch_schema]}}}
    return {
        "get": {
            "operationId": endpoint.name,
            "summary": endpoint.summary,
            "parameters": [_query_parameter(parameter) for parameter in endpoint.parameters],
            "responses": _responses("The answer, after `query`, which repeats the question"),
        },
        "post": {
            "operationId": f"{endpoint.name}_json",
            "summary": f"{endpoint.summary}; one question or many",
            "requestBody": {"required": True, "content": content},
            "responses": _responses("The answer; or for many questions `answers`, in their order"),
        },
    }


def _query_parameter(parameter: Parameter) -> dict[str, object]:
    return {
        "name": parameter.name,
        "in": "query",
        "description": parameter.description,
        "required": parameter.required,
        "schema": parameter.schema(),
    }


def _responses(description: str) -> dict[str, object]:
    error = {_JSON: {"schema": {"$ref": "#/components/schemas/Error"}}}
    errors = {status: {"description": text, "content": error} for status, text in _ERRORS.items()}
    answer: dict[str, object] = {"schema": {"type": "object"}}
    return {"200": {"description": description, "content": {_JSON: answer}}, **errors}


def _plain_paths() -> dict[str, object]:
    """Paths that take no parameters."""
    plain = {
        "/api/model": "Facts about the model, and the questions that can be asked",
        "/health": "Whether the server answers",
        "/metrics": "Metrics for Prometheus",
    }
    return {
        path: {"get": {"summary": text, "responses": {"200": {"description": text}}}}
        for path, text in plain.items()
    }


def _error_schema() -> dict[str, object]:
    return {
        "type": "object",
        "properties": {
            "error": {"type": "string"},
            "word": {"type": "string"},
            "alike": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["error"],
    }

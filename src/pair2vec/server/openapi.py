"""The API described in the terms of OpenAPI 3.1, from the questions it answers."""

from collections.abc import Iterable

from pair2vec.server.endpoints import Endpoint
from pair2vec.server.parameters import Parameter
from pair2vec.version import __version__

_JSON = "application/json"
_FAILURES = {
    "400": "The question cannot be answered as it is; `error` says why",
    "404": "A word is unknown; `alike` has words spelled like it",
    "413": "The question is too long",
    "503": "Too many questions at a time; come again after `Retry-After` seconds",
    "504": "It took too long",
}


def openapi_document(questions: Iterable[Endpoint], *, most_questions: int) -> dict[str, object]:
    """The whole description."""
    paths = {f"/api/{question.name}": _path(question, most_questions) for question in questions}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "pair2vec",
            "version": __version__,
            "description": "Which relation holds between two words.",
        },
        "paths": paths | _others(),
        "components": {"schemas": {"Error": _error()}},
    }


def _path(question: Endpoint, most_questions: int) -> dict[str, object]:
    asked = {
        "type": "object",
        "properties": {p.name: p.schema() | {"description": p.says} for p in question.parameters},
        "required": [p.name for p in question.parameters if p.required],
        "additionalProperties": False,
    }
    many = {
        "type": "object",
        "properties": {"questions": {"type": "array", "items": asked, "maxItems": most_questions}},
        "required": ["questions"],
        "additionalProperties": False,
    }
    content = {_JSON: {"schema": {"oneOf": [asked, many]}}}
    return {
        "get": {
            "operationId": question.name,
            "summary": question.summary,
            "parameters": [_in_address(parameter) for parameter in question.parameters],
            "responses": _responses("The answer, behind `query`, which repeats the question"),
        },
        "post": {
            "operationId": f"{question.name}_json",
            "summary": f"{question.summary}; one question or many",
            "requestBody": {"required": True, "content": content},
            "responses": _responses("The answer; or of many questions `answers`, in their order"),
        },
    }


def _in_address(parameter: Parameter) -> dict[str, object]:
    return {
        "name": parameter.name,
        "in": "query",
        "description": parameter.says,
        "required": parameter.required,
        "schema": parameter.schema(),
    }


def _responses(says: str) -> dict[str, object]:
    failure = {_JSON: {"schema": {"$ref": "#/components/schemas/Error"}}}
    failures = {
        status: {"description": text, "content": failure} for status, text in _FAILURES.items()
    }
    answer: dict[str, object] = {"schema": {"type": "object"}}
    return {"200": {"description": says, "content": {_JSON: answer}}, **failures}


def _others() -> dict[str, object]:
    """What is no question to the model."""
    plain = {
        "/api/model": "What is known of the model",
        "/health": "Whether the server answers",
        "/metrics": "What is counted of it, for Prometheus",
    }
    return {
        path: {"get": {"summary": text, "responses": {"200": {"description": text}}}}
        for path, text in plain.items()
    }


def _error() -> dict[str, object]:
    return {
        "type": "object",
        "properties": {
            "error": {"type": "string"},
            "word": {"type": "string"},
            "alike": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["error"],
    }

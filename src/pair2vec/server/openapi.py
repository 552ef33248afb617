"""The OpenAPI 3.1 document of the API: questions from their parameters, answers by name.

Every shape has a name under ``components/schemas``, for programs that generate clients.
"""

import json
from collections.abc import Iterable
from typing import get_args

from pair2vec.query.composition import Source
from pair2vec.relations.opposed import UNSURE, VERDICTS
from pair2vec.server.access import KEY_HEADER, ServerConfig
from pair2vec.server.endpoints import Endpoint
from pair2vec.server.parameters import Parameter
from pair2vec.version import __version__

Schema = dict[str, object]

_JSON = "application/json"
_ERRORS = {
    "400": "The question cannot be answered as it is; `error` says why",
    "401": "The API key is missing or wrong",
    "404": "A word is unknown; `alike` has words of similar spelling",
    "413": "The request is too large, or its questions are too costly",
    "429": "Too many requests a minute; come again after `Retry-After` seconds",
    "500": "The server failed",
    "503": "Too many questions at a time, or the model is being loaded; come again after "
    "`Retry-After` seconds",
    "504": "It took too long",
}

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _object(properties: dict[str, Schema], optional: Iterable[str] = ()) -> Schema:
    required = [name for name in properties if name not in {*optional}]
    return {"type": "object", "properties": properties, "required": required}


_SHAPES = {
    "Error": _object(
        {"error": _TEXT, "word": _TEXT, "alike": _list(_TEXT)}, optional=("word", "alike")
    ),
    "WordMatch": _object({"word": _TEXT, "score": _NUMBER}),
    "PairMatch": _object({"x": _TEXT, "y": _TEXT, "score": _NUMBER}),
    "PairArrow": _object(
        {
            "x": _TEXT,
            "y": _TEXT,
            "start": _list(_NUMBER),
            "end": _list(_NUMBER),
            "pair_cosine": _NUMBER,
            "offset_cosine": _NUMBER,
        }
    ),
    "GameAnalogies": _object(
        {"name": _TEXT, "pairs": _list(_list({"anyOf": [_TEXT, _list(_TEXT)]}))}
    ),
    "WordGroup": _object({"name": _TEXT, "words": _list(_TEXT)}),
    "PatternMatch": _object({"pattern": _TEXT, "score": _NUMBER}),
    "PatternQuestion": _object(
        {"pattern": _TEXT, "x": _TEXT, "y": _TEXT, "reason": _TEXT}, optional=("x", "y")
    ),
    "RelationProbability": _object({"relation": _TEXT, "probability": _NUMBER}),
    "RelatedWord": _object({"word": _TEXT, "relation": _TEXT, "probability": _NUMBER}),
    "Difference": _object({"kind": _TEXT, "a": _TEXT, "b": _TEXT, "probability": _NUMBER}),
    "VerdictProbabilities": _object(dict.fromkeys(VERDICTS, _NUMBER)),
    "DirectedPair": _object(
        {
            "x": _TEXT,
            "y": _TEXT,
            "norm": _NUMBER,
            "vector": _list(_NUMBER),
            "patterns": {"anyOf": [_list(_ref("PatternMatch")), {"type": "null"}]},
        },
        optional=("vector",),
    ),
    "ComposedWord": _object(
        {"word": _TEXT, "source": {"enum": [*get_args(Source)]}, "suggestions": _list(_TEXT)}
    ),
    "Model": _object({"facts": {"type": "object"}, "questions": _list(_TEXT)}),
    "Status": _object({"status": _TEXT}),
}

_COMPOSED = _list(_ref("ComposedWord"))
"""Words of the question that are not in the vocabulary; absent where all are."""

_ANSWERS: dict[str, Schema] = {
    "fill": _object(
        {
            "asked": _ref("PatternQuestion"),
            "matches": _list({"anyOf": [_ref("WordMatch"), _ref("PatternMatch")]}),
            "composed": _COMPOSED,
        },
        optional=("asked", "composed"),
    ),
    "pair": _object(
        {
            "forward": _ref("DirectedPair"),
            "backward": _ref("DirectedPair"),
            "composed": _COMPOSED,
        },
        optional=("forward", "backward", "composed"),
    ),
    "analogy": _object(
        {"matches": _list(_ref("WordMatch")), "composed": _COMPOSED}, optional=("composed",)
    ),
    "nearest": _object(
        {"matches": _list(_ref("PairMatch")), "composed": _COMPOSED}, optional=("composed",)
    ),
    "plane": _object(
        {"arrows": _list(_ref("PairArrow")), "shares": _list(_NUMBER), "composed": _COMPOSED},
        optional=("composed",),
    ),
    "score": _object({"score": _NUMBER, "composed": _COMPOSED}, optional=("composed",)),
    "words": _object({"words": _list(_TEXT)}),
    "relate": _object(
        {
            "relation": _TEXT,
            "probability": _NUMBER,
            "definition": _TEXT,
            "others": _list(_ref("RelationProbability")),
            "like": _list(_ref("PairMatch")),
            "patterns": _list(_ref("PatternMatch")),
            "composed": _COMPOSED,
        },
        optional=("composed",),
    ),
    "opposed": _object(
        {
            "verdict": {"enum": [*VERDICTS, UNSURE]},
            "probability": _NUMBER,
            "probabilities": _ref("VerdictProbabilities"),
            "differences": _list(_ref("Difference")),
            "reason": _TEXT,
        }
    ),
    "neighbours": _object(
        {"matches": _list(_ref("RelatedWord")), "composed": _COMPOSED}, optional=("composed",)
    ),
    "play": _object(
        {"analogies": _list(_ref("GameAnalogies")), "groups": _list(_ref("WordGroup"))}
    ),
    "evidence": _object({"sentences": _list(_TEXT)}),
}
"""What an answer has beside ``query``, by endpoint."""


def question_schema(endpoint: Endpoint) -> Schema:
    """What is asked, as an object by the names of the parameters."""
    question = _object(
        {p.name: p.schema() | {"description": p.description} for p in endpoint.parameters},
        optional=[p.name for p in endpoint.parameters if not p.required],
    )
    return question | {"additionalProperties": False}


def answer_schema(endpoint: Endpoint) -> Schema:
    """What is answered, with all shapes in it: for use outside of the document."""
    definitions = json.loads(json.dumps(_SHAPES).replace("#/components/schemas/", "#/$defs/"))
    answer = json.loads(
        json.dumps(_ANSWERS[endpoint.name]).replace("#/components/schemas/", "#/$defs/")
    )
    return {**answer, "$defs": definitions}


def openapi_document(endpoints: Iterable[Endpoint], config: ServerConfig) -> dict[str, object]:
    endpoints = tuple(endpoints)
    schemas = dict(_SHAPES)
    for endpoint in endpoints:
        schemas |= _schemas(endpoint, config.max_questions)
    components: dict[str, object] = {"schemas": schemas}
    keys: dict[str, object] = {}
    if config.api_key:
        scheme = {"type": "apiKey", "in": "header", "name": KEY_HEADER}
        components["securitySchemes"] = {
            "ApiKey": scheme,
            "Bearer": {"type": "http", "scheme": "bearer"},
        }
        keys = {"security": [{"ApiKey": []}, {"Bearer": []}]}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "pair2vec",
            "version": __version__,
            "description": "Which relation holds between two words.",
        },
        "paths": {f"/api/{endpoint.name}": _path_item(endpoint) for endpoint in endpoints}
        | _plain_paths(),
        "components": components,
        **keys,
    }


def _schemas(endpoint: Endpoint, max_questions: int) -> dict[str, Schema]:
    """What is asked and answered, one at a time and many."""
    name = endpoint.name.capitalize()
    query: dict[str, Schema] = {"command": {"const": endpoint.name}}
    query |= {p.name: p.schema() for p in endpoint.parameters}
    given = [p.name for p in endpoint.parameters if p.required or p.default is not None]
    repeated = _object(query, optional={*query} - {"command", *given})
    answer = _ANSWERS[endpoint.name]
    return {
        f"{name}Question": question_schema(endpoint),
        f"{name}Questions": _object(
            {"questions": _list(_ref(f"{name}Question")) | {"maxItems": max_questions}}
        )
        | {"additionalProperties": False},
        f"{name}Answer": {"allOf": [_object({"query": repeated}), answer]},
        f"{name}Answers": _object(
            {"answers": _list({"anyOf": [_ref(f"{name}Answer"), _ref("Error")]})}
        ),
    }


def _path_item(endpoint: Endpoint) -> dict[str, object]:
    name = endpoint.name.capitalize()
    one_or_many = {"oneOf": [_ref(f"{name}Question"), _ref(f"{name}Questions")]}
    answers: Schema = {"oneOf": [_ref(f"{name}Answer"), _ref(f"{name}Answers")]}
    return {
        "get": {
            "operationId": endpoint.name,
            "summary": endpoint.summary,
            "parameters": [_query_parameter(parameter) for parameter in endpoint.parameters],
            "responses": _responses(
                "The answer, after `query`, which repeats the question", _ref(f"{name}Answer")
            ),
        },
        "post": {
            "operationId": f"{endpoint.name}_json",
            "summary": f"{endpoint.summary}; one question or many",
            "requestBody": {"required": True, "content": {_JSON: {"schema": one_or_many}}},
            "responses": _responses(
                "The answer; or for many questions `answers`, in their order", answers
            ),
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


def _responses(description: str, answer: Schema) -> dict[str, object]:
    error = {_JSON: {"schema": _ref("Error")}}
    errors = {status: {"description": text, "content": error} for status, text in _ERRORS.items()}
    return {"200": {"description": description, "content": {_JSON: {"schema": answer}}}, **errors}


def _plain_paths() -> dict[str, object]:
    """Paths that take no parameters."""
    plain = {
        "/api/model": ("Facts about the model, and the questions that can be asked", "Model"),
        "/health": ("Whether the server runs", "Status"),
        "/ready": ("Whether it answers questions; 503 while the model is being loaded", "Status"),
    }
    paths: dict[str, object] = {
        path: _plain_path(path, text, {_JSON: {"schema": _ref(name)}})
        for path, (text, name) in plain.items()
    }
    text = "Metrics for Prometheus"
    return paths | {"/metrics": _plain_path("/metrics", text, {"text/plain": {"schema": _TEXT}})}


def _plain_path(path: str, text: str, content: dict[str, object]) -> dict[str, object]:
    responses = {"200": {"description": text, "content": content}}
    name = path.rpartition("/")[2]
    return {"get": {"operationId": name, "summary": text, "responses": responses}}

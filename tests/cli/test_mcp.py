"""What agents can ask over the Model Context Protocol, by the clients of its own package."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent
from tests.command import assert_fails, pair2vec
from tests.tiny_model import ALL_ANSWERS, save_tiny_model, taught_model

from pair2vec.api import load
from pair2vec.lexicon.inverted_index import open_index
from pair2vec.server.endpoints import Resources, available_endpoints
from pair2vec.server.mcp import make_server
from pair2vec.server.parameters import parse_parameters
from pair2vec.text.corpus import open_corpus
from pair2vec.text.prepare import prepare

QUESTIONS: dict[str, dict[str, object]] = {
    "relate": {"x": "hot", "y": "cold", "top": 2},
    "opposed": {"a": "It is hot and cheap.", "b": "It is not hot and cheap."},
    "neighbours": {"word": "hot", "relation": "antonym", "top": 3},
    "fill": {"pattern": ["X or Y"], "x": "hot", "top": 3},
    "analogy": {"a": "france", "b": "paris", "x": "hot", "top": 3},
    "evidence": {"x": "hot", "y": "cold"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return taught_model(tmp_path_factory.mktemp("models") / "taught", ALL_ANSWERS)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("corpora")
    (place / "text.txt").write_text("it is hot or cold .\nit is neither hot nor cold .\n" * 3)
    prepare([str(place / "text.txt")], place / "corpus")
    return place / "corpus"


@pytest.fixture(scope="module")
def resources(folder: Path, corpus: Path) -> Resources:
    return Resources(load(folder), open_index(open_corpus(corpus)))


def ask(server: Any, talk: Callable[[Client], Awaitable[Any]], **options: Any) -> Any:
    """What `talk` with a client of the server returns."""

    async def connect() -> Any:
        async with Client(server, **options) as client:
            return await talk(client)

    return asyncio.run(connect())


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_tool_answers_as_the_endpoint_does_and_as_its_schema_says(
    mode: str, resources: Resources
) -> None:
    async def talk(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert [*tools] == [*QUESTIONS]
        endpoints = {endpoint.name: endpoint for endpoint in available_endpoints(resources)}
        for name, question in QUESTIONS.items():
            tool, endpoint = tools[name], endpoints[name]
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
            jsonschema.validate(question, tool.input_schema)
            result = await client.call_tool(name, question)
            assert not result.is_error
            values = parse_parameters(endpoint.parameters, question)
            expected = json.loads(json.dumps(endpoint.answer(resources, values)))
            assert result.structured_content == json.loads(text_of(result)) == expected
            jsonschema.validate(expected, tool.output_schema)
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint
            assert len(tool.description or "") > 80
            assert all(about["description"] for about in tool.input_schema["properties"].values())

    ask(make_server(resources), talk, mode=mode)


@pytest.mark.parametrize(
    ("name", "question", "message"),
    [
        ("relate", {"x": "hot", "y": "colt"}, "'colt' is not in the vocabulary; did you mean cold"),
        ("relate", {"x": "hot"}, "y is missing: A word."),
        ("relate", {"x": "hot", "y": "cold", "top": -1}, "top is -1; it must be from 0 to 100"),
        ("fill", {"pattern": ["X or Y"], "z": "hot"}, "'z' is not a parameter; there are all_w"),
        ("neighbours", {"word": "hot", "relation": "friend"}, "friend"),
    ],
)
def test_a_question_that_cannot_be_answered_is_an_error_that_says_why(
    name: str, question: dict[str, object], message: str, resources: Resources
) -> None:
    result = ask(make_server(resources), lambda client: client.call_tool(name, question))
    assert result.is_error
    assert message in text_of(result)
    assert "\n" not in text_of(result)


def test_a_tool_that_is_not_there_is_named(resources: Resources) -> None:
    async def talk(client: Client) -> None:
        with pytest.raises(MCPError, match=r"no tool 'shell'; there are relate, opposed, neigh"):
            await client.call_tool("shell", {})

    ask(make_server(resources), talk)


def test_tools_that_cannot_answer_are_not_offered(folder: Path, tmp_path: Path) -> None:
    def names(resources: Resources) -> list[str]:
        found = ask(make_server(resources), lambda client: client.list_tools())
        return [tool.name for tool in found.tools]

    assert names(Resources(load(folder))) == [name for name in QUESTIONS if name != "evidence"]
    # Of the built-in relations, this one knows too few examples.
    wordless = save_tiny_model(tmp_path / "model", ["the", "and", "hot", "cold"])
    assert names(Resources(load(wordless))) == ["fill", "analogy"]


def command(folder: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "pair2vec", "mcp", "--model", str(folder), *options]


def test_a_process_answers_over_standard_input_and_output(folder: Path, corpus: Path) -> None:
    program, *arguments = command(folder, "--corpus", str(corpus))

    async def talk(client: Client) -> list[str]:
        found = await client.call_tool("evidence", QUESTIONS["evidence"])
        assert isinstance(found.structured_content, dict)
        sentences: list[str] = found.structured_content["sentences"]
        return sentences

    server = stdio_client(StdioServerParameters(command=program, args=arguments))
    assert "it is hot or cold." in ask(server, talk)


@contextmanager
def listening(folder: Path) -> Iterator[str]:
    """The address of a process that answers over HTTP."""
    line = [*command(folder, "--http", "--port", "0")]
    with subprocess.Popen(line, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        said = process.stderr.readline()
        found = re.search(r"http://\S+", said)
        assert found, said
        try:
            yield found.group()
        finally:
            process.kill()


def test_a_process_answers_over_http_and_refuses_pages_of_other_sites(folder: Path) -> None:
    with listening(folder) as address:
        assert address.endswith("/mcp")
        result = ask(address, lambda client: client.call_tool("opposed", QUESTIONS["opposed"]))
        assert not result.is_error
        assert result.structured_content["verdict"] in {"same", "opposed", "different", "unsure"}
        question = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        for headers in ({"Origin": "https://elsewhere.example"}, {"Host": "elsewhere.example"}):
            kinds = {"Accept": "application/json, text/event-stream"}
            refused = httpx.post(address, json=question, headers=headers | kinds)
            assert 400 <= refused.status_code < 500


def test_an_address_without_http_is_refused(folder: Path) -> None:
    for option in ("--port=0", "--host=127.0.0.1"):
        done = pair2vec("mcp", "--model", folder, option)
        assert_fails(done, 2, "--host and --port are of --http")

"""A Model Context Protocol server: what language-model agents can ask, as tools.

The tools are endpoints of the HTTP API, described for a language model. An answer is the same JSON;
a question that cannot be answered is an error of the tool, whose text says what to do instead.
"""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import uvicorn
from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    TextContent,
    Tool,
    ToolAnnotations,
)

from pair2vec.errors import Pair2vecError
from pair2vec.server.connections import address_of, listen
from pair2vec.server.endpoints import Endpoint, Resources, available_endpoints
from pair2vec.server.openapi import answer_schema, question_schema
from pair2vec.server.parameters import parse_parameters
from pair2vec.version import __version__

PATH = "/mcp"
"""Of the server over HTTP."""

_INSTRUCTIONS = (
    "pair2vec knows from text which relation holds between two English words; frequent phrases, "
    "as 'new york', are words, too. Probabilities are calibrated; treat anything below 0.5 as a "
    "guess."
)
_DESCRIPTIONS = {
    "relate": "Tell which relation holds between two English words: synonym, antonym, hypernym "
    "(y is a more general term for x), hyponym, co-hyponym (kinds of one thing), part, whole, "
    "located-in and a few others, or none. Use it when it matters whether two words that are used "
    "alike mean the same or the opposite, as *enable* and *disable*. Returns the relation of x to "
    "y, its probability, the runners-up, and with top > 0 pairs in the same relation and patterns "
    "of text that speak for it.",
    "opposed": "Tell whether two English sentences or questions say the same, opposite or "
    "different things, and which words decide. Use it before reusing a cached answer, merging two "
    "memories or accepting a claim as supported: embedding similarity cannot tell *how do I enable "
    "it* from *how do I disable it*. The verdict is same, opposed, different, or unsure with the "
    "reason.",
    "neighbours": "List the words that are related to an English word, each with its relation and "
    "probability; or only those in one relation, as in relation='antonym'.",
    "fill": "Find the words that fit a pattern with two slots X and Y, given one of the two words: "
    "pattern 'X is the capital of Y', x='paris'. Punctuation is a word of its own, as in 'in X , "
    "Y .'. A pattern has at most one word left of X and one right of Y; `asked` says what was "
    "asked in place of a longer one. With both words given, several patterns are ranked by how "
    "well they fit the pair.",
    "analogy": "Find the words that are to x as b is to a: a='france', b='paris', x='japan' gives "
    "'tokyo'.",
    "evidence": "Quote sentences of the corpus in which x and y occur together, those that speak "
    "most clearly for a relation between them first.",
}
"""Of each tool, for a language model that has to choose one."""
_READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)


def make_server(resources: Resources) -> Server[Any]:
    """The server, on any transport; `evidence` is a tool only where there is a corpus."""
    available = {endpoint.name: endpoint for endpoint in available_endpoints(resources)}
    endpoints = {name: available[name] for name in _DESCRIPTIONS if name in available}

    async def list_tools(_: object, __: object) -> ListToolsResult:
        return ListToolsResult(tools=[_tool(endpoint) for endpoint in endpoints.values()])

    async def call_tool(_: object, asked: CallToolRequestParams) -> CallToolResult:
        endpoint = endpoints.get(asked.name)
        if endpoint is None:
            there_are = ", ".join(endpoints)
            raise MCPError(INVALID_PARAMS, f"no tool {asked.name!r}; there are {there_are}")
        try:
            values = parse_parameters(endpoint.parameters, asked.arguments or {})
            answer = await asyncio.to_thread(endpoint.answer, resources, values)
        except Pair2vecError as error:
            return CallToolResult(content=[TextContent(text=str(error))], is_error=True)
        text = json.dumps(answer, ensure_ascii=False)
        return CallToolResult(content=[TextContent(text=text)], structured_content=answer)

    return Server(
        "pair2vec",
        version=__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _tool(endpoint: Endpoint) -> Tool:
    return Tool(
        name=endpoint.name,
        description=_DESCRIPTIONS[endpoint.name],
        input_schema=question_schema(endpoint),
        output_schema=answer_schema(endpoint),
        annotations=_READ_ONLY,
    )


def run_stdio(resources: Resources) -> None:
    """Answer one client over standard input and output until it closes them."""
    asyncio.run(_serve_stdio(make_server(resources)))


async def _serve_stdio(server: Server[Any]) -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def run_http(resources: Resources, host: str, port: int, say: Callable[[str], None]) -> None:
    """Answer clients over HTTP until a signal to stop.

    Raises:
        UsageError: the address is not available.
    """
    listening = listen(host, port)
    app = make_server(resources).streamable_http_app(streamable_http_path=PATH, host=host)
    name = resources.model.saved.folder.name
    say(f"{name}: {address_of(listening)}{PATH} (stop with Ctrl-C)")
    settings = uvicorn.Config(app, ws="none", log_level="warning", access_log=False)
    asyncio.run(uvicorn.Server(settings).serve(sockets=[listening]))

"""``pair2vec serve``, ``mcp`` and ``explorer``: answer programs, agents, and a page by itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.filesize import decimal

from pair2vec.cli.messages import say, show_count, use_one_thread_each
from pair2vec.cli.options import ModelOption, OverwriteOption
from pair2vec.errors import UsageError

if TYPE_CHECKING:
    from pair2vec.lexicon.inverted_index import InvertedIndex


CorpusOption = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="A corpus to take evidence sentences from."),
]
HostOption = Annotated[str, typer.Option(help="The address to listen at.")]
PortOption = Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")]
_MCP_HOST, _MCP_PORT = "127.0.0.1", 8018


def serve(  # noqa: PLR0913, PLR0917 - the options of a command
    model: ModelOption = None,
    corpus: CorpusOption = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8017,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Queries answered at a time.", show_default="one a core"),
    ] = None,
    waiting: Annotated[
        int, typer.Option(min=0, help="Queries that may wait in the queue; others get a 503.")
    ] = 32,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds for one request, time in the queue included.")
    ] = 10.0,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A host name to accept besides --host; may be repeated."),
    ] = None,
    cors: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN",
            help="A site whose pages may ask, as in https://example.org; may be repeated.",
        ),
    ] = None,
    api_key: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            envvar="PAIR2VEC_API_KEY",
            help="Answer only requests with this key. Better in the environment, where other "
            "users of the machine cannot read it.",
        ),
    ] = None,
    requests_per_minute: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Of one client; others get a 429.")
    ] = None,
) -> None:
    """Answer queries over HTTP, and serve the explorer page.

    Without --api-key there is no login. There is no TLS: for others, put a proxy in front of it.
    """
    use_one_thread_each()
    try:
        from pair2vec.server.app import run
    except ImportError as error:
        raise UsageError(
            f"'pair2vec serve' needs {error.name}, which is not installed; "
            "pip install 'pair2vec[serve]'"
        ) from error
    from pair2vec.api import load
    from pair2vec.server.access import ServerConfig
    from pair2vec.server.endpoints import Resources
    from pair2vec.server.worker_pool import WorkerPoolConfig

    workers = workers or len(os.sched_getaffinity(0))
    pool = WorkerPoolConfig(workers=workers, queue_size=waiting, timeout=timeout)
    hosts = dict.fromkeys([*ServerConfig().hosts, host, *(allow_host or [])])
    config = ServerConfig(
        pool=pool,
        hosts=tuple(hosts),
        cors=tuple(cors or ()),
        api_key=api_key,
        requests_per_minute=requests_per_minute,
    )
    resources = Resources(load(model), _open_index(corpus) if corpus else None)
    run(resources, config, host, port, say)


def mcp(
    model: ModelOption = None,
    corpus: CorpusOption = None,
    http: Annotated[
        bool, typer.Option("--http", help="Listen at an address instead of standard input.")
    ] = False,
    host: Annotated[
        str | None, typer.Option(help="The address to listen at.", show_default=_MCP_HOST)
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="0 takes any that is free.", show_default=str(_MCP_PORT)
        ),
    ] = None,
) -> None:
    """Answer agents by the Model Context Protocol, over standard input and output or HTTP.

    There is no login: over HTTP, it is for programs of the same machine.
    """
    from pair2vec.api import load
    from pair2vec.server.endpoints import Resources
    from pair2vec.server.mcp import run_http, run_stdio

    if not http and (host is not None or port is not None):
        raise UsageError("--host and --port are of --http; give it as well, or leave them out")
    resources = Resources(load(model), _open_index(corpus) if corpus else None)
    if http:
        own_port = _MCP_PORT if port is None else port
        run_http(resources, host or _MCP_HOST, own_port, say)
    else:
        run_stdio(resources)


def explorer(
    out: Annotated[
        Path,
        typer.Option(metavar="PATH", help="The folder of the site; with --single-file the file."),
    ],
    model: ModelOption = None,
    single_file: Annotated[
        bool,
        typer.Option("--single-file", help="One HTML file, which also opens from a disk."),
    ] = False,
    overwrite: OverwriteOption = False,
) -> None:
    """Write the explorer page of a model as a static site, which answers without a server.

    For any file server, such as GitHub Pages; offline after the first visit.
    """
    from pair2vec.api import load
    from pair2vec.server.endpoints import Resources
    from pair2vec.server.static_site import write_single_page, write_site

    opened = load(model)
    write = write_single_page if single_file else write_site
    size = write(opened, out, overwrite=overwrite)
    say(f"wrote {out}, {decimal(size)}")
    if not Resources(opened).has_relations:
        say(
            "the model knows too few words to fit relations to it, so that the page has none: "
            "'pair2vec teach --from' adds them"
        )


def _open_index(corpus: Path) -> InvertedIndex:
    """Building the index takes a while, the first time."""
    from pair2vec.lexicon.inverted_index import open_index
    from pair2vec.text.corpus import open_corpus

    with show_count("tokens") as report:
        return open_index(open_corpus(corpus), report)

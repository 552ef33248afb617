"""The command that answers over HTTP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pair2vec.cli.messages import messages, one_thread_each, say
from pair2vec.cli.options import ModelOption
from pair2vec.errors import UsageError

if TYPE_CHECKING:
    from pair2vec.lexicon.inverted_index import InvertedIndex


def serve(
    model: ModelOption = None,
    corpus: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="A corpus to take evidence sentences from."),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 8017,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Questions answered at a time.", show_default="one a core"),
    ] = None,
    waiting: Annotated[
        int, typer.Option(min=0, help="Questions that may wait; others are sent away.")
    ] = 32,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds for one question, waiting included.")
    ] = 10.0,
) -> None:
    """Answer questions over HTTP, and show the explorer page.

    There is no login: listen at another address than 127.0.0.1 only behind something that has one.
    """
    one_thread_each()
    try:
        from pair2vec.server.app import run
    except ImportError as error:
        raise UsageError(
            f"'pair2vec serve' needs {error.name}, which is not installed; "
            "pip install 'pair2vec[serve]'"
        ) from error
    from pair2vec.api import load
    from pair2vec.server.endpoints import Resources
    from pair2vec.server.handlers import ServerConfig
    from pair2vec.server.worker_pool import WorkerPoolConfig

    cores = len(os.sched_getaffinity(0))
    desk = WorkerPoolConfig(workers=workers or cores, waiting=waiting, seconds=timeout)
    names = dict.fromkeys([*ServerConfig().hosts, host])
    library = Resources(load(model), _index(corpus) if corpus else None)
    run(library, ServerConfig(desk=desk, hosts=tuple(names)), host, port, say)


def _index(corpus: Path) -> InvertedIndex:
    """The index of a corpus; making it takes a while, the first time."""
    from pair2vec.cli.messages import show_count
    from pair2vec.lexicon.inverted_index import open_index
    from pair2vec.text.corpus import open_corpus

    with show_count("tokens", messages) as report:
        return open_index(open_corpus(corpus), report)

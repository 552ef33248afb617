"""The command that answers over HTTP."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pair2vec.commands.cores import one_thread_each
from pair2vec.commands.messages import messages, say
from pair2vec.commands.options import ModelOption
from pair2vec.errors import UsageError

if TYPE_CHECKING:
    from pair2vec.lexicon.occurrences import Occurrences


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
        from pair2vec.server.running import run
    except ImportError as error:
        raise UsageError(
            f"'pair2vec serve' needs {error.name}, which is not installed; "
            "pip install 'pair2vec[serve]'"
        ) from error
    from pair2vec.query import load
    from pair2vec.server.desk import DeskConfig
    from pair2vec.server.questions import Library
    from pair2vec.server.reception import ServerConfig

    cores = len(os.sched_getaffinity(0))
    desk = DeskConfig(workers=workers or cores, waiting=waiting, seconds=timeout)
    names = dict.fromkeys([*ServerConfig().hosts, host])
    library = Library(load(model), _index(corpus) if corpus else None)
    run(library, ServerConfig(desk=desk, hosts=tuple(names)), host, port, say)


def _index(corpus: Path) -> "Occurrences":
    """The index of a corpus; making it takes a while, the first time."""
    from pair2vec.display.counting import shown_count
    from pair2vec.lexicon.occurrences import open_occurrences
    from pair2vec.text.corpus import open_corpus

    with shown_count("tokens", messages) as report:
        return open_occurrences(open_corpus(corpus), report)

"""The server as a process: opened, warmed up, and stopped without cutting anybody off."""

import asyncio
import os
import socket
from collections.abc import Callable

import uvicorn

from pair2vec.errors import UsageError
from pair2vec.server.app import make_app
from pair2vec.server.questions import Library
from pair2vec.server.reception import ServerConfig

_GRACE_SECONDS = 10
_KEEP_ALIVE_SECONDS = 5
_CONNECTIONS = 512


def run(
    library: Library, config: ServerConfig, host: str, port: int, say: Callable[[str], None]
) -> None:
    """Answer until a signal to stop; requests that are being answered then are finished.

    Raises:
        UsageError: the address cannot be listened at.
    """
    listening = listen(host, port)
    warm_up(library)
    settings = uvicorn.Config(
        make_app(library, config),
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    name, number = listening.getsockname()[:2]
    shown = f"[{name}]" if ":" in name else name
    say(f"{library.model.saved.folder.name}: http://{shown}:{number} (stop with Ctrl-C)")
    asyncio.run(uvicorn.Server(settings).serve(sockets=[listening]))


def listen(host: str, port: int) -> socket.socket:
    """A socket there."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        # Of an address that is taken, `create_server` makes a message of its own.
        reason = (
            error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        )
        raise UsageError(f"cannot listen at {host} port {port}: {reason}") from error


def warm_up(library: Library) -> None:
    """Have everything in memory that questions need, before the first and not during it."""
    model = library.model
    first, second, third = model.vocabulary.words[-3:]
    model.analogy(first, second, third, search="shortlist")
    model.nearest(first, second)
    model.fill("X and Y", x=first, search="shortlist")
    if model.patterns:
        model.explain(first, second)
    if library.can_relate:
        library.relations.typed_neighbours(first)
    if library.index is not None:
        library.telling.of_pair(first, second)

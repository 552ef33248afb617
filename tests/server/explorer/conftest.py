"""The explorer page of a small model, open in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.server.explorer.running_server import RunningServer

from pair2vec.api import Pair2vec
from pair2vec.server.app import make_app
from pair2vec.server.endpoints import Resources

if TYPE_CHECKING:
    from tests.server.explorer.browser import Browser, Explorer


# Of a module, not of all: while it runs, no other test could run an event loop.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from tests.server.explorer.browser import launched

    with launched() as found:
        yield found


@pytest.fixture(scope="module")
def running_server(model: Pair2vec) -> Iterator[RunningServer]:
    made = RunningServer(lambda: make_app(Resources(model)))
    made.start()
    yield made
    made.stop()


@pytest.fixture
def server(running_server: RunningServer) -> RunningServer:
    running_server.reset()
    return running_server


@pytest.fixture
def explorer(browser: Browser, server: RunningServer) -> Iterator[Explorer]:
    """A new page, which must end without faults."""
    from tests.server.explorer.browser import Explorer

    context = browser.new_context()
    made = Explorer(context.new_page(), server.address)
    yield made
    context.close()
    assert made.faults() == []

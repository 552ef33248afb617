"""A server in a thread, that can be slow, busy, stopped and started again."""

import asyncio
import threading
from collections.abc import Callable

import uvicorn
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pair2vec.server.connections import listen

FACTS = {"model": "tiny", "words": "18", "licence": "cc0-1.0"}
ENDPOINT_NAMES = ("fill", "pair", "analogy", "nearest", "score", "words")


class RunningServer:
    """An application behind a real socket."""

    def __init__(self, make_app: Callable[[], ASGIApp]) -> None:
        """`make_app` is called at each start: what was stopped does not answer again."""
        self._make_app = make_app
        self._port = 0
        self.reset()

    def reset(self) -> None:
        """No trouble, as at first."""
        self.offered: dict[str, object] | None = {}
        """Answers of endpoints beyond those of every server; None leaves the server as it is."""
        self.held: Callable[[str], bool] = lambda address: False
        """Of which addresses the answer waits."""
        self.refusals: list[Response] = []
        """Sent in place of the next answers."""
        self.requested: list[str] = []
        self._released = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}/"

    def start(self) -> None:
        """Listen at the port it had before, if there was one."""
        self._app = self._make_app()
        socket = listen("127.0.0.1", self._port)
        self._port = socket.getsockname()[1]
        settings = uvicorn.Config(
            self._troubled, interface="asgi3", log_level="critical", ws="none"
        )
        self._server = uvicorn.Server(settings)
        serving = self._server.serve(sockets=[socket])
        self._thread = threading.Thread(target=lambda: asyncio.run(serving))
        self._thread.start()

    def stop(self) -> None:
        self._released.set()
        self._server.should_exit = True
        self._thread.join(timeout=20)
        assert not self._thread.is_alive()

    def release(self) -> None:
        """Answer what waits."""
        self._released.set()

    async def _troubled(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith("/api/"):
            address = f"{scope['path']}?{scope['query_string'].decode()}"
            self.requested.append(address)
            if self.held(address):
                await asyncio.to_thread(self._released.wait, 20)
            await self._answer(scope["path"].removeprefix("/api/"))(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _answer(self, name: str) -> ASGIApp:
        """What answers at the endpoint."""
        if self.refusals and name not in ("model", "words"):
            return self.refusals.pop(0)
        if self.offered is None:
            return self._app
        questions = [*ENDPOINT_NAMES, *self.offered]
        answers = {"model": {"facts": FACTS, "questions": questions}, **self.offered}
        answer = answers.get(name)
        return self._app if answer is None else JSONResponse(answer)

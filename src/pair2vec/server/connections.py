"""Connections that cannot be held for ever: a timeout for slow clients, and a limit for all.

uvicorn bounds the time between requests, but neither that of a half-sent request nor that of a
response which is not read, and refuses everybody while too many connections are open. Here a
client has `BoundedConnection.client_seconds` for either; and where too many are open, a new
connection takes the place of one that waits for its client.
"""

import asyncio
import os
import socket
from collections import Counter

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from pair2vec.errors import UsageError
from pair2vec.server.access import HEADERS, json_bytes

_LEAST_BYTES = 10_000
"""Of a long response, to be read in each period of `client_seconds`."""


class BoundedConnection(H11Protocol):
    """uvicorn's HTTP protocol with both limits.

    The time of a client runs while its connection is not being answered: from the beginning, or
    from the last response, to the next request; and while it does not read its response. (How
    long a body may take is up to the handlers.)
    """

    client_seconds = 10.0
    max_connections = 512

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_timer()
        if len(self.connections) > self.max_connections:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_answering:
            self._stop_timer()

    def on_response_complete(self) -> None:
        super().on_response_complete()  # which may begin with the next request
        if self._is_answering:
            self._stop_timer()
        else:
            self._start_timer()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._start_timer()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._is_answering:
            self._stop_timer()

    def send_400_response(self, msg: str) -> None:
        """As uvicorn does, but in JSON and with the headers of every response."""
        body = json_bytes({"error": msg})
        headers = {
            **HEADERS,
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Connection": "close",
        }
        response = h11.Response(status_code=400, headers=list(headers.items()), reason=b"")
        for event in (response, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def _waits_for_client(self) -> bool:
        """For a request, for the rest of its body, or until its response is read."""
        return not self._is_answering or self.cycle.more_body or self.flow.write_paused

    def _start_timer(self) -> None:
        self._stop_timer()
        unread = self.transport.get_write_buffer_size()
        self._timer = self.loop.call_later(self.client_seconds, self._end_unless_read, unread)

    def _end_unless_read(self, unread_before: int) -> None:
        unread = self.transport.get_write_buffer_size()
        if 0 < unread <= unread_before - _LEAST_BYTES:
            self._start_timer()
        else:
            self.transport.abort()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _make_room(self) -> None:
        """Close the connection that has waited longest of the client that has most."""
        others = [
            other
            for other in self.connections
            if isinstance(other, BoundedConnection) and not other.transport.is_closing()
        ]
        if len(others) <= self.max_connections:
            return
        counts = Counter(other._host for other in others)
        waiting = [other for other in others if other is not self and other._waits_for_client]
        closed = max(waiting, key=lambda other: (counts[other._host], -other._since), default=self)
        closed.transport.abort()

    @property
    def _host(self) -> str:
        return self.client[0] if self.client else ""

    @property
    def _since(self) -> float:
        """When it began to wait; of one that sends its body, now."""
        return self._timer.when() if self._timer else self.loop.time() + self.client_seconds


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        UsageError: the address is not available.
    """
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        # `create_server` replaces the message where an address is in use.
        reason = (
            error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        )
        raise UsageError(f"cannot listen at {host} port {port}: {reason}") from error


def address_of(listening: socket.socket) -> str:
    """As in http://127.0.0.1:8017."""
    name, number = listening.getsockname()[:2]
    return f"http://{f'[{name}]' if ':' in name else name}:{number}"

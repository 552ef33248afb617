"""Signals that end a long command: Ctrl-C, and SIGTERM, which is taken the same way."""

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn


class Terminated(KeyboardInterrupt):
    """SIGTERM, which a job of hours takes as it takes Ctrl-C: what is done is kept, and it says so.

    Schedulers and containers send it before they kill.
    """

    exit_code = 128 + signal.SIGTERM


@contextmanager
def terminated_like_ctrl_c() -> Iterator[None]:
    """Raise `Terminated` on SIGTERM, which otherwise ends a process without a word."""

    def stop(_: int, __: object) -> NoReturn:
        raise Terminated

    with _handling({signal.SIGTERM: stop}):
        yield


class StopRequest:
    """Whether a signal has asked a job to stop."""

    def __init__(self) -> None:
        self._numbers: list[int] = []

    def __call__(self) -> bool:
        return bool(self._numbers)

    def receive(self, number: int, _: object) -> None:
        if self._numbers:
            # The second time at once.
            raise Terminated if number == signal.SIGTERM else KeyboardInterrupt
        self._numbers.append(number)

    @property
    def exit_code(self) -> int:
        """What a shell reports of a process that the signal ended; of Ctrl-C for another rank's."""
        return 128 + (self._numbers or [signal.SIGINT])[0]


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Whether Ctrl-C was pressed or SIGTERM sent; the second one interrupts at once."""
    request = StopRequest()
    with _handling(dict.fromkeys((signal.SIGINT, signal.SIGTERM), request.receive)):
        yield request


@contextmanager
def _handling(handlers: Mapping[signal.Signals, Callable[[int, Any], None]]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

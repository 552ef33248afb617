"""What a command says beside its answer, on standard error."""

import logging
import sys
from typing import NoReturn

from rich.console import Console

messages = Console(stderr=True, highlight=False, soft_wrap=True)


def say(message: str) -> None:
    """One line, above a progress bar if there is one."""
    messages.print(f"pair2vec: {message}", markup=False)


def fail(message: str, code: int) -> NoReturn:
    """Say why, and end with an exit code."""
    say(message)
    sys.exit(code)


def say_what_is_logged() -> None:
    """From now on, show what the library logs."""
    logging.basicConfig(level=logging.WARNING, handlers=[_MessageHandler()])
    logging.getLogger("pair2vec").setLevel(logging.INFO)


class _MessageHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())

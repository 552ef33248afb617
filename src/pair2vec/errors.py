"""Errors that a user can fix: each message is one line with what, where, and what to do."""

STOPPED = "stopped; prepare and lexicon resume when run again, others with --resume"
"""What is said of a command that Ctrl-C or SIGTERM ended."""


class Pair2vecError(Exception):
    """Base of all errors raised on purpose; the command prints the message and exits."""

    exit_code = 1


class UsageError(Pair2vecError, ValueError):
    """The call itself is wrong: a value out of range, a missing path."""

    exit_code = 2


class InputError(Pair2vecError, ValueError):
    """An input cannot be read; the message names it and the position."""

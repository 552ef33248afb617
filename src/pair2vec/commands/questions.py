"""Questions to a model: one on the command line, or many on standard input."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer
from rich.console import Console, RenderableType

from pair2vec.commands.messages import say
from pair2vec.errors import InputError, Pair2vecError, UsageError

if TYPE_CHECKING:
    from pair2vec.display.query_tables import Ranking
    from pair2vec.query import Pair2vec

STANDARD_INPUT = "-"


class Answer(NamedTuple):
    """What is printed of a question: query and result as JSON, or the table."""

    query: dict[str, object]
    result: dict[str, object]
    table: RenderableType


@dataclass(frozen=True)
class Form:
    """How a question is written."""

    parts: tuple[str, ...]
    separator: str | None = None
    """Between the parts on a line of standard input; None is any white space."""

    def check(self, given: list[str], between: str = " ") -> None:
        """Refuse a question with too few or too many parts."""
        if len(given) != len(self.parts):
            raise UsageError(f"expected {between.join(self.parts)}, got {between.join(given)!r}")

    def read(self, line: bytes) -> list[str]:
        """The parts of a question on a line of standard input."""
        try:
            text = line.decode().rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise InputError(f"is not UTF-8 at byte {error.start + 1}") from error
        given = text.split(self.separator)
        self.check(given, between="<tab>" if self.separator else " ")
        return [part.strip() for part in given]


def described(command: str, model: "Pair2vec", **asked: object) -> dict[str, object]:
    """A question as JSON; what was not given is left out."""
    given = {
        name: str(value) if isinstance(value, Path) else value
        for name, value in asked.items()
        if value is not None
    }
    return {"command": command, "model": str(model.saved.folder), **given}


def ranked(query: dict[str, object], ranking: "Ranking") -> Answer:
    """The answer that is a list of the best."""
    return Answer(query, {"matches": [match._asdict() for match in ranking.matches]}, ranking)


def answer_question(
    given: Sequence[str | None], form: Form, ask: Callable[..., Answer], *, as_json: bool
) -> None:
    """Answer the question given, or with ``-`` those on standard input."""
    parts = [part for part in given if part is not None]
    if parts == [STANDARD_INPUT]:
        answer_lines(form, ask, as_json=as_json)
    else:
        form.check(parts)
        show(ask(*parts), as_json=as_json)


def answer_lines(form: Form, ask: Callable[..., Answer], *, as_json: bool) -> None:
    """Answer the questions on standard input, each as soon as its line is read.

    A line that cannot be answered is reported, and the others are answered all the same.
    """
    failed = False
    for number, line in enumerate(sys.stdin.buffer, start=1):
        if not line.strip():
            continue
        try:
            show(ask(*form.read(line)), as_json=as_json, line=number)
        except Pair2vecError as error:
            failed = True
            _report(number, str(error), as_json=as_json)
    if failed:
        raise typer.Exit(1)


def show(answer: Answer, *, as_json: bool, line: int | None = None) -> None:
    """Print an answer; `line` says where on standard input the question is."""
    if as_json:
        place = {} if line is None else {"line": line}
        _print_json({**place, "query": answer.query, **answer.result})
    else:
        Console(highlight=False).print(answer.table)


def _report(line: int, error: str, *, as_json: bool) -> None:
    if as_json:
        _print_json({"line": line, "error": error})
    else:
        say(f"line {line}: {error}")


def _print_json(content: dict[str, object]) -> None:
    typer.echo(json.dumps(content, ensure_ascii=False))


def refuse_reading_twice(question: str, *files: Path | None) -> None:
    """Either the questions or a list can come from standard input."""
    names = [question, *map(str, files)]
    if names.count(STANDARD_INPUT) > 1:
        raise UsageError("- is given twice, and standard input can be read only once; name a file")

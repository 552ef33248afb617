"""``pair2vec opposed``: whether two sentences say opposite things, and which words decide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from rich.console import Group
from rich.text import Text

from pair2vec.cli.options import JsonOption, ModelOption, argument
from pair2vec.cli.query_io import (
    STDIN,
    CommandAnswer,
    LineAnswer,
    QueryFormat,
    answer_query,
    answer_stdin_in_batches,
    open_model,
    query_record,
)
from pair2vec.rendering import percent

if TYPE_CHECKING:
    from pair2vec.api import Difference, Opposition, Pair2vec

_FORMAT = QueryFormat(("A", "B"), separator="\t")


def opposed(
    a: Annotated[
        str, argument(help="A sentence; or - to read lines of a<tab>b from standard input.")
    ],
    b: Annotated[str | None, argument(help="A sentence.")] = None,
    model: ModelOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say whether two sentences say the same, opposite or different things, and what decides.

    The verdict is "unsure" where nothing can be said, with the reason.
    """
    opened = open_model(model)

    def answer(a: str, b: str) -> CommandAnswer:
        found = opened.opposed(a, b)
        query = query_record("opposed", opened, a=a, b=b)
        return CommandAnswer(query, found.as_json(), verdict_lines(found))

    def answer_many(rows: list[list[str]]) -> Iterator[LineAnswer]:
        return _compare_lines(opened, rows)

    if (a, b) == (STDIN, None):
        answer_stdin_in_batches(_FORMAT, answer_many, as_json=as_json)
    else:
        answer_query((a, b), _FORMAT, answer, as_json=as_json)


def verdict_lines(found: Opposition) -> Group:
    """The verdict and its probability in a line, and a line for each difference that decided."""
    from pair2vec.relations.opposed import UNSURE

    if found.verdict == UNSURE:
        return Group(Text(f"{UNSURE}: {found.reason}", "bold"))
    differences = map(_difference_line, found.differences)
    reasons = [*differences] or [found.reason]
    verdict = Text(f"{found.verdict}, {percent(found.probability)}", "bold")
    return Group(verdict, *(Text(f"  {reason}") for reason in reasons))


def _difference_line(difference: Difference) -> str:
    """As in: enable / disable: opposite, 95 %."""
    words = " / ".join(filter(None, (difference.a, difference.b)))
    return f"{words}: {difference.kind}, {percent(difference.probability)}"


def _compare_lines(model: Pair2vec, rows: list[list[str]]) -> Iterator[LineAnswer]:
    """The verdict on each pair, as columns with tabs between."""
    pairs = [(a, b) for a, b in rows]
    for (a, b), found in zip(pairs, model.opposed_many(pairs), strict=True):
        columns = (found.verdict, percent(found.probability), a, b, found.reason)
        yield LineAnswer(
            query_record("opposed", model, a=a, b=b), found.as_json(), "\t".join(columns)
        )

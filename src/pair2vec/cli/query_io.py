"""Input and output of the query commands: one query or many, tables or JSON, files of words."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import typer
from rich import box
from rich.bar import Bar
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from pair2vec.cli.messages import json_text, print_json, print_result, print_text, say
from pair2vec.cli.options import check_choice
from pair2vec.errors import InputError, Pair2vecError, UsageError

if TYPE_CHECKING:
    from io import BufferedReader

    from pair2vec.api import DirectedPair, Pair2vec
    from pair2vec.query.composition import ComposedWord
    from pair2vec.query.search import (
        Match,
        PairMatch,
        PatternMatch,
        RelationMatch,
        SlotWeights,
    )
    from pair2vec.text.vocabulary import Vocabulary


STDIN = "-"
PATTERN = "PATTERN"
"""The field of a query that is not a word."""

FIT = "score: above 0, the model predicts an observed triple rather than a sampled one"
"""Caption: the score of a pair in a pattern, a logit."""

_BAR_WIDTH = 20
_BYTES_AT_ONCE = 1 << 20
_FIRST_NUMBERS = 5


class CommandAnswer(NamedTuple):
    """What is printed: query and result as JSON, or the table."""

    query: dict[str, object]
    result: dict[str, object]
    table: RenderableType


@dataclass(frozen=True)
class QueryFormat:
    """The fields of a query, as arguments or on a line of standard input."""

    fields: tuple[str, ...]
    separator: str | None = None
    """Between the fields of a line; None is a tab, or any white space where no field is a phrase.
    """
    vocabulary: Vocabulary | None = None
    """The words of a line must be in it; None composes what the model can."""

    def check(self, values: list[str], between: str = " ") -> None:
        if len(values) != len(self.fields):
            raise UsageError(f"expected {between.join(self.fields)}, got {between.join(values)!r}")

    def parse(self, line: bytes) -> list[str]:
        try:
            text = line.decode().rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise InputError(f"is not UTF-8 at byte {error.start + 1}") from error
        values = split_fields(text, len(self.fields), self.separator)
        self.check(values, between="<tab>" if self.separator else " ")
        values = [value.strip() for value in values]
        self._check_words(values)
        return values

    def _check_words(self, values: list[str]) -> None:
        from pair2vec.text.vocabulary import look_up_word

        for field, value in zip(self.fields, values, strict=True):
            if self.vocabulary is not None and field != PATTERN and value:
                look_up_word(value, self.vocabulary)


def split_fields(text: str, count: int, separator: str | None = None) -> list[str]:
    """The fields of a line, `count` if it has so many; see `QueryFormat.separator`."""
    if separator is not None:
        return text.split(separator)
    if count == 1:
        return [text.strip()]
    by_tab = text.strip().split("\t")
    return by_tab if len(by_tab) == count else text.split()


def open_model(
    name: str | Path | None, whitening: float | None = None, vectors: Path | None = None
) -> Pair2vec:
    from pair2vec.api import load

    if vectors is not None and not vectors.is_file():
        raise UsageError(f"--vectors {vectors}: no such file")
    return load(name, whitening=whitening, vectors=vectors)


def query_record(command: str, model: Pair2vec, **options: object) -> dict[str, object]:
    """A query as JSON, without the options that were not given."""
    present = {
        name: str(value) if isinstance(value, Path) else value
        for name, value in options.items()
        if value is not None
    }
    return {"command": command, "model": str(model.saved.folder), **present}


def ranked(
    query: dict[str, object], ranking: RankingTable, composed: Sequence[ComposedWord] = ()
) -> CommandAnswer:
    """The answer of a query whose result is a ranking; some words of it may be composed."""
    from pair2vec.query.composition import composed_json

    matches = [match._asdict() for match in ranking.matches]
    return CommandAnswer(query, {"matches": matches, **composed_json(composed)}, ranking)


def known_words(model: Pair2vec, unknown: str, *others: str) -> Vocabulary | None:
    """What the words of queries on standard input have to be in: None under "compose".

    Args:
        model: Its vocabulary.
        unknown: The value of --unknown.
        others: The values it may have but for "error" and "compose".
    """
    choice = check_choice("--unknown", unknown, ("error", *others, "compose"))
    return None if choice == "compose" else model.vocabulary


def answer_query(
    arguments: Sequence[str | None],
    query_format: QueryFormat,
    answer: Callable[..., CommandAnswer],
    *,
    as_json: bool,
) -> None:
    """Answer the query in the arguments, or with ``-`` those on standard input."""
    values = [argument for argument in arguments if argument is not None]
    if values == [STDIN]:
        answer_stdin(query_format, answer, as_json=as_json)
    else:
        query_format.check(values)
        print_answer(answer(*values), as_json=as_json)


def answer_stdin(
    query_format: QueryFormat, answer: Callable[..., CommandAnswer], *, as_json: bool
) -> None:
    """Answer the queries on standard input, each as soon as its line is read.

    An error is reported for its line, and the other lines are still answered.
    """
    failed = False
    for number, line in enumerate(sys.stdin.buffer, start=1):
        if not line.strip():
            continue
        try:
            print_answer(answer(*query_format.parse(line)), as_json=as_json, line=number)
        except Pair2vecError as error:
            failed = True
            if as_json:
                print_json({"line": number, "error": str(error)})
            else:
                say(f"line {number}: {error}")
    if failed:
        raise typer.Exit(1)


class LineAnswer(NamedTuple):
    """What is printed for one of many lines: query and result as JSON, or the text."""

    query: dict[str, object]
    result: dict[str, object]
    text: str


def answer_stdin_in_batches(
    query_format: QueryFormat,
    answer_many: Callable[[list[list[str]]], Iterable[LineAnswer | Pair2vecError]],
    *,
    as_json: bool,
) -> None:
    """As `answer_stdin`, but all lines that can be read at once are answered together."""
    failed = False
    for lines in _available_lines():
        parsed = {number: _parsed(query_format, line) for number, line in lines if line.strip()}
        answers = iter(answer_many([row for row in parsed.values() if isinstance(row, list)]))
        printed = []
        for number, row in parsed.items():
            answer = next(answers) if isinstance(row, list) else row
            if isinstance(answer, LineAnswer):
                content = {"line": number, "query": answer.query, **answer.result}
                printed.append(json_text(content) if as_json else answer.text)
                continue
            failed = True
            if as_json:
                printed.append(json_text({"line": number, "error": str(answer)}))
            else:
                say(f"line {number}: {answer}")
        if printed:
            print_text(*printed)
    if failed:
        raise typer.Exit(1)


def _available_lines() -> Iterator[list[tuple[int, bytes]]]:
    """The lines of standard input with their numbers, as many as can be read without waiting."""
    stream = cast("BufferedReader", sys.stdin.buffer)
    done, rest = 0, b""
    while chunk := stream.read1(_BYTES_AT_ONCE):
        *lines, rest = (rest + chunk).split(b"\n")
        yield list(enumerate(lines, start=done + 1))
        done += len(lines)
    yield [(done + 1, rest)]


def _parsed(query_format: QueryFormat, line: bytes) -> list[str] | Pair2vecError:
    try:
        return query_format.parse(line)
    except Pair2vecError as error:
        return error


def print_answer(answer: CommandAnswer, *, as_json: bool, line: int | None = None) -> None:
    """`line` is that of the query on standard input."""
    number = {} if line is None else {"line": line}
    content = {**number, "query": answer.query, **answer.result}
    print_result(content, answer.table, as_json=as_json)


def check_stdin_once(query: str, *files: Path | None) -> None:
    """Either the queries or one list of words can come from standard input."""
    if [query, *map(str, files)].count(STDIN) > 1:
        raise UsageError("- is given twice, and standard input can be read only once; name a file")


def fit_caption(weights: SlotWeights) -> str:
    """Caption: the score of a word in a slot, by what counts in it."""
    similarity, prior = weights
    parts = [
        *([f"{similarity:g} · cosine similarity of the words"] if similarity else []),
        *([f"{prior:g} · log of the word's share of the corpus"] if prior else []),
    ]
    return " + ".join(["score: fit", *parts]) if parts else FIT


class RankingTable:
    """Words, pairs or patterns, the best first: with bars on a terminal, else plain columns."""

    def __init__(
        self,
        title: str,
        matches: Sequence[Match | PairMatch | PatternMatch | RelationMatch],
        caption: str = "",
    ) -> None:
        self._title = title
        self.matches = matches
        self._caption = caption

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # Not as the table's own title and caption, which it would wrap to its narrow width.
        yield Text(self._title, style="bold")
        if self.matches:
            yield self._table(with_bars=options.is_terminal)
        else:
            yield Text("nothing to choose from")
        if self._caption:
            yield Text(self._caption, style="dim")

    def _table(self, *, with_bars: bool) -> Table:
        table = Table(box=box.SIMPLE_HEAD if with_bars else None)
        table.add_column("rank", justify="right")
        for name in self.matches[0]._fields[:-1]:
            table.add_column(name, overflow="fold")
        table.add_column("score", justify="right", no_wrap=True)
        highest = self.matches[0].score
        for rank, match in enumerate(self.matches, start=1):
            bar = [Bar(highest, 0, match.score, width=_BAR_WIDTH)] if with_bars else []
            cells = [Text(str(part)) for part in match[:-1]]
            table.add_row(str(rank), *cells, f"{match.score:.3f}", *bar)
        return table


def pair_table(directions: Sequence[DirectedPair], *, whole: bool = False) -> RenderableType:
    """Vectors and patterns of a pair, in one direction or both; `whole` shows all numbers."""
    table = Table(box=None)
    for name in ("relation", "norm", f"unit vector, {len(directions[0].vector)} numbers"):
        table.add_column(name, overflow="fold")
    for pair in directions:
        numbers = _numbers(pair.vector, len(pair.vector) if whole else _FIRST_NUMBERS)
        table.add_row(Text(f"{pair.x} → {pair.y}"), f"{pair.norm:.3f}", numbers)
    rankings = [
        RankingTable(f"Patterns with X = {pair.x}, Y = {pair.y}", pair.patterns)
        for pair in directions
        if pair.patterns is not None
    ]
    return Group(table, *rankings, *([Text(FIT, style="dim")] if rankings else []))


def _numbers(values: Sequence[float], limit: int) -> str:
    shown = " ".join(f"{value:.4f}" for value in values[:limit])
    return shown if len(values) <= limit else f"{shown} …"


class _Row(NamedTuple):
    location: str
    """As in "FILE, line N"."""
    words: list[str]


def read_words(path: Path | None, vocabulary: Vocabulary, unknown: str) -> list[str] | None:
    """The words of a file, one a line; None without a file.

    Args:
        path: ``-`` is standard input.
        vocabulary: Of the model.
        unknown: "skip" leaves out-of-vocabulary words out and counts them, others refuse them:
            answers are words of the vocabulary.
    """
    if path is None:
        return None
    rows = [_Row(location, [line]) for location, line in read_lines(path).items()]
    return [word for (word,) in _known_rows(path, rows, vocabulary, unknown)]


def read_pairs(
    path: Path | None, vocabulary: Vocabulary, unknown: str
) -> list[tuple[str, str]] | None:
    """The pairs of a file, one a line, with a tab or white space between; as `read_words`."""
    if path is None:
        return None
    rows = []
    for location, line in read_lines(path).items():
        words = split_fields(line, 2)
        if len(words) != 2:
            raise InputError(f"{location}: expected two words with a tab or white space between")
        rows.append(_Row(location, words))
    return [(x, y) for x, y in _known_rows(path, rows, vocabulary, unknown)]


def read_lines(path: Path) -> dict[str, str]:
    """The lines that are not blank, by "FILE, line N"; ``-`` is standard input."""
    if str(path) != STDIN and not path.is_file():
        raise UsageError(f"{path}: no such file")
    content = sys.stdin.buffer.read() if str(path) == STDIN else path.read_bytes()
    try:
        lines = content.decode().split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 at byte {error.start + 1:,}") from error
    numbered = enumerate(map(str.strip, lines), start=1)
    return {f"{path}, line {number}": line for number, line in numbered if line}


def _known_rows(
    path: Path, rows: list[_Row], vocabulary: Vocabulary, unknown: str
) -> list[list[str]]:
    """The rows of which all words are known."""
    check_choice("--unknown", unknown, ("error", "skip", "compose"))
    if unknown != "skip":
        for row in rows:
            _check_known(row, vocabulary)
    known = [row.words for row in rows if _are_known(row.words, vocabulary)]
    if len(known) < len(rows):
        say(f"{path}: {len(rows) - len(known):,} of {len(rows):,} lines left out as unknown")
    if not known:
        raise InputError(f"{path}: has nothing to choose from")
    return known


def _check_known(row: _Row, vocabulary: Vocabulary) -> None:
    from pair2vec.text.vocabulary import look_up_word

    try:
        for word in row.words:
            look_up_word(word, vocabulary)
    except UsageError as error:
        raise InputError(f"{row.location}: {error} (--unknown skip leaves it out)") from error


def _are_known(words: list[str], vocabulary: Vocabulary) -> bool:
    # Not by `look_up_word`, which takes long to suggest words of similar spelling.
    from pair2vec.text.vocabulary import is_known_word

    return all(is_known_word(word, vocabulary) for word in words)

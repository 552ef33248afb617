"""A model's answers: tables with bars on a terminal, plain columns elsewhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer
from rich import box
from rich.bar import Bar
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from pair2vec.cli.messages import say
from pair2vec.errors import InputError, Pair2vecError, UsageError

if TYPE_CHECKING:
    from pair2vec.api import DirectedPair, Pair2vec
    from pair2vec.query.search import Match, PairMatch, PatternMatch, RelationMatch
    from pair2vec.text.vocabulary import Vocabulary


FIT = "score: above 0, the model takes it for seen in a text rather than made up"
"""What the score of words in a pattern means."""

_BAR_WIDTH = 20
_FIRST_NUMBERS = 5


def fit_caption(prior: float) -> str:
    """What the score of words for a slot means, with their frequency or without."""
    if not prior:
        return FIT
    return f"score: fit + {prior:g} · log of the word's share of the corpus"


class RankingTable:
    """Words, pairs or patterns, the best first."""

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
            named = [Text(str(part)) for part in match[:-1]]
            table.add_row(str(rank), *named, f"{match.score:.3f}", *bar)
        return table


def pair_table(directions: Sequence[DirectedPair], *, whole: bool = False) -> RenderableType:
    """What is known of a pair, in one direction or both.

    Args:
        directions: The one or the two.
        whole: Show all numbers of the vectors.
    """
    table = Table(box=None)
    for name in ("relation", "length", f"direction, {len(directions[0].vector)} numbers"):
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


def score_line(x: str, y: str, pattern: str, score: float) -> Text:
    """How well a pair fits a pattern."""
    return Text(f"{score:8.3f}  {x}, {y} in “{pattern}”")


def _numbers(values: Sequence[float], most: int) -> str:
    shown = " ".join(f"{value:.4f}" for value in values[:most])
    return shown if len(values) <= most else f"{shown} …"


# == Questions to a model: one on the command line, or many on standard input.


STDIN = "-"


class CommandAnswer(NamedTuple):
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


def query_record(command: str, model: Pair2vec, **asked: object) -> dict[str, object]:
    """A question as JSON; what was not given is left out."""
    given = {
        name: str(value) if isinstance(value, Path) else value
        for name, value in asked.items()
        if value is not None
    }
    return {"command": command, "model": str(model.saved.folder), **given}


def ranked(query: dict[str, object], ranking: RankingTable) -> CommandAnswer:
    """The answer that is a list of the best."""
    return CommandAnswer(
        query, {"matches": [match._asdict() for match in ranking.matches]}, ranking
    )


def answer_question(
    given: Sequence[str | None], form: Form, ask: Callable[..., CommandAnswer], *, as_json: bool
) -> None:
    """Answer the question given, or with ``-`` those on standard input."""
    parts = [part for part in given if part is not None]
    if parts == [STDIN]:
        answer_lines(form, ask, as_json=as_json)
    else:
        form.check(parts)
        show(ask(*parts), as_json=as_json)


def answer_lines(form: Form, ask: Callable[..., CommandAnswer], *, as_json: bool) -> None:
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


def show(answer: CommandAnswer, *, as_json: bool, line: int | None = None) -> None:
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
    if names.count(STDIN) > 1:
        raise UsageError("- is given twice, and standard input can be read only once; name a file")


# == Files of words or pairs to choose from.


_POLICIES = ("error", "skip")


class _Row(NamedTuple):
    place: str
    words: list[str]


def read_words(path: Path, vocabulary: Vocabulary, unknown: str) -> list[str]:
    """The words of a file, one a line.

    Args:
        path: ``-`` is standard input.
        vocabulary: Of the model.
        unknown: "error" refuses what is not in it, "skip" leaves it out and says how much.
    """
    rows = [_Row(place, [line]) for place, line in lines_of(path).items()]
    return [word for (word,) in _known(path, rows, vocabulary, unknown)]


def read_pairs(path: Path, vocabulary: Vocabulary, unknown: str) -> list[tuple[str, str]]:
    """The pairs of a file, one a line, with a tab or white space between the words.

    Args:
        path: ``-`` is standard input.
        vocabulary: Of the model.
        unknown: "error" refuses what is not in it, "skip" leaves it out and says how much.
    """
    rows = []
    for place, line in lines_of(path).items():
        words = line.split("\t" if "\t" in line else None)
        if len(words) != 2:
            raise InputError(f"{place}: expected two words with a tab or white space between")
        rows.append(_Row(place, words))
    return [(x, y) for x, y in _known(path, rows, vocabulary, unknown)]


def lines_of(path: Path) -> dict[str, str]:
    """By their place, the lines that are not blank."""
    if str(path) != STDIN and not path.is_file():
        raise UsageError(f"{path}: no such file")
    content = sys.stdin.buffer.read() if str(path) == STDIN else path.read_bytes()
    try:
        lines = content.decode().split("\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 at byte {error.start + 1:,}") from error
    numbered = enumerate(map(str.strip, lines), start=1)
    return {f"{path}, line {number}": line for number, line in numbered if line}


def _known(path: Path, rows: list[_Row], vocabulary: Vocabulary, unknown: str) -> list[list[str]]:
    """The rows of known words, and no others if `unknown` allows for others."""
    if unknown not in _POLICIES:
        raise UsageError(f"--unknown {unknown}: it must be one of {', '.join(_POLICIES)}")
    if unknown == "error":
        for row in rows:
            _check(row, vocabulary)
    known = [row.words for row in rows if _is_known(row.words, vocabulary)]
    if len(known) < len(rows):
        say(f"{path}: {len(rows) - len(known):,} of {len(rows):,} lines left out as unknown")
    if not known:
        raise InputError(f"{path}: has nothing to choose from")
    return known


def _check(row: _Row, vocabulary: Vocabulary) -> None:
    from pair2vec.text.vocabulary import find_typed

    try:
        for word in row.words:
            find_typed(word, vocabulary)
    except UsageError as error:
        raise InputError(f"{row.place}: {error} (--unknown skip leaves it out)") from error


def _is_known(words: list[str], vocabulary: Vocabulary) -> bool:
    # Not by `find_typed`, which looks long for words that are spelled alike.
    from pair2vec.text.sentences import tokenize

    tokens = [tokenize(word) for word in words]
    return all(len(parts) == 1 and parts[0] in vocabulary for parts in tokens)

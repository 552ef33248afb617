"""A model's answers: tables with bars on a terminal, plain columns elsewhere."""

from collections.abc import Sequence

from rich import box
from rich.bar import Bar
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from pair2vec.query import Match, PairMatch, PatternMatch, RelationMatch
from pair2vec.query.directed_pair import DirectedPair

FIT = "score: above 0, the model takes it for seen in a text rather than made up"
"""What the score of words in a pattern means."""

_BAR_WIDTH = 20
_FIRST_NUMBERS = 5


def fit_caption(prior: float) -> str:
    """What the score of words for a slot means, with their frequency or without."""
    if not prior:
        return FIT
    return f"score: fit + {prior:g} · log of the word's share of the corpus"


class Ranking:
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
        Ranking(f"Patterns with X = {pair.x}, Y = {pair.y}", pair.patterns)
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

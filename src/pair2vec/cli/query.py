"""Commands that ask a model; ``-`` for a question reads many from standard input."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from pair2vec.cli.messages import say
from pair2vec.cli.options import (
    AmongOption,
    DirectionOption,
    JsonOption,
    ModelOption,
    PriorOption,
    SearchOption,
    TopOption,
    UnknownOption,
    WhiteningOption,
)
from pair2vec.cli.questions import (
    STDIN,
    CommandAnswer,
    Form,
    answer_lines,
    answer_question,
    query_record,
    ranked,
    read_pairs,
    read_words,
    refuse_reading_twice,
    show,
)
from pair2vec.errors import UsageError

if TYPE_CHECKING:
    from pair2vec.query.analogies import Direction
    from pair2vec.query.search import Search


_FirstWord = Annotated[
    str,
    typer.Argument(
        help="A word; or - to read lines of x y from standard input.",
        show_default=False,
    ),
]
_SecondWord = Annotated[str | None, typer.Argument(help="A word.", show_default=False)]


def _direction(typed: str) -> Direction:
    """As typed, if it is one."""
    from pair2vec.query.analogies import roles

    direction = cast("Direction", typed)
    roles(direction)  # refuses any other
    return direction


def fill(  # noqa: PLR0913, PLR0917 - the options of a command
    patterns: Annotated[
        list[str],
        typer.Argument(
            metavar="PATTERN...",
            help="As in 'in X , Y .'; or - to read lines of pattern, tab, x, tab, y from standard "
            "input, with the word to find left empty.",
            show_default=False,
        ),
    ],
    x: Annotated[str | None, typer.Option(help="The word in slot X.")] = None,
    y: Annotated[str | None, typer.Option(help="The word in slot Y.")] = None,
    among: AmongOption = None,
    unknown: UnknownOption = "error",
    search: SearchOption = "exact",
    prior: PriorOption = 0.0,
    model: ModelOption = None,
    top: TopOption = 10,
    as_json: JsonOption = False,
) -> None:
    """Find the words that fit a pattern, or rank patterns for a pair.

    Give the word in one slot to find the other; or both, to rank the patterns.
    """
    from pair2vec.api import load
    from pair2vec.cli.questions import FIT, RankingTable, fit_caption
    from pair2vec.query.search import check_prior

    check_prior(prior)
    refuse_reading_twice(patterns[0], among)
    opened = load(model)
    candidates = read_words(among, opened.vocabulary, unknown) if among else None

    def find_words(pattern: str, x: str | None, y: str | None) -> CommandAnswer:
        options = {"prior": prior or None, "among": among, "top": top}
        query = query_record("fill", opened, pattern=pattern, x=x, y=y, **options)
        found = opened.fill(
            pattern,
            x=x,
            y=y,
            among=candidates,
            top=top,
            search=cast("Search", search),
            prior=prior,
        )
        given = f"X = {x}" if y is None else f"Y = {y}"
        return ranked(query, RankingTable(f"“{pattern}” with {given}", found, fit_caption(prior)))

    def rank_patterns(patterns: list[str], x: str, y: str) -> CommandAnswer:
        if among:
            raise UsageError("--among: both words are given, so there is none to choose")
        if prior:
            raise UsageError("--prior: both words are given, so there is none to weigh")
        query = query_record("fill", opened, patterns=patterns, x=x, y=y, top=top)
        found = opened.fill(patterns, x=x, y=y, top=top)
        return ranked(query, RankingTable(f"Patterns with X = {x}, Y = {y}", found, FIT))

    def ask(patterns: list[str], x: str | None, y: str | None) -> CommandAnswer:
        if x is not None and y is not None:
            return rank_patterns(patterns, x, y)
        if len(patterns) > 1:
            raise UsageError("several patterns are ranked for a pair: give both --x and --y")
        return find_words(patterns[0], x, y)

    def ask_line(pattern: str, x: str, y: str) -> CommandAnswer:
        return ask([pattern], x or None, y or None)

    if patterns != [STDIN]:
        show(ask(patterns, x, y), as_json=as_json)
    elif x is not None or y is not None:
        raise UsageError("--x, --y: with -, the words come from standard input, too")
    else:
        answer_lines(Form(("PATTERN", "X", "Y"), "\t"), ask_line, as_json=as_json)


def pair(
    x: _FirstWord,
    y: _SecondWord = None,
    direction: DirectionOption = "both",
    vector: Annotated[bool, typer.Option("--vector", help="Print the whole vector.")] = False,
    model: ModelOption = None,
    top: TopOption = 10,
    as_json: JsonOption = False,
) -> None:
    """Show the vector of two words, and the patterns that fit them best."""
    from pair2vec.api import DirectedPair, load
    from pair2vec.cli.questions import pair_table

    both = _direction(direction) == "both"
    asked = ["forward", "backward"] if both else [direction]
    opened = load(model)
    if not opened.patterns:
        say(f"{opened.saved.folder}: has no patterns to explain pairs by; rank some with 'fill'")

    def ask(x: str, y: str) -> CommandAnswer:
        pairs = {"forward": (x, y), "backward": (y, x)}
        shown = {name: DirectedPair.of(opened, *pairs[name], top=top) for name in asked}
        return CommandAnswer(
            query_record("pair", opened, x=x, y=y, direction=direction, top=top),
            {name: side.as_json() for name, side in shown.items()},
            pair_table(list(shown.values()), whole=vector),
        )

    answer_question((x, y), Form(("X", "Y")), ask, as_json=as_json)


def analogy(  # noqa: PLR0913, PLR0917 - the options of a command
    a: Annotated[
        str,
        typer.Argument(
            help="A word; or - to read lines of a b x from standard input.",
            show_default=False,
        ),
    ],
    b: Annotated[str | None, typer.Argument(help="What a goes with.", show_default=False)] = None,
    x: Annotated[
        str | None, typer.Argument(help="The word asked about.", show_default=False)
    ] = None,
    alpha: Annotated[
        float,
        typer.Option(min=0, max=1, help="The weight of the relation against the single words."),
    ] = 0.5,
    direction: DirectionOption = "both",
    whitening: WhiteningOption = None,
    among: AmongOption = None,
    unknown: UnknownOption = "error",
    search: SearchOption = "exact",
    model: ModelOption = None,
    top: TopOption = 10,
    as_json: JsonOption = False,
) -> None:
    """Find the words that are to x as b is to a."""
    from pair2vec.api import load
    from pair2vec.cli.questions import RankingTable

    refuse_reading_twice(a, among)
    toward = _direction(direction)
    opened = load(model, whitening=whitening)
    candidates = read_words(among, opened.vocabulary, unknown) if among else None
    caption = (
        f"score: {alpha:g} · likeness of the relations + {1 - alpha:g} · likeness of the words"
    )

    def ask(a: str, b: str, x: str) -> CommandAnswer:
        manner = {"alpha": alpha, "direction": direction, "whitening": whitening}
        options = {**manner, "among": among, "top": top}
        found = opened.analogy(
            a,
            b,
            x,
            alpha=alpha,
            direction=toward,
            top=top,
            among=candidates,
            search=cast("Search", search),
        )
        query = query_record("analogy", opened, a=a, b=b, x=x, **options)
        return ranked(query, RankingTable(f"{a} is to {b} as {x} is to …", found, caption))

    answer_question((a, b, x), Form(("A", "B", "X")), ask, as_json=as_json)


def nearest(  # noqa: PLR0913, PLR0917 - the options of a command
    x: _FirstWord,
    y: _SecondWord = None,
    among: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Choose from these pairs, one a line; - is standard input.",
            show_default="found by a search",
        ),
    ] = None,
    among_words: Annotated[
        Path | None,
        typer.Option(
            "--words", metavar="FILE", help="Choose from all pairs of these words, one a line."
        ),
    ] = None,
    direction: DirectionOption = "both",
    whitening: WhiteningOption = None,
    unknown: UnknownOption = "error",
    model: ModelOption = None,
    top: TopOption = 10,
    as_json: JsonOption = False,
) -> None:
    """Find pairs in the same relation as x and y."""
    from pair2vec.api import load
    from pair2vec.cli.questions import RankingTable

    if among and among_words:
        raise UsageError("--among, --words: give pairs to choose from, or words, not both")
    refuse_reading_twice(x, among, among_words)
    toward = _direction(direction)
    opened = load(model, whitening=whitening)
    pairs = read_pairs(among, opened.vocabulary, unknown) if among else None
    singles = read_words(among_words, opened.vocabulary, unknown) if among_words else None

    def ask(x: str, y: str) -> CommandAnswer:
        choice = {"among": among, "words": among_words}
        options = {"direction": direction, "whitening": whitening, **choice, "top": top}
        found = opened.nearest(x, y, among=pairs, words=singles, direction=toward, top=top)
        query = query_record("nearest", opened, x=x, y=y, **options)
        title, caption = f"Pairs related as {x} and {y}", "score: the cosine of the pairs' vectors"
        return ranked(query, RankingTable(title, found, caption))

    answer_question((x, y), Form(("X", "Y")), ask, as_json=as_json)


def score_command(
    x: Annotated[
        str,
        typer.Argument(
            help="A word; or - to read lines of x, tab, y, tab, pattern from standard input.",
            show_default=False,
        ),
    ],
    y: _SecondWord = None,
    pattern: Annotated[
        str | None,
        typer.Argument(help="As in 'neither X nor Y'.", show_default=False),
    ] = None,
    model: ModelOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say how well two words fit a pattern."""
    from pair2vec.api import load
    from pair2vec.cli.questions import score_line

    opened = load(model)

    def ask(x: str, y: str, pattern: str) -> CommandAnswer:
        found = opened.score(x, y, pattern)
        query = query_record("score", opened, x=x, y=y, pattern=pattern)
        return CommandAnswer(query, {"score": found}, score_line(x, y, pattern, found))

    answer_question((x, y, pattern), Form(("X", "Y", "PATTERN"), "\t"), ask, as_json=as_json)

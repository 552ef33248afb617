"""The query commands; ``-`` as the query reads many from standard input."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer
from rich.text import Text

from pair2vec.cli.messages import say
from pair2vec.cli.options import (
    AllWordsOption,
    AmongOption,
    DirectionOption,
    JsonOption,
    ModelOption,
    PaperOption,
    PriorOption,
    RelationsOption,
    SearchOption,
    TopOption,
    UnknownOption,
    UnknownWordOption,
    VectorsOption,
    WhiteningOption,
    argument,
    check_choice,
    complete_relation,
)
from pair2vec.cli.query_io import (
    FIT,
    PATTERN,
    STDIN,
    CommandAnswer,
    QueryFormat,
    RankingTable,
    answer_query,
    answer_stdin,
    check_stdin_once,
    fit_caption,
    known_words,
    open_model,
    pair_table,
    print_answer,
    query_record,
    ranked,
    read_pairs,
    read_words,
)
from pair2vec.errors import UsageError

if TYPE_CHECKING:
    from pair2vec.query.pair_encoder import Direction
    from pair2vec.query.search import Search
    from pair2vec.query.space import UnknownWord


_FirstWord = Annotated[
    str, argument(help="A word or phrase; or - to read lines of x y from standard input.")
]
_SecondWord = Annotated[str | None, argument(help="A word.")]


def fill(  # noqa: PLR0913, PLR0917 - the options of a command
    patterns: Annotated[
        list[str],
        argument(
            help="As in 'in X , Y .'; or - to read lines of pattern, tab, x, tab, y from standard "
            "input, with the word to find left empty.",
            metavar="PATTERN...",
        ),
    ],
    x: Annotated[str | None, typer.Option(help="The word in slot X.")] = None,
    y: Annotated[str | None, typer.Option(help="The word in slot Y.")] = None,
    among: AmongOption = None,
    unknown: UnknownOption = "error",
    search: SearchOption = "exact",
    paper: PaperOption = False,
    prior: PriorOption = None,
    all_words: AllWordsOption = False,
    vectors: VectorsOption = None,
    model: ModelOption = None,
    top: TopOption = 10,
    as_json: JsonOption = False,
) -> None:
    """Find the words that fit a pattern, or rank patterns for a pair.

    Give the word in one slot to find the other; or both, to rank the patterns.
    """
    from pair2vec.query.search import slot_weights

    weights = slot_weights(paper=paper, prior=prior)
    check_stdin_once(patterns[0], among)
    opened = open_model(model, vectors=vectors)
    known = known_words(opened, unknown, "skip")
    candidates = read_words(among, opened.vocabulary, unknown)

    def find_words(pattern: str, x: str | None, y: str | None) -> CommandAnswer:
        options = {"all_words": all_words or None, "among": among, "top": top}
        query = query_record(
            "fill", opened, pattern=pattern, x=x, y=y, **weights._asdict(), **options
        )
        asked = opened.nearest_question(pattern, x=x, y=y)
        matches = opened.fill(
            asked.pattern,
            x=asked.x,
            y=asked.y,
            among=candidates,
            top=top,
            search=cast("Search", search),
            weights=weights,
            all_words=all_words,
        )
        slot = f"X = {x}" if y is None else f"Y = {y}"
        lines = [f"“{pattern}” with {slot}", *([str(asked)] if asked.reason else [])]
        table = RankingTable("\n".join(lines), matches, fit_caption(weights))
        answer = ranked(query, table, opened.composed(x or y or ""))
        return answer._replace(result={**asked.as_json(), **answer.result})

    def rank_patterns(patterns: list[str], x: str, y: str) -> CommandAnswer:
        if among:
            raise UsageError("--among: both words are given, so there is none to choose")
        if prior is not None:
            raise UsageError("--prior: both words are given, so there is none to weigh")
        query = query_record("fill", opened, patterns=patterns, x=x, y=y, top=top)
        matches = opened.fill(patterns, x=x, y=y, top=top)
        table = RankingTable(f"Patterns with X = {x}, Y = {y}", matches, FIT)
        return ranked(query, table, opened.composed(x, y))

    def answer(patterns: list[str], x: str | None, y: str | None) -> CommandAnswer:
        if x is not None and y is not None:
            return rank_patterns(patterns, x, y)
        if len(patterns) > 1:
            raise UsageError("several patterns are ranked for a pair: give both --x and --y")
        return find_words(patterns[0], x, y)

    def answer_line(pattern: str, x: str, y: str) -> CommandAnswer:
        return answer([pattern], x or None, y or None)

    if patterns != [STDIN]:
        print_answer(answer(patterns, x, y), as_json=as_json)
    elif x is not None or y is not None:
        raise UsageError("--x, --y: with -, the words come from standard input, too")
    else:
        answer_stdin(QueryFormat((PATTERN, "X", "Y"), "\t", known), answer_line, as_json=as_json)


def pair(  # noqa: PLR0913, PLR0917 - the options of a command
    x: _FirstWord,
    y: _SecondWord = None,
    direction: DirectionOption = "both",
    vector: Annotated[bool, typer.Option("--vector", help="Print the whole vector.")] = False,
    unknown: UnknownWordOption = "error",
    vectors: VectorsOption = None,
    model: ModelOption = None,
    top: TopOption = 10,
    as_json: JsonOption = False,
) -> None:
    """Show the vector of two words, and the patterns that fit them best."""
    from pair2vec.api import DirectedPair
    from pair2vec.query.composition import composed_json

    both = _check_direction(direction) == "both"
    directions = ["forward", "backward"] if both else [direction]
    opened = open_model(model, vectors=vectors)
    known = known_words(opened, unknown)
    if not opened.patterns:
        say(f"{opened.saved.folder}: has no patterns to explain pairs by; rank some with 'fill'")

    def answer(x: str, y: str) -> CommandAnswer:
        pairs = {"forward": (x, y), "backward": (y, x)}
        directed = {
            name: DirectedPair.from_model(opened, *pairs[name], top=top) for name in directions
        }
        return CommandAnswer(
            query_record("pair", opened, x=x, y=y, direction=direction, top=top),
            {name: one_way.as_json() for name, one_way in directed.items()}
            | composed_json(opened.composed(x, y)),
            pair_table(list(directed.values()), whole=vector),
        )

    answer_query((x, y), QueryFormat(("X", "Y"), vocabulary=known), answer, as_json=as_json)


def analogy(  # noqa: PLR0913, PLR0917 - the options of a command
    a: Annotated[str, argument(help="A word; or - to read lines of a b x from standard input.")],
    b: Annotated[str | None, argument(help="What a goes with.")] = None,
    x: Annotated[str | None, argument(help="The word to find the partner of.")] = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="The weight of the relation against the single words.",
            show_default="0.5; 0.4 where a word is composed",
        ),
    ] = None,
    direction: DirectionOption = "both",
    whitening: WhiteningOption = None,
    among: AmongOption = None,
    unknown: UnknownOption = "error",
    search: SearchOption = "exact",
    all_words: AllWordsOption = False,
    vectors: VectorsOption = None,
    model: ModelOption = None,
    top: TopOption = 10,
    as_json: JsonOption = False,
) -> None:
    """Find the words that are to x as b is to a."""
    from pair2vec.query.search import analogy_alpha

    check_stdin_once(a, among)
    checked_direction = _check_direction(direction)
    opened = open_model(model, whitening, vectors)
    known = known_words(opened, unknown, "skip")
    candidates = read_words(among, opened.vocabulary, unknown)

    def answer(a: str, b: str, x: str) -> CommandAnswer:
        matches = opened.analogy(
            a,
            b,
            x,
            alpha=alpha,
            direction=checked_direction,
            top=top,
            among=candidates,
            search=cast("Search", search),
            all_words=all_words,
        )
        composed = opened.composed(a, b, x)
        weight = analogy_alpha(alpha, composed=bool(composed))
        caption = (
            f"score: {weight:g} · cosine similarity of the pairs + {1 - weight:g} · that of the "
            "words"
        )
        scoring = {"alpha": weight, "direction": direction, "whitening": whitening}
        choice = {"all_words": all_words or None, "among": among}
        query = query_record("analogy", opened, a=a, b=b, x=x, **scoring, **choice, top=top)
        table = RankingTable(f"{a} is to {b} as {x} is to …", matches, caption)
        return ranked(query, table, composed)

    line = QueryFormat(("A", "B", "X"), vocabulary=known)
    answer_query((a, b, x), line, answer, as_json=as_json)


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
    alpha: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help="The weight of the pair vectors against the offsets of the words; 1 is the "
            "paper's.",
        ),
    ] = 0.8,
    direction: DirectionOption = "both",
    whitening: WhiteningOption = None,
    unknown: UnknownOption = "error",
    all_words: AllWordsOption = False,
    vectors: VectorsOption = None,
    model: ModelOption = None,
    top: TopOption = 10,
    as_json: JsonOption = False,
) -> None:
    """Find pairs in the same relation as x and y."""
    if among and among_words:
        raise UsageError("--among, --words: give pairs to choose from, or words, not both")
    check_stdin_once(x, among, among_words)
    checked_direction = _check_direction(direction)
    opened = open_model(model, whitening, vectors)
    known = known_words(opened, unknown, "skip")
    pairs = read_pairs(among, opened.vocabulary, unknown)
    words = read_words(among_words, opened.vocabulary, unknown)

    def answer(x: str, y: str) -> CommandAnswer:
        matches = opened.nearest(
            x,
            y,
            among=pairs,
            words=words,
            alpha=alpha,
            direction=checked_direction,
            top=top,
            all_words=all_words,
        )
        scoring = {"alpha": alpha, "direction": direction, "whitening": whitening}
        choice = {"all_words": all_words or None, "among": among, "words": among_words}
        query = query_record("nearest", opened, x=x, y=y, **scoring, **choice, top=top)
        caption = (
            f"score: {alpha:g} · cosine similarity of the pairs + {1 - alpha:.3g} · that of the "
            "words' offsets"
        )
        table = RankingTable(f"Pairs related as {x} and {y}", matches, caption)
        return ranked(query, table, opened.composed(x, y))

    answer_query((x, y), QueryFormat(("X", "Y"), vocabulary=known), answer, as_json=as_json)


def neighbours(  # noqa: PLR0913, PLR0917 - the options of a command
    word: Annotated[
        str, argument(help="A word; or - to read words from standard input, one a line.")
    ],
    relation: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            autocompletion=complete_relation,
            help="As in antonym, hypernym, part, located-in.",
            show_default="any, and named",
        ),
    ] = None,
    relations: RelationsOption = None,
    unrelated: Annotated[
        float,
        typer.Option(help="The share of pairs to expect without a relation, between 0 and 1."),
    ] = 0.5,
    among: AmongOption = None,
    unknown: UnknownOption = "error",
    all_words: AllWordsOption = False,
    vectors: VectorsOption = None,
    model: ModelOption = None,
    top: TopOption = 10,
    as_json: JsonOption = False,
) -> None:
    """Find the words that are in a relation to a word."""
    check_stdin_once(word, among)
    opened = open_model(model, vectors=vectors)
    known = known_words(opened, unknown, "skip")
    predictor = opened.relations(relations)
    candidates = read_words(among, opened.vocabulary, unknown)
    caption = f"score: the probability, where {unrelated:.0%} of such pairs have no relation"

    def answer(word: str) -> CommandAnswer:
        options = {
            "relations": relations,
            "unrelated": unrelated,
            "all_words": all_words or None,
            "among": among,
            "top": top,
        }
        query = query_record("neighbours", opened, word=word, relation=relation, **options)
        if relation is None:
            typed = predictor.typed_neighbours(
                word, top=top, among=candidates, unrelated=unrelated, all_words=all_words
            )
            table = RankingTable(f"Words related to {word}", typed, caption)
            return ranked(query, table, opened.composed(word))
        matches = predictor.neighbours(
            word, relation, top=top, among=candidates, unrelated=unrelated, all_words=all_words
        )
        definition = predictor.definition(relation)
        meaning = f": {definition.definition}" if definition.definition else ""
        order = "; near words first" if definition.symmetric else ""
        title = f"{relation} of {word}{meaning}"
        return ranked(query, RankingTable(title, matches, caption + order), opened.composed(word))

    answer_query((word,), QueryFormat(("WORD",), vocabulary=known), answer, as_json=as_json)


def score_command(
    x: Annotated[
        str,
        argument(help="A word; or - to read lines of x, tab, y, tab, pattern from standard input."),
    ],
    y: _SecondWord = None,
    pattern: Annotated[str | None, argument(help="As in 'neither X nor Y'.")] = None,
    unknown: Annotated[
        str,
        typer.Option("--unknown", help="What to do with unknown words: error or compose."),
    ] = "error",
    vectors: VectorsOption = None,
    model: ModelOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say how well two words fit a pattern."""
    from pair2vec.query.composition import composed_json

    opened = open_model(model, vectors=vectors)
    known_words(opened, unknown)

    def answer(x: str, y: str, pattern: str) -> CommandAnswer:
        score = opened.score(x, y, pattern, unknown=cast("UnknownWord", unknown))
        query = query_record("score", opened, x=x, y=y, pattern=pattern)
        result = {"score": score, **composed_json(opened.composed(x, y))}
        return CommandAnswer(query, result, Text(f"{score:8.3f}  {x}, {y} in “{pattern}”"))

    answer_query((x, y, pattern), QueryFormat(("X", "Y", PATTERN), "\t"), answer, as_json=as_json)


def _check_direction(name: str) -> Direction:
    from pair2vec.query.pair_encoder import Direction

    direction: Direction = check_choice("--direction", name, get_args(Direction))
    return direction

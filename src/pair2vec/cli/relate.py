"""``pair2vec relate``: which relation holds between two words, and what speaks for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from pair2vec.cli.messages import say, show_count
from pair2vec.cli.options import (
    JsonOption,
    ModelOption,
    RelationsOption,
    UnknownWordOption,
    VectorsOption,
    argument,
)
from pair2vec.cli.query_io import (
    FIT,
    STDIN,
    CommandAnswer,
    LineAnswer,
    QueryFormat,
    RankingTable,
    answer_query,
    answer_stdin_in_batches,
    known_words,
    open_model,
    query_record,
)
from pair2vec.errors import Pair2vecError, UsageError
from pair2vec.rendering import LEAST_SHOWN, percent

if TYPE_CHECKING:
    from pair2vec.api import Pair2vec
    from pair2vec.query.space import Unknown
    from pair2vec.relations.relate import Relation
    from pair2vec.relations.relations import Relations

_FORMAT = QueryFormat(("X", "Y"))
_SENTENCES = 3
_LIKE = "score: the probability of the relation · the cosine similarity of the pairs"


def relate(  # noqa: PLR0913, PLR0917 - the options of a command
    x: Annotated[str, argument(help="A word; or - to read lines of x y from standard input.")],
    y: Annotated[str | None, argument(help="A word.")] = None,
    relations: RelationsOption = None,
    unrelated: Annotated[
        float | None,
        typer.Option(
            help="The share of pairs to expect without a relation, between 0 and 1.",
            show_default="that of the model",
        ),
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="A corpus: show sentences of it that have both words, too."
        ),
    ] = None,
    unknown: UnknownWordOption = "error",
    vectors: VectorsOption = None,
    model: ModelOption = None,
    top: Annotated[
        int, typer.Option("--top", min=0, help="The most pairs and patterns to show.")
    ] = 5,
    as_json: JsonOption = False,
) -> None:
    """Say which relation holds between two words, with pairs like them and patterns.

    Many pairs, from standard input, get their relation and its probability alone.
    """
    if x == STDIN and corpus is not None:
        raise UsageError("--corpus: sentences are for one pair; 'lexicon' finds them for many")
    opened = open_model(model, vectors=vectors)
    composes = known_words(opened, unknown) is None
    known = opened.relations(relations)
    given = {"relations": relations, "unrelated": unrelated}

    def answer(x: str, y: str) -> CommandAnswer:
        query = query_record("relate", opened, x=x, y=y, **given, corpus=corpus, top=top)
        found = opened.relate(x, y, top=top, relations=known, unrelated=unrelated)
        if corpus is None:
            return CommandAnswer(query, found.as_json(), relation_table(x, y, found))
        sentences = _find_sentences(opened, known, corpus, (x, y), found.name)
        return CommandAnswer(
            query,
            {**found.as_json(), "sentences": sentences},
            Group(relation_table(x, y, found), sentence_list(x, y, sentences)),
        )

    def answer_many(rows: list[list[str]]) -> Iterator[LineAnswer | Pair2vecError]:
        return _relate_lines(opened, known, rows, given, unrelated, composes=composes)

    if (x, y) == (STDIN, None):
        answer_stdin_in_batches(_FORMAT, answer_many, as_json=as_json)
    else:
        answer_query((x, y), _FORMAT, answer, as_json=as_json)


def relation_table(x: str, y: str, relation: Relation) -> RenderableType:
    """The relation of two words in a line, the runners-up, pairs like them and patterns."""
    parts: list[RenderableType] = [
        Text(relation_line(x, y, relation.name, relation.probability, relation.definition), "bold"),
        *_runners_up(relation),
    ]
    if relation.like:
        parts.append(RankingTable(f"Pairs related as {x} and {y}", relation.like, _LIKE))
    if relation.patterns:
        parts.append(RankingTable(f"Patterns with X = {x}, Y = {y}", relation.patterns, FIT))
    return Group(*parts)


def relation_line(x: str, y: str, name: str, probability: float, definition: str) -> str:
    """As in: cheap : expensive - antonym (y is the opposite of x), 97 %."""
    meaning = f" ({definition})" if definition else ""
    return f"{x} : {y} - {name}{meaning}, {percent(probability)}"


def _runners_up(relation: Relation) -> Iterator[Text]:
    """In a line; those that would be shown as 0 % are left out."""
    from pair2vec.relations.relate import UNCLEAR

    probable = [other for other in relation.others if other.probability >= LEAST_SHOWN]
    if probable:
        shown = ", ".join(f"{name} {percent(share)}" for name, share in probable)
        yield Text(f"{'perhaps' if relation.name == UNCLEAR else 'or else'} {shown}")


def _find_sentences(
    model: Pair2vec, relations: Relations, folder: Path, pair: tuple[str, str], name: str
) -> list[str]:
    """Sentences of a corpus with both words, those first that indicate the relation most."""
    from pair2vec.lexicon.evidence import EvidenceScorer, find_evidence
    from pair2vec.lexicon.inverted_index import open_index
    from pair2vec.text.corpus import open_corpus
    from pair2vec.text.vocabulary import UnknownWordError, look_up_pair

    corpus = open_corpus(folder)
    try:
        ids = look_up_pair(*pair, corpus.vocabulary)
    except UnknownWordError as error:
        say(f"{folder}: {error}")
        return []
    with show_count("tokens") as report:
        index = open_index(corpus, report)
    scorers = EvidenceScorer(model, relations.definitions, corpus.vocabulary)
    is_known = scorers.has_relation(name)
    scorer = scorers.for_relation(name) if is_known else scorers.for_pair(*pair)
    return [found.text for found in find_evidence(index, ids, scorer, top=_SENTENCES)]


def sentence_list(x: str, y: str, sentences: Sequence[str]) -> RenderableType:
    """Sentences with the two words and what is between them in brackets."""
    title = Text(f"Sentences with {x} and {y}", style="bold")
    if not sentences:
        return Group(title, Text("no sentence of the corpus has both words close to each other"))
    return Group(title, *(marked_sentence(sentence, x, y) for sentence in sentences))


def marked_sentence(sentence: str, x: str, y: str) -> Text:
    """A sentence with the shortest stretch from one word to the other in brackets, and bold."""
    first, second = (rf"(?<!\w){re.escape(word.lower())}(?!\w)" for word in (x, y))
    # Lookaheads, so that stretches may overlap.
    stretches = [
        found.span(1)
        for one, other in ((first, second), (second, first))
        for found in re.finditer(rf"(?=({one}.*?{other}))", sentence.lower())
    ]
    if not stretches:
        return Text(f"  {sentence}")
    start, end = min(stretches, key=lambda span: span[1] - span[0])
    bold = (f"[{sentence[start:end]}]", "bold")
    return Text.assemble(f"  {sentence[:start]}", bold, sentence[end:])


def _relate_lines(
    model: Pair2vec,
    relations: Relations,
    rows: Sequence[Sequence[str]],
    options: Mapping[str, object],
    unrelated: float | None,
    *,
    composes: bool,
) -> Iterator[LineAnswer | Pair2vecError]:
    """The relation of each pair, or why it has none."""
    from pair2vec.query.composition import composed_json
    from pair2vec.relations.relate import relation_definition, relation_json
    from pair2vec.text.vocabulary import look_up_word

    pairs = [(x, y) for x, y in rows]
    errors = {pair: _unknown_word(pair, model.space.look_up) for pair in pairs if composes}
    answered = [pair for pair in pairs if errors.get(pair) is None]
    unknown: Unknown = "compose" if composes else "zero"
    batch = model.relate_many(answered, unknown=unknown, relations=relations, unrelated=unrelated)
    definitions = {
        name: relation_definition(name, relations) for name in set(batch.names[batch.known])
    }
    look_up = partial(look_up_word, vocabulary=model.vocabulary)
    answers = zip(batch.ranked(), batch.known.tolist(), strict=True)
    for x, y in pairs:
        error = errors.get((x, y))
        if error is None:
            (best, others), is_known = next(answers)
            error = None if is_known else _unknown_word((x, y), look_up)
        if error is not None:
            yield error
            continue
        definition = definitions[best.name]
        composed = model.composed(x, y) if composes else ()
        yield LineAnswer(
            query_record("relate", model, x=x, y=y, **options),
            {**relation_json(best, definition, others), **composed_json(composed)},
            relation_line(x, y, *best, definition),
        )


def _unknown_word(pair: tuple[str, str], look_up: Callable[[str], int]) -> Pair2vecError | None:
    """Why a look-up has no id for a word of a pair; None if it has both."""
    try:
        for word in pair:
            look_up(word)
    except Pair2vecError as error:
        return error
    return None

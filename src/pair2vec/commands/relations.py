"""Commands that ask for relations: words in one, and how well they are told."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from pair2vec.commands.messages import say
from pair2vec.commands.options import (
    AmongOption,
    JsonOption,
    ModelOption,
    ResultsOption,
    TopOption,
    UnknownOption,
)
from pair2vec.commands.questions import (
    Answer,
    Form,
    answer_question,
    described,
    ranked,
    refuse_reading_twice,
)
from pair2vec.commands.word_lists import read_words

if TYPE_CHECKING:
    from pair2vec.evaluation.relation_sets import RelationSet
    from pair2vec.query import Pair2vec
    from pair2vec.query.word_table import WordTable

_RelationsOption = Annotated[
    Path | None,
    typer.Option(
        "--relations",
        metavar="FILE",
        help="Relations of your own, in TOML (docs/relations.md).",
        show_default="the built-in ones",
    ),
]


def neighbours(  # noqa: PLR0913, PLR0917 - the options of a command
    word: Annotated[
        str,
        typer.Argument(
            help="A word; or - to read words from standard input, one a line.", show_default=False
        ),
    ],
    relation: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="As in antonym, hypernym, part, located-in.",
            show_default="any, and named",
        ),
    ] = None,
    relations: _RelationsOption = None,
    unrelated: Annotated[
        float,
        typer.Option(help="The share of pairs to expect without a relation, between 0 and 1."),
    ] = 0.5,
    among: AmongOption = None,
    unknown: UnknownOption = "error",
    model: ModelOption = None,
    top: TopOption = 10,
    as_json: JsonOption = False,
) -> None:
    """Find the words that are in a relation to a word."""
    from pair2vec.display.query_tables import Ranking
    from pair2vec.query import load

    refuse_reading_twice(word, among)
    opened = load(model)
    asked = opened.relations(relations)
    candidates = read_words(among, opened.vocabulary, unknown) if among else None
    caption = f"score: the probability, where {unrelated:.0%} of such pairs have no relation"

    def ask(word: str) -> Answer:
        options = {"relations": relations, "unrelated": unrelated, "among": among, "top": top}
        query = described("neighbours", opened, word=word, relation=relation, **options)
        if relation is None:
            typed = asked.typed_neighbours(word, top=top, among=candidates, unrelated=unrelated)
            return ranked(query, Ranking(f"Words related to {word}", typed, caption))
        found = asked.neighbours(word, relation, top=top, among=candidates, unrelated=unrelated)
        means = asked.definition(relation).definition
        title = f"{relation} of {word}: {means}" if means else f"{relation} of {word}"
        order = "; near words first" if asked.definition(relation).symmetric else ""
        return ranked(query, Ranking(title, found, caption + order))

    answer_question((word,), Form(("WORD",)), ask, as_json=as_json)


def relations(  # noqa: PLR0913, PLR0917 - the options of a command
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="A set with train.tsv, val.tsv and test.tsv, such as BLESS: word, tab, word, tab, "
            "relation.",
            show_default="the built-in examples, by words held out",
        ),
    ] = None,
    vectors: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Vectors of single words, to compare with and to add: .vec, GloVe .txt or .bin.",
            show_default="those in the model",
        ),
    ] = None,
    definitions: _RelationsOption = None,
    model: ModelOption = None,
    steps: Annotated[
        int | None,
        typer.Option(min=1, help="Of learning.", show_default="chosen on the validation split"),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the networks.")] = 0,
    results: ResultsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Learn relations from a set and test them, beside what words alone give.

    Without --data, test how sure the built-in relations are on words they were not told of.
    """
    from pair2vec.display.relation_table import relation_tables, sureness_table
    from pair2vec.evaluation.built_in_relations import on_held_out_words, on_labelled_pairs
    from pair2vec.evaluation.relation_results import result_of_relations, write_result
    from pair2vec.evaluation.relation_sets import read_relation_set
    from pair2vec.evaluation.relations import CONFIGS, examine_relations
    from pair2vec.query import load
    from pair2vec.query.small_network import NetworkConfig

    opened = load(model)
    told = opened.relations(definitions)
    if data is None:
        sureness = on_held_out_words(opened, told)
        if as_json:
            typer.echo(json.dumps({"held_out_words": sureness.to_json()}, ensure_ascii=False))
        else:
            Console(highlight=False).print(sureness_table({"words held out": sureness}))
        return
    found = read_relation_set(data)
    words = _words(opened, found, vectors)
    name = str(vectors) if vectors else "of the model"
    result = examine_relations(
        opened,
        found,
        words,
        vectors=name,
        configs=[NetworkConfig(steps=steps)] if steps else CONFIGS,
        seed=seed,
        report=say,
    )
    built_in = on_labelled_pairs(opened, told, found.val)
    if results is not None:
        say(f"wrote {write_result(results, result_of_relations(opened.saved, result))}")
    if as_json:
        without = {"built_in_on_val": built_in and built_in.to_json()}
        typer.echo(json.dumps({**result.to_json(), **without}, ensure_ascii=False))
    else:
        Console(highlight=False).print(relation_tables(result, built_in))


def _words(model: "Pair2vec", found: "RelationSet", vectors: Path | None) -> "WordTable":
    """The word vectors of the file, or those that the pair vectors are made of."""
    from pair2vec.encoders.word_vectors import read_word_vectors
    from pair2vec.query.stand_ins import spellings
    from pair2vec.query.word_table import WordTable
    from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary

    special = len(SPECIAL_TOKENS)
    if vectors is None:
        return WordTable(model.vocabulary.words[special:], model.unit_words[special:])
    # Words of the set that the model lacks may be in the file.
    wanted = dict.fromkeys(model.vocabulary.words[special:])
    wanted |= dict.fromkeys(s for word in sorted(found.words) for s in spellings(word) if s)
    table = read_word_vectors(vectors, Vocabulary((word, 1) for word in wanted))
    return WordTable(table.vocabulary.words, table.vectors)

"""Commands that ask for relations: words in one, and how well they are told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from pair2vec.cli.messages import say
from pair2vec.cli.options import (
    AmongOption,
    JsonOption,
    ModelOption,
    ResultsOption,
    TopOption,
    UnknownOption,
)
from pair2vec.cli.questions import (
    CommandAnswer,
    Form,
    answer_question,
    query_record,
    ranked,
    read_words,
    refuse_reading_twice,
)

if TYPE_CHECKING:
    from pair2vec.api import Pair2vec
    from pair2vec.experiments.evaluation.built_in_relations import BuiltInScores
    from pair2vec.experiments.evaluation.relations import (
        RelationProtocol,
        RelationResult,
        RelationSet,
    )
    from pair2vec.relations.classifier import WordTable


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
    from pair2vec.api import load
    from pair2vec.cli.questions import RankingTable

    refuse_reading_twice(word, among)
    opened = load(model)
    asked = opened.relations(relations)
    candidates = read_words(among, opened.vocabulary, unknown) if among else None
    caption = f"score: the probability, where {unrelated:.0%} of such pairs have no relation"

    def ask(word: str) -> CommandAnswer:
        options = {
            "relations": relations,
            "unrelated": unrelated,
            "among": among,
            "top": top,
        }
        query = query_record("neighbours", opened, word=word, relation=relation, **options)
        if relation is None:
            typed = asked.typed_neighbours(word, top=top, among=candidates, unrelated=unrelated)
            return ranked(query, RankingTable(f"Words related to {word}", typed, caption))
        found = asked.neighbours(word, relation, top=top, among=candidates, unrelated=unrelated)
        means = asked.definition(relation).definition
        title = f"{relation} of {word}: {means}" if means else f"{relation} of {word}"
        order = "; near words first" if asked.definition(relation).symmetric else ""
        return ranked(query, RankingTable(title, found, caption + order))

    answer_question((word,), Form(("WORD",)), ask, as_json=as_json)


def eval_relations(  # noqa: PLR0913, PLR0917 - the options of a command
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
    from pair2vec.api import load
    from pair2vec.experiments.evaluation.built_in_relations import (
        on_held_out_words,
        on_labelled_pairs,
    )
    from pair2vec.experiments.evaluation.relations import (
        CONFIGS,
        evaluate_relations,
        read_relation_set,
    )
    from pair2vec.experiments.evaluation.results import result_of_relations, write_relation_result
    from pair2vec.relations.mlp import MlpConfig

    opened = load(model)
    told = opened.relations(definitions)
    if data is None:
        sureness = on_held_out_words(opened, told)
        if as_json:
            typer.echo(json.dumps({"held_out_words": sureness.to_json()}, ensure_ascii=False))
        else:
            Console(highlight=False).print(calibration_table({"words held out": sureness}))
        return
    found = read_relation_set(data)
    words = _words(opened, found, vectors)
    name = str(vectors) if vectors else "of the model"
    result = evaluate_relations(
        opened,
        found,
        words,
        vectors=name,
        configs=[MlpConfig(steps=steps)] if steps else CONFIGS,
        seed=seed,
        report=say,
    )
    built_in = on_labelled_pairs(opened, told, found.val)
    if results is not None:
        say(f"wrote {write_relation_result(results, result_of_relations(opened.saved, result))}")
    if as_json:
        without = {"built_in_on_val": built_in and built_in.to_json()}
        typer.echo(json.dumps({**result.to_json(), **without}, ensure_ascii=False))
    else:
        Console(highlight=False).print(relation_tables(result, built_in))


def _words(model: Pair2vec, found: RelationSet, vectors: Path | None) -> WordTable:
    """The word vectors of the file, or those that the pair vectors are made of."""
    from pair2vec.relations.classifier import WordTable, spelling_variants
    from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary
    from pair2vec.word_vectors.formats import read_word_vectors

    special = len(SPECIAL_TOKENS)
    if vectors is None:
        return WordTable(model.vocabulary.words[special:], model.unit_words[special:])
    # Words of the set that the model lacks may be in the file.
    wanted = dict.fromkeys(model.vocabulary.words[special:])
    wanted |= dict.fromkeys(s for word in sorted(found.words) for s in spelling_variants(word) if s)
    table = read_word_vectors(vectors, Vocabulary((word, 1) for word in wanted))
    return WordTable(table.vocabulary.words, table.vectors)


# == How well relations are told: by what was learnt from a set, and by the built-in definitions.


def relation_tables(result: RelationResult, built_in: BuiltInScores | None = None) -> Group:
    """A row a classifier: weighted F1 on both splits, then F1 by class."""
    classes = result.rows[0].test.classes
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("F1")
    for name in ("val", "test", *classes):
        table.add_column(Text(name), justify="right", no_wrap=True)
    for row in result.rows:
        figures = [row.val.weighted_f1, row.test.weighted_f1]
        figures += [row.test.classes[name].f1 for name in classes]
        table.add_row(row.name, *map(_share, figures))
    counts = [f"{score.n:,}" for score in classes.values()]
    table.add_row("pairs", f"{result.protocol.val:,}", f"{result.protocol.test:,}", *counts)
    caption = Text(
        "F1 in percent, the mean weighted by the pairs of each class; classes are of the test "
        "split. Concatenation and difference are of word vectors.",
        style="dim",
    )
    parts: list[RenderableType] = [table, caption, Text(_protocol_lines(result.protocol))]
    if built_in is not None:
        told = {"val, told by the built-in relations, without learning": built_in}
        parts.append(calibration_table(told))
    return Group(*parts)


def _protocol_lines(protocol: RelationProtocol) -> str:
    return (
        f"{protocol.data}: learnt from {protocol.train:,} pairs by {protocol.networks} networks a "
        f"view, {protocol.steps:,} steps and {protocol.input_dropout:g} of the features dropped "
        f"(chosen on val), seed {protocol.seed}. Of the test pairs {protocol.unknown:.1f} % have a "
        f"word that the model does not know: {protocol.read_as_others:.1f} % are read by its word "
        f"vector or as another word, {protocol.zero:.1f} % have a zero; none is dropped.\n"
        f"Model {protocol.model}, word vectors {protocol.vectors}; {protocol.seconds:,.0f} s."
    )


def calibration_table(found: Mapping[str, BuiltInScores]) -> Group:
    """How right and how sure the built-in relations are."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("built-in relations", overflow="fold")
    for name in ("pairs", "right", "mean probability", "calibration error", "log loss"):
        table.add_column(name, justify="right")
    for name, (_, one) in found.items():
        shares = map(_share, (one.accuracy, one.confidence, one.expected_error))
        table.add_row(Text(name), f"{one.n:,}", *shares, f"{one.log_loss:.2f}")
    caption = Text(
        "In percent. Right: the most probable relation, or none, is the right one; where its mean "
        "probability is the same, probabilities are sure of no more than they should be.",
        style="dim",
    )
    return Group(table, *(_by_relation(one) for one in found.values()), caption)


def _by_relation(one: BuiltInScores) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("relation")
    for name in ("pairs", "precision", "recall", "F1"):
        table.add_column(name, justify="right")
    for name, score in one.scores.classes.items():
        table.add_row(
            Text(name), f"{score.n:,}", *map(_share, (score.precision, score.recall, score.f1))
        )
    return table


def _share(value: float) -> str:
    return f"{100 * value:.1f}"

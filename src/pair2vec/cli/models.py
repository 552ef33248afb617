"""Commands for models and corpora as wholes: info, models, describe, shrink, push."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from pair2vec.cli.messages import facts_table, print_json, print_table, print_text
from pair2vec.cli.options import (
    ModelFolderArgument,
    OverwriteOption,
    PrecisionOption,
    argument,
    check_choice,
)
from pair2vec.cli.prepare import corpus_summary
from pair2vec.errors import UsageError


def info(
    folder: Annotated[
        str | None,
        argument(
            help="A corpus or model folder, a bundled model, or owner/name on the hub.",
            show_default="the bundled model",
        ),
    ] = None,
    sentences: Annotated[
        int, typer.Option(min=0, help="Show the first sentences of a corpus, too.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print what is known as JSON.")] = False,
) -> None:
    """Describe a corpus folder or a model."""
    from pair2vec.model.config import CONFIG_FILE
    from pair2vec.model.folder import load_model, model_facts
    from pair2vec.model.resolve import find_model
    from pair2vec.text.corpus import open_corpus

    path = find_model(folder)
    if (path / CONFIG_FILE).exists():
        model = load_model(path)
        if as_json:
            print_json(model.config, indent=2)
        else:
            print_table(facts_table(model_facts(model)))
        return
    corpus = open_corpus(path)
    if as_json:
        print_json(json.loads(corpus.manifest.to_json()), indent=2)
    else:
        print_table(corpus_summary(path, corpus.manifest))
        for words in islice(corpus.words(), sentences):
            print_text(f"  {' '.join(words)}")


def models(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the models that come with the package."""
    from pair2vec.model.folder import load_model, model_facts
    from pair2vec.model.resolve import bundled_models

    facts = {name: model_facts(load_model(folder)) for name, folder in bundled_models().items()}
    if as_json:
        print_json({"models": facts})
    elif facts:
        print_table(models_table(facts))
        typer.echo("The first is used where no --model is given; 'pair2vec info NAME' says more.")
    else:
        typer.echo("No models come with this version; make one with 'pair2vec train'.")


def push(
    model: ModelFolderArgument,
    name: Annotated[str, argument(help="owner/name on the hub.")],
    private: Annotated[bool, typer.Option("--private", help="Show it to no one else.")] = False,
) -> None:
    """Put a model on the Hugging Face hub."""
    from pair2vec.model.resolve import push_model

    print_text(push_model(model, name, private=private))


def describe(
    model: ModelFolderArgument,
    name: Annotated[str | None, typer.Option(help="What it is called.")] = None,
    licence: Annotated[str | None, typer.Option(help="As in cc-by-sa-4.0.")] = None,
    notes: Annotated[
        list[str] | None,
        typer.Option("--note", metavar="TEXT", help="A line for its card; repeatable."),
    ] = None,
) -> None:
    """Add a name, licence or notes to a model's config and card."""
    from pair2vec.model.folder import describe_model, load_model, model_facts
    from pair2vec.model.resolve import find_model

    options = {"name": name, "licence": licence, "notes": notes}
    facts = {key: value for key, value in options.items() if value}
    if not facts:
        raise UsageError("nothing to add; give --name, --licence or --note")
    folder = find_model(model)
    describe_model(folder, facts)
    print_table(facts_table(model_facts(load_model(folder))))


def shrink(
    model: Annotated[str, argument(help="The model's folder or name.")],
    out: Annotated[Path, typer.Option(help="The folder to write.", show_default=False)],
    words: Annotated[
        int | None, typer.Option(min=1, help="Keep the most frequent.", show_default="all")
    ] = None,
    context_words: Annotated[
        int | None,
        typer.Option(min=1, help="Keep so many of them for patterns.", show_default="all"),
    ] = None,
    precision: PrecisionOption = "int8",
    overwrite: OverwriteOption = False,
) -> None:
    """Make a smaller model of a model: fewer words, fewer bits."""
    from pair2vec.model.folder import load_model, model_facts
    from pair2vec.model.resolve import find_model
    from pair2vec.model.shrink import shrink_model
    from pair2vec.model.tensors import PRECISIONS

    shrink_model(
        load_model(find_model(model)),
        out,
        words=words,
        context_words=context_words,
        precision=check_choice("--precision", precision, PRECISIONS),
        overwrite=overwrite,
    )
    print_table(facts_table(model_facts(load_model(out))))


def models_table(models: Mapping[str, Mapping[str, str]]) -> Table:
    """One model a row: its name, and some of its `model_facts`."""
    numbers = {"words": "words", "size on disk": "size", "corpus tokens": "tokens trained on"}
    texts = {"taught by": "taught by", "licence": "licence"}
    table = Table(box=None, pad_edge=False)
    table.add_column("name")
    for title in numbers.values():
        table.add_column(title, justify="right")
    for title in texts.values():
        table.add_column(title)
    for name, facts in models.items():
        table.add_row(name, *(facts.get(fact, "–") for fact in (*numbers, *texts)))
    return table

"""Commands for models as wholes: which there are, a smaller one, one on the hub."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from pair2vec.errors import UsageError


def models(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the models that come with the package."""
    from pair2vec.display.summary import models_table
    from pair2vec.model import bundled_models, load_model, model_facts

    found = {name: model_facts(load_model(folder)) for name, folder in bundled_models().items()}
    if as_json:
        typer.echo(json.dumps({"models": found}, ensure_ascii=False))
    elif found:
        Console(highlight=False).print(models_table(found))
        typer.echo("The first is used where no --model is given; 'pair2vec info NAME' says more.")
    else:
        typer.echo("No models come with this version; make one with 'pair2vec train'.")


def push(
    model: Annotated[str, typer.Argument(help="The model's folder.", show_default=False)],
    name: Annotated[str, typer.Argument(help="owner/name on the hub.", show_default=False)],
    private: Annotated[bool, typer.Option("--private", help="Show it to no one else.")] = False,
) -> None:
    """Put a model on the Hugging Face hub."""
    from pair2vec.model import push_model

    typer.echo(push_model(model, name, private=private))


def describe(
    model: Annotated[str, typer.Argument(help="The model's folder.", show_default=False)],
    name: Annotated[str | None, typer.Option(help="What it is called.")] = None,
    licence: Annotated[str | None, typer.Option(help="As in cc-by-sa-4.0.")] = None,
    notes: Annotated[
        list[str] | None,
        typer.Option("--note", metavar="TEXT", help="A line for its card; repeatable."),
    ] = None,
) -> None:
    """Add to what a model says of itself, in its config and on its card."""
    from pair2vec.display.summary import facts_table
    from pair2vec.model import describe_model, find_model, load_model, model_facts

    given = {"name": name, "licence": licence, "notes": notes}
    facts = {key: value for key, value in given.items() if value}
    if not facts:
        raise UsageError("nothing to add; give --name, --licence or --note")
    folder = find_model(model)
    describe_model(folder, facts)
    Console(highlight=False).print(facts_table(model_facts(load_model(folder))))


def shrink(
    model: Annotated[str, typer.Argument(help="The model's folder or name.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The folder to write.", show_default=False)],
    words: Annotated[
        int | None, typer.Option(min=1, help="Keep the most frequent.", show_default="all")
    ] = None,
    context_words: Annotated[
        int | None,
        typer.Option(min=1, help="Keep so many of them for patterns.", show_default="all"),
    ] = None,
    precision: Annotated[str, typer.Option(help="float32, float16 or int8.")] = "int8",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace --out.")] = False,
) -> None:
    """Make a smaller model of a model: fewer words, fewer bits."""
    from pair2vec.display.summary import facts_table
    from pair2vec.model import PRECISIONS, find_model, load_model, model_facts
    from pair2vec.model.shrinking import shrink_model

    if precision not in PRECISIONS:
        raise UsageError(f"--precision {precision}: it must be one of {', '.join(PRECISIONS)}")
    shrink_model(
        load_model(find_model(model)),
        out,
        words=words,
        context_words=context_words,
        precision=precision,
        overwrite=overwrite,
    )
    Console(highlight=False).print(facts_table(model_facts(load_model(out))))

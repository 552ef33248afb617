"""The command that says what a folder holds."""

import json
from dataclasses import asdict
from itertools import islice
from typing import Annotated

import typer
from rich.console import Console


def info(
    folder: Annotated[
        str | None,
        typer.Argument(
            help="A corpus or model folder, a bundled model, or owner/name on the hub.",
            show_default="the bundled model",
        ),
    ] = None,
    sentences: Annotated[
        int, typer.Option(min=0, help="Show the first sentences of a corpus, too.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print what is known as JSON.")] = False,
) -> None:
    """Say what a corpus folder or a model holds."""
    from pair2vec.display.summary import corpus_summary, facts_table
    from pair2vec.model import find_model, load_model, model_facts
    from pair2vec.model.folder import CONFIG
    from pair2vec.text.corpus import open_corpus

    found = find_model(folder)
    if (found / CONFIG).exists():
        model = load_model(found)
        if as_json:
            typer.echo(json.dumps(model.config, indent=2, ensure_ascii=False))
        else:
            Console(highlight=False).print(facts_table(model_facts(model)))
        return
    corpus = open_corpus(found)
    if as_json:
        typer.echo(json.dumps(asdict(corpus.manifest), indent=2, ensure_ascii=False))
    else:
        Console(highlight=False).print(corpus_summary(found, corpus.manifest))
        for words in islice(corpus.words(), sentences):
            typer.echo(f"  {' '.join(words)}")

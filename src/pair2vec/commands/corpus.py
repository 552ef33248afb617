"""Commands that make a corpus and count in it."""

from pathlib import Path
from typing import Annotated, cast, get_args

import typer
from rich.console import Console

from pair2vec.commands.messages import messages, say
from pair2vec.commands.options import ResultsOption
from pair2vec.errors import UsageError


def prepare(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT...",
            help="Plain text or MediaWiki XML dumps, also as .gz, .bz2 or .xz; folders of them; "
            "URLs such as s3://bucket/text; or - for standard input.",
            show_default=False,
        ),
    ],
    out: Annotated[
        str, typer.Option(help="The corpus folder to make, or its URL.", show_default=False)
    ],
    vocab: Annotated[
        int, typer.Option(min=1, help="Keep this many of the most frequent words.")
    ] = 100_000,
    min_count: Annotated[int, typer.Option(min=1, help="Drop words that are rarer.")] = 1,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes.", show_default="one a core")
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            help="local: this machine. ray: the cluster RAY_ADDRESS names, or one started here."
        ),
    ] = "local",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the corpus at --out.")
    ] = False,
) -> None:
    """Turn raw text into a corpus folder.

    Stopped or killed, the same command goes on from what is done.
    """
    from pair2vec.display.progress import shown_progress
    from pair2vec.display.summary import corpus_summary
    from pair2vec.text.places import RemotePath, place
    from pair2vec.text.prepare import PrepareConfig, make_corpus

    with shown_progress(messages) as report:
        manifest = make_corpus(
            inputs,
            out,
            PrepareConfig(vocabulary=vocab, min_count=min_count),
            workers=workers,
            engine=engine,
            overwrite=overwrite,
            report=report,
        )
    Console(highlight=False).print(corpus_summary(place(out), manifest))
    if isinstance(place(out), RemotePath):
        say(f"{out}: copy it to a local disk, or mount it, for the other commands")


def pmi(
    corpus: Annotated[Path, typer.Argument(help="A corpus folder.", show_default=False)],
    x: Annotated[str, typer.Argument(show_default=False)],
    y: Annotated[str, typer.Argument(show_default=False)],
    pattern: Annotated[str, typer.Argument(help="As in 'neither X nor Y'.", show_default=False)],
    results: ResultsOption = None,
) -> None:
    """Count a pair in a pattern, and say how strongly they attract."""
    from pair2vec.display.pmi_table import pmi_table
    from pair2vec.text.corpus import open_corpus
    from pair2vec.theory import count_pattern, find_pair, parse_pattern

    opened = open_corpus(corpus)
    pair = find_pair(x, y, opened.vocabulary)
    counts = count_pattern(opened, pair, parse_pattern(pattern, opened.vocabulary))
    if results is not None:
        from pair2vec.evaluation.model_results import result_of_triple, write_result

        found = result_of_triple((x, y), pattern, counts, opened.manifest)
        say(f"wrote {write_result(results, found)}")
    Console(highlight=False).print(pmi_table(x, y, pattern, counts))


def contexts(
    corpus: Annotated[Path, typer.Argument(help="A corpus folder.", show_default=False)],
    x: Annotated[str, typer.Argument(show_default=False)],
    y: Annotated[str, typer.Argument(show_default=False)],
    by: Annotated[str, typer.Option(help="count, pmi or mvpmi.")] = "count",
    top: Annotated[int, typer.Option(min=1, help="The most to show.")] = 20,
    min_count: Annotated[int, typer.Option(min=1, help="Leave out rarer contexts.")] = 1,
) -> None:
    """List the contexts that two words share, counted and scored."""
    from pair2vec.display.pmi_table import contexts_table
    from pair2vec.text.corpus import open_corpus
    from pair2vec.theory import find_pair, find_pair_contexts
    from pair2vec.theory.pair_contexts import Order

    if by not in get_args(Order):
        raise UsageError(f"--by {by}: it must be one of {', '.join(get_args(Order))}")
    opened = open_corpus(corpus)
    found = find_pair_contexts(opened, find_pair(x, y, opened.vocabulary))
    if not len(found):
        typer.echo(f"{x} and {y}, in this order, never occur within five words of each other.")
        return
    Console(highlight=False).print(contexts_table(x, y, found, cast("Order", by), top, min_count))

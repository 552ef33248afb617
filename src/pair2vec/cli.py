"""The ``pair2vec`` command: one short function a command, heavy imports inside them."""

import json
import logging
import os
import sys
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from pair2vec import __version__
from pair2vec.errors import Pair2vecError

app = typer.Typer(
    help="Learn from plain text which relation holds between two words, and put it to work.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
_messages = Console(stderr=True, highlight=False, soft_wrap=True)


class _MessageHandler(logging.Handler):
    """Shows what the library logs, above a progress bar if there is one."""

    def emit(self, record: logging.LogRecord) -> None:
        _messages.print(f"pair2vec: {record.getMessage()}", markup=False)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pair2vec {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    logging.basicConfig(level=logging.WARNING, handlers=[_MessageHandler()])


@app.command()
def prepare(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT...",
            help="Plain text or MediaWiki XML dumps, also as .gz, .bz2 or .xz; folders of them; "
            "or - for standard input.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(help="The corpus folder to make.", show_default=False)],
    vocab: Annotated[
        int, typer.Option(min=1, help="Keep this many of the most frequent words.")
    ] = 100_000,
    min_count: Annotated[int, typer.Option(min=1, help="Drop words that are rarer.")] = 1,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes.", show_default="one a core")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the corpus at --out.")
    ] = False,
) -> None:
    """Turn raw text into a corpus folder.

    Stopped or killed, the same command goes on from what is done.
    """
    from pair2vec.display.progress import shown_progress
    from pair2vec.display.summary import corpus_summary
    from pair2vec.text.prepare import PrepareConfig
    from pair2vec.text.prepare import prepare as prepare_corpus

    with shown_progress(_messages) as report:
        corpus = prepare_corpus(
            inputs,
            out,
            PrepareConfig(vocabulary=vocab, min_count=min_count),
            workers=workers or len(os.sched_getaffinity(0)),
            overwrite=overwrite,
            report=report,
        )
    Console(highlight=False).print(corpus_summary(corpus.folder, corpus.manifest))


@app.command()
def info(
    folder: Annotated[Path, typer.Argument(help="A corpus folder.", show_default=False)],
    sentences: Annotated[int, typer.Option(min=0, help="Show the first sentences, too.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the manifest as JSON.")] = False,
) -> None:
    """Say what a corpus folder holds."""
    from pair2vec.display.summary import corpus_summary
    from pair2vec.text.corpus import open_corpus

    corpus = open_corpus(folder)
    if as_json:
        typer.echo(json.dumps(asdict(corpus.manifest), indent=2, ensure_ascii=False))
    else:
        Console(highlight=False).print(corpus_summary(folder, corpus.manifest))
        for words in islice(corpus.words(), sentences):
            typer.echo(f"  {' '.join(words)}")


def main() -> None:
    """Run the command; a mistake or a failure is one line and an exit code, never a traceback."""
    try:
        app()
    except Pair2vecError as error:
        _fail(str(error), error.exit_code)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _fail(f"{where}{error.strerror or error}", 1)
    except KeyboardInterrupt:
        _fail("stopped; run the same command again to go on", 130)


def _fail(message: str, code: int) -> None:
    _messages.print(f"pair2vec: {message}", markup=False)
    sys.exit(code)

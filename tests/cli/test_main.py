"""The command line as a whole."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.command import pair2vec

from pair2vec.cli.help import EXAMPLES
from pair2vec.cli.main import app
from pair2vec.errors import STOPPED


@pytest.mark.parametrize("option", [("--vocab", "0"), ("--workers", "0"), ("--colour", "1"), ()])
def test_a_wrong_option_is_a_usage_error(text: Path, option: tuple[str, ...]) -> None:
    done = pair2vec("prepare", text, *option)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_version_is_printed() -> None:
    assert pair2vec("--version").stdout.startswith("pair2vec 0.")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_command_with_one_line(tmp_path: Path, number: signal.Signals) -> None:
    out = tmp_path / "corpus"
    command = [sys.executable, "-m", "pair2vec", "prepare", "-", "--out", str(out)]
    # A shell that runs tests in the background has them ignore Ctrl-C, and their children, too.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    signal.signal(signal.SIGINT, before)
    while not out.exists():
        time.sleep(0.02)
    process.send_signal(number)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert messages.splitlines()[-1] == (f"pair2vec: {STOPPED}")
    assert "Traceback" not in messages


SIGNAL_AT_AN_IMPORT = """
import os, signal, sys

class Signal:
    def find_spec(self, name, path=None, target=None):
        is_worker = "--multiprocessing-fork" in sys.orig_argv
        if name == os.environ["SIGNAL_AT"] and is_worker == bool(os.environ["IN_A_WORKER"]):
            sys.meta_path.remove(self)
            os.killpg(0, int(os.environ["SIGNAL"]))

sys.meta_path.insert(0, Signal())
"""


@pytest.mark.parametrize(
    ("module", "in_a_worker", "number"),
    [
        *((name, False, signal.SIGINT) for name in ("typer", "rich.table", "pair2vec.cli.train")),
        *((name, False, signal.SIGINT) for name in ("numpy", "pair2vec.text.pieces")),
        *(("pair2vec.text.pieces", True, number) for number in (signal.SIGINT, signal.SIGTERM)),
    ],
)
def test_a_signal_while_a_command_starts_ends_it_with_one_line(
    text: Path, tmp_path: Path, module: str, in_a_worker: bool, number: signal.Signals
) -> None:
    (tmp_path / "sitecustomize.py").write_text(SIGNAL_AT_AN_IMPORT)
    environment = {"SIGNAL_AT": module, "IN_A_WORKER": "1" if in_a_worker else ""}
    environment["SIGNAL"] = str(int(number))
    paths = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    command = [sys.executable, "-m", "pair2vec", "prepare", str(text), "--workers", "2"]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [*command, "--out", str(tmp_path / "corpus")],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, **environment},
    )
    signal.signal(signal.SIGINT, before)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert messages == f"pair2vec: {STOPPED}\n"


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of all commands below a group."""
    subcommands = getattr(command, "commands", {})
    if not subcommands:
        yield path
    for name, below in subcommands.items():
        yield from leaves(below, (*path, name))


@pytest.mark.parametrize("command", [(), *leaves(typer.main.get_command(app))], ids=" ".join)
def test_every_command_has_a_help(command: tuple[str, ...]) -> None:
    done = pair2vec(*command, "--help")
    assert done.returncode == 0, done.stderr
    assert re.match(f"Usage: .*{' '.join(['pair2vec', *command])}", done.stdout)
    assert not done.stderr


def test_a_command_that_is_not_there_is_a_usage_error() -> None:
    done = pair2vec("nonsense")
    assert done.returncode == 2
    assert "No such command 'nonsense'" in done.stderr


def commands(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """All that are no groups, by name."""
    for name, subcommand in command.commands.items():
        if hasattr(subcommand, "commands"):
            yield from commands(subcommand, f"{path}{name} ")
        else:
            yield f"{path}{name}", subcommand


def test_every_command_has_an_example_with_options_that_it_has() -> None:
    found = dict(commands(typer.main.get_command(app)))
    assert found.keys() == EXAMPLES.keys()
    for name, command in found.items():
        assert command.epilog.endswith(f"\n  pair2vec {EXAMPLES[name]}")
        arguments = shlex.split(EXAMPLES[name])[len(name.split()) :]
        command.make_context(name, arguments)


def test_commands_are_listed_in_groups() -> None:
    shown = pair2vec("--help").stdout
    groups = re.findall(
        r"^(\w.*):\n(?:  \S.*\n)*?  (?:fill|train|serve|eval) ", shown, re.MULTILINE
    )
    assert groups == ["Ask a model", "Build a model", "Serve", "Evaluate, and reproduce the paper"]
    assert "\n  pair2vec fill " in pair2vec("fill", "--help").stdout.replace("    ", "  ")


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("fi", {"fill"}),
        ("fill --model wiki", {"wikipedia"}),
        ("neighbours cheap --relation anto", {"antonym"}),
        ("neighbours cheap --model nowhere --relation anto", set()),
    ],
)
def test_a_shell_completes_commands_models_and_relations(
    typed: str, words: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_PAIR2VEC_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"pair2vec {typed}")
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split())))
    assert set(pair2vec().stdout.split()) == words

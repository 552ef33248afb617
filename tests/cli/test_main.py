"""The command line as a whole."""

import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.command import pair2vec

from pair2vec.cli.main import EXTRAS
from pair2vec.errors import STOPPED

ROOT = Path(__file__).parents[2]


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


OPTIONAL = tuple(EXTRAS)
WITHOUT_EXTRAS = (
    "import sys; sys.modules.update(dict.fromkeys(sys.argv.pop(1).split(',')));"
    "from pair2vec.cli.main import main; main()"
)


def pair2vec_without(modules: Iterable[str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS, ",".join(modules), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("train corpus --out m", "train"),
        ("vectors corpus --out w.vec", "train"),
        ("teach corpus --out m --vectors w.vec", "teach"),
        ("nli train --train a --dev b --out c --words w.vec", "nli"),
        ("nli predict premise hypothesis --model c", "nli"),
        ("nli compare a b --data d --out e", "nli"),
        ("qa train --train a --dev b --out c --words w.vec", "nli"),
        ("qa answer question --model c --passage p", "nli"),
        ("eval nli --model c --data d", "nli"),
        ("eval squad --model c --data d", "nli"),
        ("serve", "serve"),
        ("push nowhere owner/name", "hub"),
        ("fill X --model owner/name", "hub"),
        ("prepare s3://bucket/text --out c", "ray"),
        ("prepare /dev/null --out c --engine ray", "ray"),
    ],
)
def test_a_command_without_its_extra_names_it_in_one_line(command: str, extra: str) -> None:
    done = pair2vec_without(OPTIONAL, *command.split())
    assert f"pip install 'pair2vec[{extra}]'" in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.returncode in {1, 2}


def test_a_module_that_no_extra_brings_is_a_bug_and_not_hidden() -> None:
    done = pair2vec_without(["tomllib"], "train", "corpus", "--out", "m")
    assert "ModuleNotFoundError" in done.stderr


def test_every_optional_module_has_an_extra_that_brings_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for module, extra in EXTRAS.items():
        requirements = [re.split(r"[^\w-]", name)[0] for name in extras[extra]]
        assert module.replace("_", "-") in [name.replace("_", "-") for name in requirements]
    brought = {
        re.split(r"[^\w-]", name)[0].replace("-", "_")
        for extra, names in extras.items()
        if extra not in {"dev", "docs"}
        for name in names
    }
    assert brought - {"pair2vec"} == set(EXTRAS)

"""Every command and snippet of README, tutorials and integrations.md does what the page says.

`console` blocks are run a command a line, in a folder that has `examples/`; what follows a command
is what it prints on standard output, or nothing is said of it. The `python` blocks of a page share
a namespace; a `text` block directly behind one is what it prints. `bash` blocks, of all pages, are
not run, as they install, take long or do not end: commands and options are looked up.
"""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.docs.page_session import PageSession, pair2vec_arguments
from tests.docs.pages import PROJECT, Step, blocks, matches, pages, steps

from pair2vec.cli.main import app

# What a snippet needs beyond the core, by the words it is known by.
OPTIONAL = {
    "torch": r"\bimport torch\b|\bpair2vec\.injection\b|\bpair2vec train\b|examples/pair_attention",
    "gensim": r"\bpair2vec vectors\b|\bintegrations\.gensim\b",
    "spacy": r"\bspacy\b",
    "sklearn": r"\bsklearn\b",
    "pandas": r"\bpandas\b",
    "starlette": r"\bpair2vec serve\b",
    "mcp": r"\bfrom mcp\b|\bpair2vec mcp\b",
    "matplotlib": r"--plot\b",
    "transformers": r"\btransformers\b",
    "rdflib": r"\bcheck_skos\.py\b",
}


def missing_part(code: str) -> str | None:
    for part, pattern in OPTIONAL.items():
        if re.search(pattern, code) and importlib.util.find_spec(part) is None:
            return part
    return None


def environment() -> dict[str, str]:
    binaries = Path(sys.executable).parent
    return {
        **os.environ,
        "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "OMP_NUM_THREADS": "1",
    }


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_a_page_does_what_it_says(page: Path, tmp_path: Path) -> None:
    shutil.copytree(PROJECT / "examples", tmp_path / "examples")
    to_run = steps(page.read_text())
    assert to_run
    with PageSession(tmp_path, environment()) as session:
        for step in to_run:
            if part := missing_part(step.code):
                pytest.skip(f"{page.name}, from line {step.line} on: {part} is not installed")
            printed, error = run_step(step, session, tmp_path)
            where = f"{page.name}, line {step.line}: {step.code}"
            assert not error, f"{where}\n{error}"
            if step.expected is not None:
                assert matches(step.expected, printed), f"{where}\nprints\n{printed}"


def run_step(step: Step, session: PageSession, folder: Path) -> tuple[str, str]:
    """What a step prints on standard output, and why it failed, if it did."""
    if step.kind == "python":
        return session.run_python(step.code)
    if (arguments := pair2vec_arguments(step.code)) is not None:
        return session.run_pair2vec(arguments)
    return run_in_shell(step.code, folder)


def run_in_shell(command: str, folder: Path) -> tuple[str, str]:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    failed = f"exit code {done.returncode}\n{done.stderr}"
    return done.stdout, failed if done.returncode else ""


def listed_commands() -> list[tuple[str, str]]:
    """The commands of `bash` blocks of all pages, each with its page."""
    return [
        (page.stem, line.split("  #")[0].strip())
        for page in [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
        for block in blocks(page.read_text())
        if block.kind == "bash"
        for line in block.body.replace("\\\n", " ").splitlines()
        if line.strip() and not line.startswith("#")
    ]


@pytest.mark.parametrize(
    ("page", "command"), listed_commands(), ids=lambda value: str(value).replace("/", "_")
)
def test_a_command_that_is_only_listed_exists(page: str, command: str) -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    first, *arguments = shlex.split(command)
    if first == "make":
        # What a page tells to make is what runs on every change.
        assert command in (PROJECT / ".ci" / "run").read_text().splitlines()
    elif first == "pip":
        # tests/test_install.py installs the project so, into an environment of its own.
        assert arguments[:1] == ["install"]
        project_itself = re.fullmatch(r"\.(?:\[([\w,]+)\])?", arguments[1])
        assert project_itself is not None
        extras = set(filter(None, (project_itself[1] or "").split(",")))
        assert extras <= project["optional-dependencies"].keys()
    elif first == "git":
        assert arguments == ["clone", project["urls"]["Source"]]
    elif first == "pair2vec":
        options = {argument.split("=")[0] for argument in arguments if argument.startswith("--")}
        assert options <= options_of(arguments)
    else:
        assert first in {"cd", "."}, f"{page}: no test knows {command!r}"


def options_of(arguments: list[str]) -> set[str]:
    """The options of the command that `arguments` begin with."""
    command: Any = typer.main.get_command(app)
    for name in arguments:
        if not hasattr(command, "commands"):
            break
        command = command.commands[name]
    return {name for parameter in command.params for name in parameter.opts}


def test_a_snippet_is_skipped_only_for_the_part_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing_part("import json") is None
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert missing_part("pair2vec fill 'X or Y' --x hot") is None
    assert missing_part("from pair2vec.injection import PairAttention") == "torch"
    assert missing_part("pair2vec vectors corpus --out words.vec") == "gensim"


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("pair2vec fill 'in X , Y .' --x portland", ["fill", "in X , Y .", "--x", "portland"]),
        ("pair2vec train corpus \\\n    --set a=1e-5", ["train", "corpus", "--set", "a=1e-5"]),
        ("printf 'hot' | pair2vec score -", None),
        ("pair2vec models | head", None),
        ("pair2vec models > models.txt", None),
        ("pair2vec info $MODEL", None),
        ('pair2vec info "$MODEL"', None),
        ("pair2vec info *", None),
    ],
)
def test_a_shell_runs_what_needs_one(command: str, arguments: list[str] | None) -> None:
    assert pair2vec_arguments(command) == arguments


@pytest.mark.parametrize("command", ["pair2vec models", "pair2vec info nowhere"])
def test_a_command_does_the_same_in_a_session_as_in_a_shell(command: str, tmp_path: Path) -> None:
    with PageSession(tmp_path, environment()) as session:
        in_session = session.run_pair2vec(pair2vec_arguments(command) or [])
        assert in_session == run_in_shell(command, tmp_path)


def test_only_what_is_known_is_fenced() -> None:
    kinds = {block.kind for page in pages() for block in blocks(page.read_text())}
    assert kinds <= {"console", "python", "bash", "text", "bibtex", "toml", "json"}


def test_a_page_is_taken_apart() -> None:
    page = "```console\n$ one\n$ two \\\n    more\nsays\n...\n```\n\n```python\nprint(1)\n```\n\n"
    page += "```text\n1\n```\n\n```python\npass\n```\n\nWords.\n\n```text\nother\n```\n"
    assert steps(page) == [
        ("console", 2, "one", None),
        ("console", 3, "two \\\n    more", "says\n..."),
        ("python", 9, "print(1)\n", "1\n"),
        ("python", 17, "pass\n", None),
    ]


@pytest.mark.parametrize(
    ("expected", "printed", "equal"),
    [
        ("a  b\n", " a b \n\n", True),
        ("a b", "a c", False),
        ("tokyo 0.766", "tokyo 0.769", True),
        ("tokyo 0.766", "tokyo 0.79", False),
        ("-1.00", "1.00", False),
        ("first\n...\nlast", "first\nsecond\nthird\nlast", True),
        ("first\n...\nlast", "first\nsecond", False),
        ("first\n…", "first", True),
        ("seen … of 9", "seen 3 words of 9", True),
        ("seen … of 9", "seen 3 words of 8", False),
        ("a", "a\nb", False),
        ("a\nb", "a", False),
    ],
)
def test_output_is_compared_leniently(expected: str, printed: str, equal: bool) -> None:
    assert matches(expected, printed) is equal

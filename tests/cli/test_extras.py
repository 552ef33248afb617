"""Commands where pair2vec is installed without extras, or without the one that a command needs."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
import typer
from tests.cli.test_main import leaves
from tests.tiny_model import WORDS, taught_model

from pair2vec.cli.main import EXTRAS, app

ROOT = Path(__file__).parents[2]

CORE_ONLY = """
import sys
blocked, commands = (part.split("\\n") for part in sys.argv.pop(1).split("\\n\\n"))
sys.modules.update(dict.fromkeys(blocked))
from pair2vec.cli.main import main
for command in commands:
    sys.argv[1:] = command.split("\\t")
    try:
        main()
    except SystemExit as end:
        if end.code:
            sys.exit(f"{sys.argv[1:]}: {end.code}" if len(commands) > 1 else end.code)
"""
"""Runs commands; modules that are blocked cannot be imported, as if they were not installed."""


def normalised(requirement: str) -> str:
    """The name of a package, as in typing-extensions, of a requirement for it."""
    return re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-")


@cache
def other_modules() -> frozenset[str]:
    """All modules here that are not installed with pair2vec without extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed, found = list(map(normalised, project["dependencies"])), {"pair2vec"}
    while needed:
        if (name := needed.pop()) not in found:
            found.add(name)
            requirements = metadata.requires(name) or []
            # Those with a marker are of extras, or for other systems and versions of Python.
            needed += [normalised(line) for line in requirements if ";" not in line]
    packages = metadata.packages_distributions().items()
    others = {module for module, names in packages if not found & {*map(normalised, names)}}
    return frozenset({*others, *EXTRAS})


def pair2vec_core(
    folder: Path, *commands: Sequence[str], without: Iterable[str] = ()
) -> "subprocess.CompletedProcess[str]":
    """Run commands in `folder` in one process without extras, and without some other modules."""
    blocked = "\n".join([*other_modules(), *without])
    lines = "\n".join("\t".join(command) for command in commands)
    return subprocess.run(
        [sys.executable, "-c", CORE_ONLY, f"{blocked}\n\n{lines}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


NEEDS_EXTRA = [
    ("train corpus --out m", "train"),
    ("vectors corpus --out w.vec", "train"),
    ("teach corpus --out m --vectors w.vec", "teach"),
    ("nli train --train a --dev b --out c --words w.vec", "nli"),
    ("nli table results", "nli"),
    ("nli predict premise hypothesis --model c", "nli"),
    ("nli compare a b --data d --out e", "nli"),
    ("qa train --train a --dev b --out c --words w.vec", "nli"),
    ("qa answer question --model c --passage p", "nli"),
    ("eval nli --model c --data d", "nli"),
    ("eval squad --model c --data d", "nli"),
    ("serve", "serve"),
    ("mcp", "mcp"),
    ("push nowhere owner/name", "hub"),
    ("fill X --model owner/name", "hub"),
    ("prepare s3://bucket/text --out c", "ray"),
    ("prepare /dev/null --out c --engine ray", "ray"),
    ("demo --out d", "train"),
]


CORE = """
prepare TEXT --out CORPUS --workers 1
pmi CORPUS hot cold | X is the opposite of Y
contexts CORPUS hot cold
relate hot cold --model MODEL
opposed | it is hot | | it is not hot | --model MODEL
neighbours hot --model MODEL
fill | X and Y | --x hot --model MODEL
pair hot cold --model MODEL
analogy hot cold up --model MODEL
nearest hot cold --model MODEL
score hot cold | X and Y | --model MODEL
lexicon CORPUS --out OUT/lexicon.tsv --words TERMS --model MODEL --workers 1
info MODEL
info CORPUS
check MODEL
explorer --model MODEL --out OUT/site
models
describe MODEL --name mine
shrink MODEL --out OUT/small
eval slots --model MODEL
eval fill --model MODEL
eval relate --model MODEL --pairs PAIRS
eval relations --model MODEL --data SET
eval opposed --model MODEL --data SENTENCES
eval bats --data GOOGLE --vectors VECTORS --model MODEL --workers 1 --device cpu
report --out OUT/report --results OUT/none --model MODEL
"""
"""Commands that need no extra, one a line; every second part between bars is one word."""


@pytest.mark.parametrize(("command", "extra"), NEEDS_EXTRA)
def test_a_command_without_its_extra_names_it_in_one_line(
    command: str, extra: str, tmp_path: Path
) -> None:
    done = pair2vec_core(tmp_path, command.split())
    assert f"pip install 'pair2vec[{extra}]'" in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.returncode in {1, 2}
    assert not list(tmp_path.iterdir())


def test_every_other_command_works_without_extras(text: Path, tmp_path: Path) -> None:
    (tmp_path / "words.vec").write_text(
        "".join([f"{len(WORDS)} 2\n", *(f"{word} {len(word)} 1\n" for word in WORDS)])
    )
    (tmp_path / "google.txt").write_text(": opposite\nhot cold up down\nup down cheap dear\n")
    (tmp_path / "terms.txt").write_text("hot\ncold\n")
    (tmp_path / "pairs.tsv").write_text(
        "part\tx\ty\trelation\tlabelled\n"
        "dev\tup\tdown\tantonym\t1\ntest\thot\tcold\tantonym\t1\ntest\tfrance\tparis\tnone\t0\n"
    )
    (tmp_path / "set").mkdir()
    (tmp_path / "none").mkdir()
    (tmp_path / "sentences").mkdir()
    (tmp_path / "sentences" / "some.tsv").write_text(
        "label\tsentence1\tsentence2\nopposed\tit is hot\tit is not hot\n"
    )
    for name in ("train", "val", "test"):
        (tmp_path / "set" / f"{name}.tsv").write_text("hot\tcold\tA\nup\tdown\tA\nup\tis\tB\n" * 8)
    paths = {
        "TEXT": text,
        "CORPUS": tmp_path / "corpus",
        "MODEL": taught_model(tmp_path / "model"),
        "TERMS": tmp_path / "terms.txt",
        "GOOGLE": tmp_path / "google.txt",
        "VECTORS": tmp_path / "words.vec",
        "PAIRS": tmp_path / "pairs.tsv",
        "SET": tmp_path / "set",
        "SENTENCES": tmp_path / "sentences",
        "OUT": tmp_path,
    }
    lines = CORE.strip()
    for name, path in paths.items():
        lines = re.sub(rf"\b{name}\b", str(path), lines)
    commands = [re.split(r"\s*\|\s*", line) for line in lines.split("\n")]
    words = [
        [word for n, part in enumerate(parts) for word in ([part] if n % 2 else part.split())]
        for parts in commands
    ]
    done = pair2vec_core(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert "pip install" not in done.stderr


def test_no_command_is_left_out() -> None:
    known = [line for line, _ in NEEDS_EXTRA] + CORE.strip().split("\n")
    for path in leaves(typer.main.get_command(app)):
        assert any(line.replace("|", " ").split()[: len(path)] == list(path) for line in known), (
            path
        )


def test_a_module_that_no_extra_brings_is_a_bug_and_not_hidden(tmp_path: Path) -> None:
    done = pair2vec_core(tmp_path, ["relate", "hot", "cold"], without=["tomllib"])
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
        # Of the last ones no command is in need: `integrations` names the extra.
        if extra not in {"dev", "docs", "spacy", "sklearn", "gensim", "pandas"}
        for name in names
    }
    assert brought - {"pair2vec"} == set(EXTRAS)

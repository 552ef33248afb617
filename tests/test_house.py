"""The house rules: which room may import which, and what stays light."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "pair2vec"

# The rooms, and the rooms each may import. A new room gets a line here and in CONTRIBUTING.
MAY_IMPORT: dict[str, set[str]] = {
    "text": set(),
    "triples": {"text"},
    "theory": {"text", "triples"},
    "encoders": {"text"},
    "model": {"text"},
    "training": {"encoders", "triples", "model", "text"},
    "query": {"model", "text"},
    "miniworld": set(),
    "evaluation": {"miniworld", "query", "training", "triples", "model", "text"},
    "display": {"text", "theory", "training", "query", "evaluation"},
    "cli": {
        "text",
        "triples",
        "theory",
        "encoders",
        "training",
        "model",
        "query",
        "miniworld",
        "evaluation",
        "display",
    },
}
FOUNDATIONS = {"", "errors", "atomic"}
WITHOUT_TORCH = {
    *FOUNDATIONS,
    *("text", "triples", "theory", "model", "query", "miniworld", "display", "cli"),
}


def room_of(module: str) -> str:
    return [*module.split("."), ""][1]


def modules() -> Iterator[tuple[str, Path]]:
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        yield ".".join(part for part in parts if part != "__init__"), path


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or ""


@pytest.mark.parametrize(("module", "path"), sorted(modules()), ids=str)
def test_a_room_imports_only_what_it_may(module: str, path: Path) -> None:
    room = room_of(module)
    imported = set(imports(ast.parse(path.read_text())))
    rooms = {room_of(name) for name in imported if name.split(".")[0] == "pair2vec"}
    if room in FOUNDATIONS:
        allowed: set[str] = set()
    elif room == "__main__":
        allowed = {"cli"}
    else:
        allowed = MAY_IMPORT[room] | {room}
    assert rooms <= allowed | FOUNDATIONS
    if room in WITHOUT_TORCH:
        assert "torch" not in {name.split(".")[0] for name in imported}


def test_the_command_imports_heavy_rooms_only_where_needed() -> None:
    tree = ast.parse((PACKAGE / "cli.py").read_text())
    top_level = ast.Module(
        [node for node in tree.body if not isinstance(node, ast.FunctionDef)], []
    )
    rooms = {room_of(name) for name in imports(top_level) if name.startswith("pair2vec")}
    assert rooms <= FOUNDATIONS


def test_importing_the_package_loads_neither_numpy_nor_torch() -> None:
    code = "import sys, pair2vec; print({'numpy', 'torch'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"

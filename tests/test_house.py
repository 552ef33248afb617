"""The house rules: which room may import which, and what stays light."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pair2vec
import pair2vec.query

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
    "wordnet": set(),
    "embedders": {"encoders", "text"},
    "injection": {"encoders", "model", "query", "text", "wordnet"},
    "supervised": {
        *("injection", "embedders", "training", "triples", "wordnet", "encoders", "model", "text"),
    },
    "nli": {
        *("injection", "embedders", "supervised", "training", "triples", "wordnet"),
        *("encoders", "model", "text"),
    },
    "qa": {
        *("injection", "embedders", "supervised", "training", "triples", "wordnet"),
        *("encoders", "model", "text"),
    },
    "miniworld": set(),
    "evaluation": {
        *("miniworld", "query", "training", "theory", "triples", "model", "text"),
        *("nli", "qa", "injection", "embedders", "wordnet"),
    },
    "lexicon": {"query", "model", "text", "wordnet"},
    "server": {"lexicon", "query", "model", "text"},
    "display": {
        *("text", "theory", "training", "query", "evaluation", "supervised", "nli", "qa"),
        "lexicon",
    },
    "commands": {
        *("text", "triples", "theory", "encoders", "training", "model", "query"),
        *("injection", "embedders", "supervised", "nli", "qa", "wordnet"),
        *("miniworld", "evaluation", "display", "lexicon", "server"),
    },
    "cli": {"commands"},
    "__main__": {"cli"},
    "": {"query"},  # only when `load` is first asked for
    "errors": set(),
    "atomic": set(),
}
FOUNDATIONS = {"", "errors", "atomic"}
WITHOUT_TORCH = {
    *FOUNDATIONS,
    *("text", "triples", "theory", "model", "query", "wordnet", "miniworld", "display"),
    *("lexicon", "server", "commands", "cli"),
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
    assert rooms <= MAY_IMPORT[room] | {room} | FOUNDATIONS
    if room in WITHOUT_TORCH:
        assert "torch" not in {name.split(".")[0] for name in imported}


@pytest.mark.parametrize(
    "path", [PACKAGE / "cli.py", *sorted((PACKAGE / "commands").glob("*.py"))], ids=lambda p: p.stem
)
def test_a_command_imports_heavy_rooms_only_where_needed(path: Path) -> None:
    tree = ast.parse(path.read_text())
    at_once = [node for node in tree.body if not isinstance(node, ast.FunctionDef)]
    run = [node for node in at_once if not is_for_types(node)]
    rooms = {room_of(name) for name in imports(ast.Module(run, [])) if name.startswith("pair2vec")}
    assert rooms <= FOUNDATIONS | {"commands"}


def is_for_types(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


@pytest.mark.parametrize("module", ["pair2vec", "pair2vec.cli"])
def test_importing_the_package_or_its_command_loads_neither_numpy_nor_torch(module: str) -> None:
    code = f"import sys, {module}; print({{'numpy', 'torch'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_package_offers_what_users_ask_models_with() -> None:
    code = "import pair2vec; print(pair2vec.load.__module__, 'load' in dir(pair2vec))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["pair2vec.query.model", "True"]
    for name in pair2vec.__all__:
        assert getattr(pair2vec, name) is getattr(pair2vec.query, name)
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        pair2vec.lode  # type: ignore[attr-defined]  # noqa: B018

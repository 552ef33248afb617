"""The architecture: which room may import which, and what stays light."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pair2vec
import pair2vec.api

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "pair2vec"
DESIGN = ROOT / "docs" / "explanation" / "design.md"

FOUNDATIONS = {"errors", "arrays", "ranges", "rendering", "version"}
WITHOUT_TORCH = (
    "text triples theory model query relations wordnet lexicon server cli api arrays errors ranges"
).split()


def rooms() -> dict[str, set[str]]:
    """The table of the design page: for each room the rooms it may import."""
    rows = re.findall(
        r"^\| `(\w+)(?:/|\.py)` \|[^|]*\| ([^|]*) \|$", DESIGN.read_text(), re.MULTILINE
    )
    table = {room: {name for name in allowed.split(", ") if name != "–"} for room, allowed in rows}
    # The package itself imports its API at the first use of a public name.
    return {**table, "": {"api"}, "__main__": {"cli"}}


def modules() -> dict[str, Path]:
    names = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        names[".".join(part for part in parts if part != "__init__")] = path
    return names


def room_of(module: str) -> str:
    return [*module.split("."), ""][1]


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported_modules() -> dict[str, set[str]]:
    """For each module the modules of this package that it imports, anywhere in it."""
    known = modules()
    return {
        module: {
            name if name in known else name.rpartition(".")[0]
            for name in imports(ast.parse(path.read_text()))
            if name.split(".")[0] == "pair2vec"
        }
        - {module}
        for module, path in known.items()
    }


def test_a_room_imports_only_the_rooms_of_its_row() -> None:
    table, wrong = rooms(), []
    assert {path.parent.name for path in PACKAGE.glob("*/__init__.py")} <= set(table)
    for module, imported in imported_modules().items():
        room = room_of(module)
        allowed = {room, *table.get(room, ()), *FOUNDATIONS}
        wrong += [f"{module} -> {name}" for name in imported if room_of(name) not in allowed]
    assert not wrong


def test_only_the_command_line_imports_experiments() -> None:
    importers = {
        room_of(module)
        for module, imported in imported_modules().items()
        if any(room_of(name) == "experiments" for name in imported)
    }
    assert importers == {"experiments", "cli"}


def test_no_module_imports_itself_through_others() -> None:
    graph = imported_modules()
    finished: set[str] = set()

    def visit(module: str, above: tuple[str, ...]) -> None:
        assert module not in above, " -> ".join((*above, module))
        if module not in finished:
            for name in sorted(graph.get(module, ())):
                visit(name, (*above, module))
            finished.add(module)

    for module in graph:
        visit(module, ())


def test_rooms_that_do_without_torch_never_load_it() -> None:
    names = [name for name in sorted(modules()) if room_of(name) in WITHOUT_TORCH]
    optional = {"pair2vec.text.ray_engine"}
    code = "import sys, importlib\n" + "".join(
        f"importlib.import_module({name!r})\n" for name in names if name not in optional
    )
    code += "print({'torch', 'matplotlib', 'transformers'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("module", ["pair2vec", "pair2vec.cli.main"])
def test_importing_the_package_or_its_command_loads_neither_numpy_nor_torch(module: str) -> None:
    code = f"import sys, {module}; print({{'numpy', 'torch'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_package_offers_what_users_ask_models_with() -> None:
    code = "import pair2vec; print(pair2vec.load.__module__, 'load' in dir(pair2vec))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["pair2vec.api", "True"]
    assert sorted(pair2vec.__all__) == sorted([*pair2vec.api.__all__, "__version__"])
    for name in pair2vec.api.__all__:
        assert getattr(pair2vec, name) is getattr(pair2vec.api, name)
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        pair2vec.lode  # type: ignore[attr-defined]  # noqa: B018

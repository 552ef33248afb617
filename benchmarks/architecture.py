"""How easy the source is to enter: files, importers, cycles, names, and the ways through it.

    python benchmarks/architecture.py [--src src] [--device cuda]

A *way* is the set of our source files whose functions run on the way of one sentence to an
answer: to an answer of `fill`; to a training step (`prepare`, then `train` until the model is
published); to a line of a lexicon (`prepare`, then `lexicon`). Module bodies, which run at import,
do not count. A *switch* is a call from one file into another. `--src` measures another checkout.
"""

import argparse
import ast
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = "pair2vec"

_TRACER = """
import os, sys, threading
base = os.path.join(sys.argv[1], "pair2vec") + os.sep
sys.path.insert(0, sys.argv[1])
files, last, switches, until = set(), None, 0, sys.argv[2]
def is_import(frame):
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(base):
            return True
        frame = frame.f_back
    return False
def profile(frame, event, argument):
    global last, switches
    name = frame.f_code.co_filename
    if event == "call" and name.startswith(base) and not is_import(frame):
        if frame.f_code.co_name == until:
            sys.setprofile(None)
            threading.setprofile(None)
            return
        files.add(name)
        switches += name != last
        last = name
sys.argv = ["pair2vec", *sys.argv[3:]]
sys.setprofile(profile)
threading.setprofile(profile)
try:
    try:
        from pair2vec.cli.main import main
    except ImportError:
        from pair2vec.cli import main
    main()
except SystemExit as end:
    assert not end.code, end.code
finally:
    sys.setprofile(None)
    threading.setprofile(None)
print("way", switches, *sorted(name[len(base):] for name in files), file=sys.stderr)
"""


def main() -> None:
    """Print one line a number."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--src", type=Path, default=ROOT / "src")
    parser.add_argument("--device", default="cpu", help="of the training step: cpu or cuda")
    options = parser.parse_args()
    src = options.src.resolve()
    modules = find_modules(src)
    graph = {name: imported(path, set(modules)) - {name} for name, path in modules.items()}
    importers: dict[str, set[str]] = defaultdict(set)
    for name, others in graph.items():
        for other in others:
            importers[other].add(name)
    names: dict[str, int] = defaultdict(int)
    for path in modules.values():
        for public in public_names(path):
            names[public] += 1
    lines = sum(len(path.read_text().splitlines()) for path in modules.values())
    print(f"source files                        {len(modules)}")
    print(f"lines of Python                     {lines:,}")
    print(f"modules with exactly one importer   {sum(len(v) == 1 for v in importers.values())}")
    print(f"import cycles                       {len(cycles(graph))}")
    twice = sum(count > 1 for count in names.values())
    print(f"public names, and defined twice     {len(names):,}, {twice}")
    print(f"README bytes                        {(src.parent / 'README.md').stat().st_size:,}")
    for way, (files, switches) in ways(src, options.device).items():
        print(f"files on the way to {way:15} {len(files)} ({switches:,} switches)")


def find_modules(src: Path) -> dict[str, Path]:
    """The modules of the package by name."""
    modules = {}
    for path in sorted((src / PACKAGE).rglob("*.py")):
        parts = path.relative_to(src).with_suffix("").parts
        modules[".".join(part for part in parts if part != "__init__")] = path
    return modules


def imported(path: Path, modules: set[str]) -> set[str]:
    """The modules of the package that a file imports, at its top or inside functions."""

    def full_names() -> Iterator[str]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    submodule = f"{node.module}.{alias.name}"
                    yield submodule if submodule in modules else node.module

    return set(full_names()) & modules


def public_names(path: Path) -> set[str]:
    """The names without an underscore that a module defines at its top level."""
    names: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return {name for name in names if not name.startswith("_")}


def cycles(graph: Mapping[str, set[str]]) -> list[set[str]]:
    """Groups of modules that reach each other (strongly connected components of two or more)."""
    reach = {name: reachable(graph, name) for name in graph}
    groups = {
        frozenset(other for other in reach[name] if name in reach[other])
        for name in graph
        if name in reach[name]
    }
    return [set(group) for group in groups]


def reachable(graph: Mapping[str, set[str]], start: str) -> set[str]:
    """The modules that `start` imports, directly or through others."""
    seen: set[str] = set()
    left = [*graph[start]]
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left += graph[name]
    return seen


def ways(src: Path, device: str) -> dict[str, tuple[set[str], int]]:
    """For each way its files and switches."""
    with tempfile.TemporaryDirectory() as folder:
        corpus, model, terms = (f"{folder}/{name}" for name in ("corpus", "model", "terms.txt"))
        Path(terms).write_text("hot\ncold\nsmall\nlarge\n")
        texts = [str(ROOT / "examples" / name) for name in ("world.xml", "opposites.txt")]
        settings = ("triples.subsampling=none", "training.batch=64", "training.epochs=1")
        steps = {
            "fill": ["fill", "in X , Y .", "--x", "portland"],
            "prepare": ["prepare", *texts, "--out", corpus, "--vocab", "100", "--workers", "1"],
            "train": [
                *("train", corpus, "--out", model, "--recipe", "tiny", "--device", device),
                *(part for setting in settings for part in ("--set", setting)),
            ],
            "lexicon": [
                *("lexicon", corpus, "--words", terms, "--out", f"{folder}/lexicon.tsv"),
                *("--workers", "1"),
            ],
        }
        runs = {
            name: traced(src, arguments, until="publish" if name == "train" else "")
            for name, arguments in steps.items()
        }

    def joined(*names: str) -> tuple[set[str], int]:
        files = set().union(*(runs[name][0] for name in names))
        return files, sum(runs[name][1] for name in names)

    return {
        "fill": runs["fill"],
        f"a {device} step": joined("prepare", "train"),
        "a lexicon line": joined("prepare", "lexicon"),
    }


def traced(src: Path, arguments: list[str], until: str) -> tuple[set[str], int]:
    """The files whose functions run in a command until one is called, and switches between them."""
    done = subprocess.run(
        [sys.executable, "-c", _TRACER, str(src), until, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(src)},
    )
    ways = [line for line in done.stderr.splitlines() if line.startswith("way ")]
    if done.returncode or not ways:
        sys.exit(f"{' '.join(arguments)}: failed\n{done.stderr}")
    _, switches, *files = ways[-1].split()
    return set(files), int(switches)


if __name__ == "__main__":
    main()

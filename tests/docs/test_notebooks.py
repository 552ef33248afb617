"""Every notebook of `examples/notebooks/` runs in a kernel, and prints and shows what it says.

Of a cell with the tag *varies*, whose numbers or pictures differ from machine to machine, only what
kinds of output it has are compared. `python tests/docs/test_notebooks.py` runs them all and stores
what they print.
"""

import os
import re
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).parents[2]
sys.path.append(str(PROJECT))  # where it is run as a program

from tests.docs.pages import matches  # noqa: E402

NOTEBOOKS = sorted((PROJECT / "examples" / "notebooks").glob("*.ipynb"))
LARGEST = 200_000
"""Bytes: what a notebook shows is to be small."""

_STYLE = re.compile("\x1b\\[[0-9;]*m")
"""Of text on a terminal, which a kernel asks commands for."""

Output = tuple[str, str]
"""A stream's name or a MIME type, and what there is of it."""


def read(path: Path) -> Any:
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def execute(notebook: Any, folder: Path) -> Any:
    """A copy with the outputs of a new kernel that works in a folder."""
    from nbclient import NotebookClient

    copied = deepcopy(notebook)
    # With a profile of its own, and the commands of this environment.
    binaries = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    changed = {"IPYTHONDIR": str(folder / ".ipython"), "PATH": binaries, "OMP_NUM_THREADS": "1"}
    client = NotebookClient(
        copied,
        timeout=300,
        coalesce_streams=True,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--HistoryManager.enabled=False"],
    )
    return client.execute(env={**os.environ, **changed})


def outputs(cell: Any) -> list[Output]:
    """What a cell prints, each stream in one piece, and what it shows, in each of its forms."""
    found: list[Output] = []
    for output in cell.outputs:
        if output.output_type == "stream":
            before = found.pop()[1] if found and found[-1][0] == output.name else ""
            found.append((output.name, before + output.text))
        else:
            found += sorted(output.data.items())
    return [(kind, _STYLE.sub("", str(content))) for kind, content in found]


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_and_shows_what_it_says(path: Path, tmp_path: Path) -> None:
    for needed in ("nbclient", "ipykernel", "matplotlib", "torch", "gensim"):
        pytest.importorskip(needed)
    stored = read(path)
    done = execute(stored, tmp_path)
    for cell, again in zip(code_cells(stored), code_cells(done), strict=True):
        expected, found = outputs(cell), outputs(again)
        assert [kind for kind, _ in found] == [kind for kind, _ in expected], cell.source
        if "varies" not in cell.metadata.get("tags", []):
            for (kind, shown), (_, content) in zip(expected, found, strict=True):
                assert matches(shown, content), f"{cell.source}\nshows as {kind}\n{content}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_with_its_outputs_and_nothing_of_a_machine(path: Path) -> None:
    notebook, text = read(path), path.read_text()
    assert [cell.execution_count for cell in code_cells(notebook)] == [
        *range(1, len(code_cells(notebook)) + 1)
    ]
    assert len(text) <= LARGEST
    assert set(notebook.metadata) == {"kernelspec"}
    assert "stderr" not in [kind for cell in code_cells(notebook) for kind, _ in outputs(cell)]
    for cell in notebook.cells:
        assert set(cell.metadata) <= {"tags"}
    links = re.findall(r"\]\((?!https:)([^)#]+)", "".join(cell.source for cell in notebook.cells))
    assert links
    assert [link for link in links if not (path.parent / link).exists()] == []
    assert "/tmp/" not in text
    assert str(Path.home()) not in text


def store() -> None:
    """Run every notebook and store its outputs."""
    from tempfile import TemporaryDirectory

    nbformat = pytest.importorskip("nbformat")
    for path in NOTEBOOKS:
        with TemporaryDirectory() as folder:
            done = execute(read(path), Path(folder))
        for cell in code_cells(done):
            cell.metadata.pop("execution", None)
            for output in cell.outputs:
                if output.output_type == "stream":
                    output.text = _STYLE.sub("", output.text)
        done.metadata = {"kernelspec": done.metadata["kernelspec"]}
        nbformat.write(done, path)
        print(path)


if __name__ == "__main__":
    store()

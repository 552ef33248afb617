"""What a visitor sees first agrees with the project: README, changelog, citation, metadata."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from tests.docs.pages import PROJECT, blocks

import pair2vec

PACKAGE = PROJECT / "src" / "pair2vec"
DOC_PAGES = [
    *("README.md", "CONTRIBUTING.md"),
    *sorted(str(path.relative_to(PROJECT)) for path in (PROJECT / "docs").rglob("*.md")),
]


def project() -> dict[str, object]:
    table: dict[str, object] = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    return table


def test_the_readme_is_short() -> None:
    assert (PROJECT / "README.md").stat().st_size <= 9_000


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(page: str) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)", (PROJECT / page).read_text())
    files = [target for target in targets if "://" not in target]
    assert files
    assert [name for name in files if not (PROJECT / name).exists()] == []


@pytest.mark.parametrize("page", DOC_PAGES)
def test_a_path_of_the_repository_that_a_page_names_is_there(page: str) -> None:
    tops = "benchmarks|docs|src|tests|examples|results"
    named = re.findall(rf"(?<![\w/.~-])((?:{tops})/[\w./-]*\w)", (PROJECT / page).read_text())
    near = [(PROJECT / page).parent, PROJECT, PROJECT / "src" / "pair2vec"]
    assert [path for path in named if not any((folder / path).exists() for folder in near)] == []


def test_the_tree_in_the_readme_names_every_package() -> None:
    (tree,) = (
        block.body
        for block in blocks((PROJECT / "README.md").read_text())
        if block.body.startswith("src/pair2vec/")
    )
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert set(re.findall(r"^  (\w+)/", tree, re.MULTILINE)) == packages


def test_version_and_licence_are_the_same_everywhere() -> None:
    citation = yaml.safe_load((PROJECT / "CITATION.cff").read_text())
    assert pair2vec.__version__ == citation["version"]
    assert project()["license"] == citation["license"]


def test_the_workflow_runs_what_is_checked_on_every_change() -> None:
    workflow = (PROJECT / ".github" / "workflows" / "ci.yml").read_text()
    checked = re.findall(r"^make [\w-]+$", (PROJECT / ".ci" / "run").read_text(), re.MULTILINE)
    assert set(checked) <= set(re.findall(r"run: (make [\w-]+)$", workflow, re.MULTILINE))
    targets = re.findall(r"^([\w-]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"run: make ([\w-]+)$", workflow, re.MULTILINE)) <= set(targets)


@pytest.mark.parametrize(
    "path",
    [
        *(PROJECT / ".github").rglob("*.yml"),
        PROJECT / ".pre-commit-config.yaml",
        PROJECT / "CITATION.cff",
    ],
    ids=lambda path: path.name,
)
def test_settings_of_tools_are_valid_yaml(path: Path) -> None:
    assert yaml.safe_load(path.read_text())

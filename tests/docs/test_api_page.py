"""The API page of the documentation has every public name."""

import ast
import re

import pytest
from tests.docs.pages import PROJECT


def documented_names() -> set[str]:
    """What mkdocstrings is told to show; ``module.name.name`` is a name hidden by its module's."""
    page = (PROJECT / "docs" / "reference" / "api.md").read_text()
    return {
        re.sub(r"\b(\w+)\.\1$", r"\1", name)
        for name in re.findall(r"^::: ([\w.]+)$", page, re.MULTILINE)
    }


def public_names(package: str) -> set[str]:
    """The package's `__all__`, read without importing what it needs."""
    path = PROJECT / "src" / package.replace(".", "/") / "__init__.py"
    (found,) = (
        ast.literal_eval(statement.value)
        for statement in ast.parse(path.read_text()).body
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__"
    )
    return set(found) - {"__version__"}


@pytest.mark.parametrize(
    "package", ["pair2vec", "pair2vec.injection", "pair2vec.text", "pair2vec.theory"]
)
def test_every_public_name_is_on_the_api_page(package: str) -> None:
    missing = {f"{package}.{name}" for name in public_names(package)} - documented_names()
    assert not missing

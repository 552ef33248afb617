"""The package as a user installs it: a wheel, in an environment without torch."""

import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest
from tests.lowest import ENVIRONMENTS, lowest, pins
from tests.tiny_model import save_tiny_model

PROJECT = Path(__file__).parents[1]


def run(*command: object) -> str:
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, cwd=Path("/")
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_sdist_has_every_file_of_the_repository() -> None:
    if not (PROJECT / ".git").exists():
        pytest.skip("these are the files of an sdist already")
    tracked = run("git", "-C", PROJECT, "ls-files").splitlines()
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    included = settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    always = {"pyproject.toml", ".gitignore"}
    assert {name.split("/")[0] for name in tracked} == {*included, *always}


def test_every_requirement_has_a_lower_bound_that_is_tested() -> None:
    """tests/lowest.py runs tests with exactly these versions."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    requirements = [
        *project["dependencies"],
        *(name for names in optional.values() for name in names),
    ]
    for requirement in requirements:
        assert re.fullmatch(r"[\w-]+>=[\d.]+(,<\d+)?|pair2vec\[[\w,]+\]", requirement), requirement
    bounds: dict[str, set[str]] = {}
    for requirement in requirements:
        bounds.setdefault(re.split("[>[]", requirement)[0], set()).add(requirement)
    assert all(len(each) == 1 for name, each in bounds.items() if name != "pair2vec"), bounds
    covered = {extra for environment in ENVIRONMENTS.values() for extra in environment.extras}
    assert covered == set(optional) - {"docs", "dev"}
    pinned = {pin for environment in ENVIRONMENTS.values() for pin in pins(project, environment)}
    used = [*project["dependencies"], *(name for extra in covered for name in optional[extra])]
    assert {*lowest(used)} <= pinned
    assert lowest(["typer>=0.15.4,<1", "pair2vec[train]"]) == ["typer==0.15.4"]


def test_the_wheel_answers_without_torch(tmp_path: Path) -> None:
    pip = ["-m", "pip", "--quiet", "--disable-pip-version-check"]
    run(sys.executable, *pip, "wheel", "--no-deps", "--wheel-dir", tmp_path, PROJECT)
    (wheel,) = tmp_path.glob("pair2vec-*.whl")
    venv.create(tmp_path / "user", with_pip=True)
    python = tmp_path / "user" / "bin" / "python"
    run(python, *pip, "install", wheel, "--constraint", PROJECT / "constraints.txt")
    installed = run(python, "-m", "pip", "list")
    assert "numpy" in installed
    assert "torch" not in installed

    pair2vec = tmp_path / "user" / "bin" / "pair2vec"
    assert "1  oregon" in run(pair2vec, "fill", "in X , Y .", "--x", "portland")
    code = "import pair2vec; print(pair2vec.load().analogy('france', 'paris', 'japan')[0].word)"
    assert run(python, "-c", code).strip() == "tokyo"

    model = save_tiny_model(tmp_path / "model")
    assert "hot, cold in" in run(pair2vec, "score", "hot", "cold", "X and Y", "--model", model)
    assert "1  " in run(pair2vec, "fill", "X and Y", "--x", "hot", "--model", model)
    # The table of the paper is a data file of the package.
    assert "portland" in run(pair2vec, "eval", "slots", "--model", model)
    code = f"import pair2vec; print(pair2vec.load({str(model)!r}).pair('hot', 'cold').shape)"
    assert run(python, "-c", code).strip() == "(16,)"

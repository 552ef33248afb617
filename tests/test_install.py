"""The package as a user installs it: a wheel, in an environment without torch."""

import subprocess
import sys
import venv
from pathlib import Path

from tests.tiny_model import save_tiny_model

PROJECT = Path(__file__).parents[1]


def run(*command: object) -> str:
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, cwd=Path("/")
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


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

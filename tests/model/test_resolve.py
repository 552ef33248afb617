"""Models by name: bundled ones, and those on the hub, offline in the hub's own layout."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
from tests.tiny_model import save_tiny_model

from pair2vec.errors import InputError, UsageError
from pair2vec.model import resolve
from pair2vec.model.folder import load_model
from pair2vec.model.resolve import bundled_models, find_model, push_model

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with two models."""
    folder = tmp_path / "models"
    for name in ("second", "first"):
        save_tiny_model(folder / name)
    (folder / "no-model").mkdir()
    monkeypatch.setattr(resolve, "BUNDLED", folder)
    return folder


def test_bundled_models_are_found_by_name_and_the_first_by_none(bundle: Path) -> None:
    assert list(bundled_models()) == ["first", "second"]
    assert find_model("second") == bundle / "second"
    assert find_model() == bundle / "first"


def test_a_folder_goes_before_a_name(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_model("first") == bundle / "first"
    save_tiny_model(tmp_path / "first")
    assert find_model("first") == Path("first")


def test_an_unknown_name_is_refused_with_the_known_ones(
    bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match=r"third: no such folder, .* bundled are first, second"):
        find_model("third")
    monkeypatch.setattr(resolve, "BUNDLED", bundle / "nowhere")
    with pytest.raises(UsageError, match="no models are bundled"):
        find_model("first")
    with pytest.raises(UsageError, match="no model given"):
        find_model()


def hub_cache(home: Path) -> Path:
    """Where the hub's library keeps a model it has fetched."""
    return home / "hub" / "models--owner--tiny"


def ask(home: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """The command, with the hub's cache in `home` and no network."""
    # Read when the hub's library is imported, so in a process of its own.
    environment = {**os.environ, "HF_HOME": str(home), "HF_HUB_OFFLINE": "1"}
    return subprocess.run(
        [sys.executable, "-m", "pair2vec", *arguments],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        cwd=home,
    )


def test_a_model_on_the_hub_is_loaded_by_its_name(tmp_path: Path) -> None:
    cache = hub_cache(tmp_path)
    save_tiny_model(cache / "snapshots" / COMMIT)
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text(COMMIT)
    done = ask(tmp_path, "score", "hot", "cold", "X and Y", "--model=owner/tiny", "--json")
    assert done.returncode == 0, done.stderr
    local = ask(
        tmp_path, "score", "hot", "cold", "X and Y", "--json",
        f"--model={cache / 'snapshots' / COMMIT}",
    )  # fmt: skip
    assert json.loads(done.stdout)["score"] == json.loads(local.stdout)["score"]


def test_a_model_that_the_hub_does_not_have_is_one_clear_line(tmp_path: Path) -> None:
    done = ask(tmp_path, "info", "owner/nothing")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(
        "pair2vec: owner/nothing: no such folder, and cannot be downloaded from the hub"
    )


class LocalHub:
    """The hub's interface, with a folder for a server."""

    def __init__(self) -> None:
        self.server = Path(os.environ["TEST_HUB"])

    def create_repo(self, name: str, *, private: bool, exist_ok: bool) -> None:
        assert exist_ok
        (self.server / name).mkdir(parents=True, exist_ok=True)
        (self.server / name / "private").write_text(str(private))

    def upload_folder(
        self, *, folder_path: Path, repo_id: str, allow_patterns: list[str], commit_message: str
    ) -> str:
        assert commit_message.startswith("Add ")
        for name in allow_patterns:
            shutil.copy(folder_path / name, self.server / repo_id / name)
        return f"hub:{repo_id}"


def test_a_pushed_model_comes_back_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_HUB", str(tmp_path / "server"))
    monkeypatch.setattr(huggingface_hub, "HfApi", LocalHub)
    folder = save_tiny_model(tmp_path / "model")
    (folder / "training").mkdir()
    assert push_model(folder, "owner/tiny", private=True) == "hub:owner/tiny"
    pushed = tmp_path / "server" / "owner" / "tiny"
    assert (pushed / "private").read_text() == "True"
    assert load_model(pushed).config == load_model(folder).config
    assert not (pushed / "training").exists()


def test_what_is_no_model_is_not_pushed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="no such folder"):
        push_model(tmp_path / "nothing", "owner/tiny")

    class Refusing(LocalHub):
        def create_repo(self, *_: Any, **__: Any) -> None:
            raise PermissionError("not yours\nsee the manual")

    monkeypatch.setenv("TEST_HUB", str(tmp_path / "server"))
    monkeypatch.setattr(huggingface_hub, "HfApi", Refusing)
    folder = save_tiny_model(tmp_path / "model")
    with pytest.raises(InputError, match=r"owner/tiny: the hub refuses it: not yours$"):
        push_model(folder, "owner/tiny")

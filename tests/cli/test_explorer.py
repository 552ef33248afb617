"""``pair2vec explorer`` as a user runs it."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.command import assert_fails, pair2vec
from tests.tiny_model import save_tiny_model, taught_model

PAGE = "index.html"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return taught_model(tmp_path_factory.mktemp("models") / "My Model")


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_it_writes_a_site_whose_folders_are_named_by_their_content(
    model: Path, tmp_path: Path
) -> None:
    done = pair2vec("explorer", "--out", tmp_path / "site", "--model", model)
    assert done.returncode == 0, done.stderr
    assert "wrote" in done.stderr and "knows too few words" not in done.stderr
    first = names(tmp_path / "site")
    assert {PAGE, "package.json", "engine.js", "service_worker.js", "README.md"} < first
    other = save_tiny_model(tmp_path / "other")
    (tmp_path / "site" / "CNAME").write_text("pairs.example.org\n")
    again = pair2vec("explorer", "--out", tmp_path / "site", "--model", other, "--overwrite")
    assert "knows too few words" in again.stderr
    second = names(tmp_path / "site")
    assert {name.partition("-")[0] for name in first ^ second} == {"model", "CNAME"}
    assert len(second) == len(first) + 1
    index = (tmp_path / "site" / PAGE).read_text()
    assert all(name in index for name in second if name.startswith(("model-", "static-")))


def test_it_overwrites_only_a_site_and_only_if_asked(model: Path, tmp_path: Path) -> None:
    out, photos = tmp_path / "site", tmp_path / "photos"
    photos.mkdir()
    (photos / "holiday.jpg").write_bytes(b"")
    (photos / "package.json").write_text('{"name": "photos"}')
    for options in ((), ("--overwrite",)):
        refused = pair2vec("explorer", "--out", photos, "--model", model, *options)
        assert_fails(refused, 2, "is not an explorer site and not empty (holiday.jpg)")
    assert names(photos) == {"holiday.jpg", "package.json"}
    assert pair2vec("explorer", "--out", out, "--model", model).returncode == 0
    assert_fails(
        pair2vec("explorer", "--out", out, "--model", model), 2, "already holds", "--overwrite"
    )
    # What a killed process left is gone on with.
    (out / PAGE).unlink()
    assert pair2vec("explorer", "--out", out, "--model", model).returncode == 0
    assert_fails(pair2vec("explorer", "--out", out / PAGE, "--model", model), 2, "is a file")


def test_a_single_file_overwrites_only_such_a_page(model: Path, tmp_path: Path) -> None:
    command = ("explorer", "--single-file", "--model", model)
    page, letter = tmp_path / "page.html", tmp_path / "letter.html"
    letter.write_text("<p>Dear Ann,")
    assert_fails(pair2vec(*command, "--out", letter, "--overwrite"), 2, "another file")
    assert_fails(pair2vec(*command, "--out", tmp_path), 2, "is a folder")
    assert pair2vec(*command, "--out", page).returncode == 0
    assert_fails(pair2vec(*command, "--out", page), 2, "already holds an explorer page")
    assert pair2vec(*command, "--out", page, "--overwrite").returncode == 0
    assert not (tmp_path / "page.html.lock").exists()


def test_a_missing_model_or_out_is_one_line(tmp_path: Path) -> None:
    missing = pair2vec("explorer", "--out", tmp_path / "site", "--model", tmp_path / "none")
    assert_fails(missing, 1, "none: no such folder")
    assert not (tmp_path / "site").exists()
    assert pair2vec("explorer").returncode == 2


def test_npm_packs_the_site_and_node_runs_the_package(model: Path, tmp_path: Path) -> None:
    if not (shutil.which("npm") and shutil.which("node")):
        pytest.skip("the npm package is not tested: apt-get install npm")
    pair2vec("explorer", "--out", tmp_path / "site", "--model", model)
    packed = subprocess.run(
        ["npm", "pack", "--json", "--offline", "--pack-destination", tmp_path],
        cwd=tmp_path / "site",
        capture_output=True,
        check=True,
    )
    (facts,) = json.loads(packed.stdout)
    assert facts["name"] == "pair2vec-my-model"
    packages = tmp_path / "user" / "node_modules"
    packages.mkdir(parents=True)
    shutil.unpack_archive(tmp_path / facts["filename"], packages, "gztar")
    (packages / "package").rename(packages / facts["name"])
    program = tmp_path / "user" / "program.mjs"
    program.write_text(
        'import { load } from "pair2vec-my-model";\n'
        "const model = await load();\n"
        'console.log(model.ask("words", { start: "che" }).words.join());\n'
    )
    done = subprocess.run(["node", program], capture_output=True, text=True, check=True)
    assert done.stdout == "cheap\n"

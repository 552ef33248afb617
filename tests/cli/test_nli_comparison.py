"""`pair2vec nli compare`, as a user runs it."""

from pathlib import Path

import pytest
from tests.command import assert_fails, pair2vec
from tests.experiments.nli.relation_world import (
    FAMILIES,
    data,
    examples,
    places,
    settings,
    write_examples,
    write_inputs,
)

from pair2vec.experiments.nli.train import train_classifier


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with examples and two trained classifiers of one name."""
    folder = tmp_path_factory.mktemp("compare")
    inputs = write_inputs(folder)
    for pairs in ("none", "pair2vec"):
        out = folder / pairs / "esim"
        train_classifier(out, data(), places(inputs, pairs), settings(), device="cpu")
    write_examples(folder / "breaking_nli.jsonl", examples(range(FAMILIES - 15, FAMILIES)))
    return folder


def arguments(place: Path, *more: str) -> list[str | Path]:
    both = [place / "none" / "esim", place / "pair2vec" / "esim"]
    return [
        "nli",
        "compare",
        *both,
        f"--data={place / 'breaking_nli.jsonl'}",
        "--device=cpu",
        *more,
    ]


def test_a_page_with_pictures_is_written_and_the_same_when_written_again(
    place: Path, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
    found = []
    for _ in range(2):
        done = pair2vec(*arguments(place, f"--out={tmp_path / 'page'}", "--examples=3"))
        assert done.returncode == 0, done.stderr
        assert not done.stderr
        assert "esim (base) 33.33 %, esim (model) 100.00 % right of 45 examples" in done.stdout
        files = {path.name: path.read_bytes() for path in (tmp_path / "page").iterdir()}
        # The last line has the date, and midnight may have passed.
        found.append({**files, "index.md": files["index.md"].rpartition(b"- date")[0]})
    assert found[0] == found[1]
    assert sorted(found[0]) == ["categories.png", "examples.png", "index.md"]
    page = found[0]["index.md"].decode()
    assert "| kind1 | 15 |" in page
    assert page.count("\n### ") == 3
    assert str(place) not in page


def test_inputs_that_have_moved_are_named(place: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
    moved = (place / "words.vec").rename(tmp_path / "moved.vec")
    try:
        ask = arguments(place, f"--out={tmp_path / 'page'}")
        assert_fails(pair2vec(*ask), 1, "words.vec")
        assert not (tmp_path / "page").exists()
        done = pair2vec(*ask, f"--words={moved}")
        assert done.returncode == 0, done.stderr
    finally:
        moved.rename(place / "words.vec")


def test_mistakes_are_one_line(place: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
    one, other = place / "none" / "esim", place / "pair2vec" / "esim"
    rest = [f"--data={place / 'breaking_nli.jsonl'}", f"--out={tmp_path / 'page'}"]
    twice = one.parent / "." / ".." / "none" / "esim"
    assert_fails(pair2vec("nli", "compare", one, twice, *rest), 2, "is compared with itself")
    assert_fails(pair2vec("nli", "compare", one, place, *rest), 1, "not a complete classifier")
    missing = [f"--data={place / 'no.jsonl'}", rest[1]]
    assert_fails(pair2vec("nli", "compare", one, other, *missing), 2, "no.jsonl: no such file")
    taken = [rest[0], f"--out={one}"]
    assert_fails(pair2vec("nli", "compare", one, other, *taken), 2, "is not a comparison")
    assert not (tmp_path / "page").exists()

"""``pair2vec info`` as a user runs it."""

import json
from pathlib import Path

from tests.command import assert_fails, pair2vec


def test_info_prints_the_same_and_as_json(text: Path, tmp_path: Path) -> None:
    prepared = pair2vec("prepare", text, "--out", tmp_path / "corpus", "--vocab", "5")
    assert pair2vec("info", tmp_path / "corpus").stdout == prepared.stdout
    manifest = json.loads(pair2vec("info", tmp_path / "corpus", "--json").stdout)
    assert manifest == json.loads((tmp_path / "corpus" / "manifest.json").read_text())


def test_info_shows_sentences_as_they_were_read(text: Path, tmp_path: Path) -> None:
    pair2vec("prepare", text, "--out", tmp_path / "corpus", "--vocab", "9")
    done = pair2vec("info", tmp_path / "corpus", "--sentences", "2")
    assert done.stdout.splitlines()[-2:] == [
        "  hot is the of cold .",
        "  is the capital of france .",
    ]


def test_info_without_a_corpus_says_so(tmp_path: Path) -> None:
    assert_fails(pair2vec("info", tmp_path), 1, "not a complete corpus")
    assert_fails(pair2vec("info", tmp_path / "no"), 1, "no such folder")

"""``pair2vec info`` and ``models`` as a user runs them."""

import json
from pathlib import Path

from tests.command import assert_fails, pair2vec
from tests.rendering import rendered
from tests.tiny_model import save_tiny_model

from pair2vec.cli.models import models_table
from pair2vec.model.folder import load_model, model_facts


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


def test_info_and_the_table_of_models_say_who_taught_a_model(tmp_path: Path) -> None:
    teaching = {"teaching": {"language_model": "tiny-llama"}}
    taught = save_tiny_model(tmp_path / "taught", config=teaching)
    untaught = save_tiny_model(tmp_path / "untaught")
    assert "WordNet and tiny-llama" in pair2vec("info", taught).stdout
    assert "taught by" not in pair2vec("info", untaught).stdout
    facts = {path.name: model_facts(load_model(path)) for path in (taught, untaught)}
    title, first, second = rendered(models_table(facts)).splitlines()
    assert title.split()[-3:] == ["taught", "by", "licence"]
    assert first.split()[-4:] == ["WordNet", "and", "tiny-llama", "–"]
    assert second.split()[-2:] == ["–", "–"]

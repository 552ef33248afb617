from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pair2vec.model.card import model_card
from pair2vec.model.folder import load_model, model_facts, save_model
from pair2vec.text.vocabulary import Vocabulary, WordCount

CONFIG: dict[str, Any] = {
    "name": "small-encyclopedia",
    "format": 1,
    "version": "0.1.0",
    "created": "2020-02-02",
    "precision": "int8",
    "words": 65_000,
    "bytes": 12_300_000,
    "tensors": {"pair.words": [65_004, 300], "pair.bias": [300], "context.words": [65_004, 300]},
    "corpus": {
        "documents": 1_234,
        "sentences": 56_789,
        "tokens": 1_000_000,
        "fingerprint": "abcdef0123456789" * 4,
        "sources": [{"name": "/home/me/dump.xml.bz2", "bytes": 5}, "notes.txt"],
    },
    "recipe": {
        "name": "fast",
        "negatives": {"contexts": 2, "words": 3},
        "layers": [300, 300],
        "clip": None,
    },
    "triples": 356_000_000,
    "teaching": {
        "language_model": "SmolLM2-135M-Instruct.gguf",
        "lexical": ["moby.txt"],
        "candidates": 9_876_543,
        "weights": {"language model": 0.75, "vectors": 0.4999},
        "labelled": {"train": 123_456, "dev": 4_000, "test": 12_000},
    },
    "metrics": {"bats": {"inflectional": 0.7281234567}, "loss": 1.5},
}


def test_a_card_says_what_the_config_says() -> None:
    card = model_card(CONFIG)
    for line in [
        "# small-encyclopedia",
        "| words | 65,000 |",
        "| dimension | 300 |",
        "| parameters | 39,002,700 |",
        "| model.safetensors | 12.3 MB |",
        "| precision | int8 |",
        "| created | 2020-02-02 |",
        "| documents | 1,234 |",
        "| sentences | 56,789 |",
        "| tokens | 1,000,000 |",
        "| fingerprint | " + "abcdef0123456789" * 4 + " |",
        "| sources | dump.xml.bz2, notes.txt |",
        "| triples seen | 356,000,000 |",
        "| negatives | contexts 2, words 3 |",
        "| layers | 300, 300 |",
        "| clip | null |",
        "## Taught",
        "| taught by | WordNet, moby.txt and SmolLM2-135M-Instruct.gguf |",
        "| pairs labelled by teachers | 9,876,543 |",
        "| weights of teachers | language model 0.75, vectors 0.50 |",
        "| pairs of WordNet | train 123,456, dev 4,000, test 12,000; no word in two parts |",
        "| bats | inflectional 0.728123 |",
        'pair2vec fill "X and Y" --x hot --model FOLDER',
        "- Tables are rounded to eight bits: by at most 1/254 of a row's largest value.",
    ]:
        assert line in card.split("\n")
    assert "/home/me" not in card


def test_a_card_of_nothing_states_nothing_of_the_model() -> None:
    card = model_card({})
    assert "|" not in card
    assert not any(
        character.isdigit() for character in card.replace("1810.08854", "").replace("pair2vec", "")
    )
    headings = [line for line in card.split("\n") if line.startswith("#")]
    assert headings == ["# pair2vec model", "## Use", "## Limits"]


@pytest.mark.parametrize(
    ("key", "gone"),
    [
        ("corpus", ["documents", "fingerprint", "sources"]),
        ("recipe", ["## Recipe", "negatives"]),
        ("metrics", ["## Metrics", "loss"]),
        ("triples", ["triples seen"]),
        ("teaching", ["## Taught", "taught by", "SmolLM2", "weights of teachers"]),
        ("created", ["created"]),
        ("precision", ["precision", "rounded"]),
        ("bytes", ["MB"]),
        ("tensors", ["dimension", "parameters"]),
    ],
)
def test_what_the_config_lacks_is_left_out(key: str, gone: list[str]) -> None:
    whole = model_card(CONFIG)
    card = model_card({name: value for name, value in CONFIG.items() if name != key})
    for text in gone:
        assert text in whole
        assert text not in card


def test_no_value_breaks_the_table() -> None:
    card = model_card({"recipe": {"pattern": "either X | Y\nor"}})
    assert r"| pattern | either X \| Y or |" in card.split("\n")


def test_recipe_corpus_and_metrics_may_be_plain_values() -> None:
    card = model_card({"recipe": "paper", "corpus": "abc", "metrics": 0.5})
    for line in ["| recipe | paper |", "| fingerprint | abc |", "| metric | 0.5 |"]:
        assert line in card.split("\n")


def small_model(path: Path, config: dict[str, Any]) -> dict[str, str]:
    vocabulary = Vocabulary([WordCount("a", 2), WordCount("b", 1)])
    tensors = {"pair.words": np.ones((6, 3), np.float32), "pair.bias": np.ones(3, np.float32)}
    save_model(path, tensors, vocabulary, config, precision="int8")
    assert (path / "README.md").read_text() == model_card(load_model(path).config)
    return model_facts(load_model(path))


def test_the_facts_of_a_model_are_in_reading_order(tmp_path: Path) -> None:
    facts = small_model(tmp_path, CONFIG)
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert facts.pop("size on disk") == f"{size / 1000:.1f} kB"
    assert list(facts.items()) == [
        ("model", str(tmp_path)),
        ("words", "2"),
        ("dimension", "3"),
        ("parameters", "21"),
        ("precision", "int8"),
        ("created", "2020-02-02"),
        ("pair2vec version", "0.1.0"),
        ("recipe", "fast"),
        ("corpus fingerprint", "abcdef0123456789"),
        ("corpus tokens", "1,000,000"),
        ("triples seen", "356,000,000"),
        ("taught by", "WordNet, moby.txt and SmolLM2-135M-Instruct.gguf"),
        ("metrics.bats", "inflectional 0.728123"),
        ("metrics.loss", "1.5"),
    ]


def test_facts_that_are_not_known_are_left_out(tmp_path: Path) -> None:
    facts = small_model(tmp_path, {})
    assert list(facts) == [
        "model",
        "words",
        "dimension",
        "parameters",
        "precision",
        "pair2vec version",
        "size on disk",
    ]


def test_a_metric_called_like_a_fact_is_not_taken_for_it(tmp_path: Path) -> None:
    facts = small_model(tmp_path, {"metrics": {"words": 7}})
    assert (facts["words"], facts["metrics.words"]) == ("2", "7")


@pytest.mark.parametrize("odd", [None, 7, "text", [None, {}], {"a": [1]}, "\x00", 1e300])
def test_facts_of_any_type_make_a_card(odd: object) -> None:
    for facts in (
        {"corpus": odd},
        {"corpus": {"sources": odd, "tokens": odd, "fingerprint": odd}},
        {"teaching": {"weights": odd, "labelled": odd, "language_model": odd, "candidates": odd}},
        {"metrics": odd, "shrunk": odd, "recipe": odd, "licence": odd, "name": odd, "triples": odd},
    ):
        assert model_card(facts).startswith("---\nlibrary_name: pair2vec\n")

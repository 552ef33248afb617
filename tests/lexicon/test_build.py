"""A lexicon is made whole: with one process or two, at once or in pieces."""

import json
import re
from pathlib import Path

import pytest
from tests.lexicon.small_corpus import make_corpus
from tests.tiny_model import save_tiny_model

from pair2vec.errors import UsageError
from pair2vec.lexicon import build as making
from pair2vec.lexicon.build import (
    LexiconConfig,
    LexiconInputs,
    LexiconPart,
    LexiconTask,
    build_lexicon,
    build_part,
)

WORDS = """
    the , . and or is of in hot cold warm cool cheap dear france paris spain madrid up down left
""".split()
TEXT = """\
hot or cold .
the hot and the cold , warm and cool .
paris is in france , madrid is in spain .
cheap or dear , up and down .
france and spain .
warm , hot .
"""
RELATIONS = """
[antonym]
symmetric = true
examples = ["hot cold", "up down"]
[located-in]
examples = ["paris france", "madrid spain"]
patterns = ["X is in Y"]
"""
ANYTHING = LexiconConfig(probability=0.0, unrelated=0.1)


@pytest.fixture
def places(tmp_path: Path) -> LexiconInputs:
    corpus = make_corpus(tmp_path, TEXT * 3)
    (tmp_path / "relations.toml").write_text(RELATIONS)
    return LexiconInputs(
        corpus=corpus.folder,
        model=save_tiny_model(tmp_path / "model", WORDS),
        relations=tmp_path / "relations.toml",
        terms=("hot", "cold", "warm", "paris", "france", "spain", "cheap", "dear"),
    )


def made_at(out: Path, places: LexiconInputs, workers: int = 1) -> bytes:
    build_lexicon(places, ANYTHING, out, "jsonl", workers=workers, overwrite=True)
    return out.read_bytes()


def test_it_is_the_same_for_any_number_of_processes_and_portions(
    places: LexiconInputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = made_at(tmp_path / "one.jsonl", places)
    monkeypatch.setattr(making, "_TERMS_AT_ONCE", 3)
    assert made_at(tmp_path / "two.jsonl", places, workers=2) == whole
    assert whole.count(b"\n") > 8


def test_entries_are_related_terms_with_sentences_that_have_both(
    places: LexiconInputs, tmp_path: Path
) -> None:
    entries = [json.loads(line) for line in made_at(tmp_path / "l.jsonl", places).splitlines()]
    assert {entry["relation"] for entry in entries} <= {"antonym", "located-in"}
    assert {entry["x"] for entry in entries} | {entry["y"] for entry in entries} <= {*places.terms}
    assert all(entry["x"] != entry["y"] for entry in entries)
    evident = [entry for entry in entries if entry["evidence"]]
    assert evident
    for entry in evident:
        for sentence in entry["evidence"]:
            assert {entry["x"], entry["y"]} <= {*re.findall(r"\w+", sentence["text"])}


def test_what_is_done_is_not_done_again(
    places: LexiconInputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = made_at(tmp_path / "whole.jsonl", places)
    monkeypatch.setattr(making, "_TERMS_AT_ONCE", 2)
    asked: list[int] = []

    def stopped_at_the_third(portion: LexiconTask) -> LexiconPart:
        asked.append(portion.first)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return build_part(portion)

    out = tmp_path / "lexicon.jsonl"
    monkeypatch.setattr(making, "build_part", stopped_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        build_lexicon(places, ANYTHING, out, "jsonl")
    assert not out.exists()
    build_lexicon(places, ANYTHING, out, "jsonl")
    assert asked == [0, 2, 4, 4, 6]
    assert out.read_bytes() == whole
    assert not out.with_name("lexicon.jsonl.begun").exists()


def test_another_lexicon_that_was_begun_there_is_not_mixed_with_this(
    places: LexiconInputs, tmp_path: Path
) -> None:
    out = tmp_path / "lexicon.jsonl"
    begun = out.with_name("lexicon.jsonl.begun")
    begun.mkdir()
    (begun / "job.json").write_text("{}")
    with pytest.raises(UsageError, match="was begun with another corpus, model, terms or settings"):
        build_lexicon(places, ANYTHING, out, "jsonl")
    build_lexicon(places, ANYTHING, out, "jsonl", overwrite=True)
    with pytest.raises(UsageError, match="is there already; --overwrite replaces it"):
        build_lexicon(places, ANYTHING, out, "jsonl")


def test_settings_say_what_is_an_entry(places: LexiconInputs, tmp_path: Path) -> None:
    def entries(config: LexiconConfig) -> list[tuple[str, str]]:
        made = build_lexicon(places, config, tmp_path / "l.tsv", "tsv", overwrite=True)
        return [(entry.x, entry.relation) for entry in made]

    every = entries(ANYTHING)
    assert entries(LexiconConfig(probability=1.0)) == []
    one_each = entries(LexiconConfig(probability=0.0, unrelated=0.1, per_term=1))
    assert len(one_each) == len({x for x, _ in every})
    only = LexiconConfig(probability=0.0, unrelated=0.1, relations=("antonym",))
    assert {relation for _, relation in entries(only)} <= {"antonym"}
    needs = LexiconConfig(probability=0.0, unrelated=0.1, needs_evidence=True)
    assert len(entries(needs)) < len(every)


@pytest.mark.parametrize("told", [False, True])
def test_forms_of_a_word_are_related_only_by_a_relation_of_forms(
    told: bool, tmp_path: Path
) -> None:
    (tmp_path / "forms").mkdir()
    corpus = make_corpus(tmp_path / "forms", "cheap or cheaper\n" * 3)
    model = save_tiny_model(tmp_path / "forms" / "model", [*WORDS, "cheaper", "warmer"])
    relations = tmp_path / "forms.toml"
    relations.write_text(RELATIONS + ('[form]\nexamples = ["warm warmer"]\n' if told else ""))
    terms = ("cheap", "cheaper")
    moved = LexiconInputs(corpus=corpus.folder, model=model, relations=relations, terms=terms)
    entries = build_lexicon(moved, ANYTHING, tmp_path / "forms.tsv", "tsv")
    assert bool(entries) == told

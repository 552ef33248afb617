"""A lexicon is the same with one process or two, built at once or resumed."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
from tests.lexicon.small_corpus import make_corpus
from tests.tiny_model import HEAD_FACTS, save_tiny_model

from pair2vec.api import load
from pair2vec.errors import InputError, UsageError
from pair2vec.lexicon import build
from pair2vec.lexicon.build import (
    LexiconConfig,
    LexiconInputs,
    LexiconPart,
    LexiconTask,
    build_lexicon,
    build_part,
    check_against_wordnet,
)
from pair2vec.lexicon.calibration import CandidateCalibration
from pair2vec.lexicon.export import ExportConfig
from pair2vec.lexicon.thesaurus import LexiconEntry
from pair2vec.wordnet.dictionary import WordNet

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
JSON_LINES, TSV = ExportConfig(file_format="jsonl"), ExportConfig(file_format="tsv")


@pytest.fixture
def inputs(tmp_path: Path) -> LexiconInputs:
    corpus = make_corpus(tmp_path, TEXT * 3)
    (tmp_path / "relations.toml").write_text(RELATIONS)
    return LexiconInputs(
        corpus=corpus.folder,
        model=save_tiny_model(tmp_path / "model", WORDS),
        relations=tmp_path / "relations.toml",
        terms=("hot", "cold", "warm", "paris", "france", "spain", "cheap", "dear"),
    )


def built_at(out: Path, inputs: LexiconInputs, workers: int = 1) -> bytes:
    build_lexicon(inputs, ANYTHING, out, JSON_LINES, workers=workers, overwrite=True)
    return out.read_bytes()


def test_the_lexicon_is_the_same_for_any_number_of_processes_and_parts(
    inputs: LexiconInputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(content: bytes) -> list[tuple[str, str, str, float]]:
        lines = map(json.loads, content.splitlines())
        return [(e["x"], e["relation"], e["y"], round(e["probability"], 4)) for e in lines]

    whole = built_at(tmp_path / "whole.jsonl", inputs)
    monkeypatch.setattr(build, "_TERMS_PER_TASK", 3)
    in_parts = built_at(tmp_path / "one.jsonl", inputs)
    assert built_at(tmp_path / "two.jsonl", inputs, workers=2) == in_parts
    assert read(in_parts) == read(whole)
    assert whole.count(b"\n") > 8


def test_entries_are_related_terms_with_sentences_that_have_both(
    inputs: LexiconInputs, tmp_path: Path
) -> None:
    entries = [json.loads(line) for line in built_at(tmp_path / "l.jsonl", inputs).splitlines()]
    assert {entry["relation"] for entry in entries} <= {"antonym", "located-in"}
    assert {entry["x"] for entry in entries} | {entry["y"] for entry in entries} <= {*inputs.terms}
    assert all(entry["x"] != entry["y"] for entry in entries)
    evident = [entry for entry in entries if entry["evidence"]]
    assert evident
    for entry in evident:
        for sentence in entry["evidence"]:
            assert {entry["x"], entry["y"]} <= {*re.findall(r"\w+", sentence["text"])}


def test_finished_parts_are_not_built_again(
    inputs: LexiconInputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "_TERMS_PER_TASK", 2)
    whole = built_at(tmp_path / "whole.jsonl", inputs)
    started: list[int] = []

    def interrupted_at_the_third(task: LexiconTask) -> LexiconPart:
        started.append(task.first)
        if len(started) == 3:
            raise KeyboardInterrupt
        return build_part(task)

    out = tmp_path / "lexicon.jsonl"
    monkeypatch.setattr(build, "build_part", interrupted_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        build_lexicon(inputs, ANYTHING, out, JSON_LINES)
    assert not out.exists()
    build_lexicon(inputs, ANYTHING, out, JSON_LINES)
    assert started == [0, 2, 4, 4, 6]
    assert out.read_bytes() == whole
    assert not out.with_name("lexicon.jsonl.begun").exists()


@pytest.mark.parametrize("damage", ["cut", "changed", "nested"])
def test_a_damaged_part_is_built_again(
    inputs: LexiconInputs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    damage: str,
) -> None:
    whole, out = built_at(tmp_path / "whole.jsonl", inputs), tmp_path / "lexicon.jsonl"
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(build, "writing", interrupt)
        build_lexicon(inputs, ANYTHING, out, JSON_LINES)
    part, *_ = sorted(out.with_name("lexicon.jsonl.begun").glob("terms-*.json"))
    text = part.read_text()
    contents = {"cut": text[:-9], "changed": text.replace("0.", "0.1", 1), "nested": "[" * 99_999}
    part.write_text(contents[damage])
    build_lexicon(inputs, ANYTHING, out, JSON_LINES)
    assert out.read_bytes() == whole
    assert f"{part}: is damaged; its terms are looked up again" in caplog.text


def interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def test_parts_of_another_lexicon_are_not_mixed_in(inputs: LexiconInputs, tmp_path: Path) -> None:
    out = tmp_path / "lexicon.jsonl"
    begun = out.with_name("lexicon.jsonl.begun")
    begun.mkdir()
    (begun / "job.json").write_text("{}")
    with pytest.raises(UsageError, match="was begun with another corpus and another model"):
        build_lexicon(inputs, ANYTHING, out, JSON_LINES)
    build_lexicon(inputs, ANYTHING, out, JSON_LINES, overwrite=True)
    with pytest.raises(UsageError, match="exists already; --overwrite replaces it"):
        build_lexicon(inputs, ANYTHING, out, JSON_LINES)


def test_another_model_in_the_place_of_the_one_it_was_begun_with_is_refused(
    inputs: LexiconInputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "copied"
    shutil.copytree(inputs.model, model)
    copied = replace(inputs, model=model)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(build, "build_part", interrupt)
        build_lexicon(copied, ANYTHING, tmp_path / "l.tsv", TSV)
    shutil.rmtree(model)
    save_tiny_model(model, WORDS, seed=1)
    with pytest.raises(UsageError, match="was begun with another model; resume with the same"):
        build_lexicon(copied, ANYTHING, tmp_path / "l.tsv", TSV)


def test_the_config_decides_what_is_an_entry(inputs: LexiconInputs, tmp_path: Path) -> None:
    def entries(config: LexiconConfig) -> list[tuple[str, str]]:
        made = build_lexicon(inputs, config, tmp_path / "l.tsv", TSV, overwrite=True)
        return [(entry.x, entry.relation) for entry in made]

    every = entries(ANYTHING)
    assert entries(LexiconConfig(probability=1.0)) == []
    one_each = entries(LexiconConfig(probability=0.0, unrelated=0.1, per_term=1))
    assert len(one_each) == len({x for x, _ in every})
    only = LexiconConfig(probability=0.0, unrelated=0.1, relations=("antonym",))
    assert {relation for _, relation in entries(only)} <= {"antonym"}
    needs = LexiconConfig(probability=0.0, unrelated=0.1, needs_evidence=True)
    assert len(entries(needs)) < len(every)


def test_terms_that_never_cooccur_are_entries_without_evidence(tmp_path: Path) -> None:
    terms = ("begin", "start", "buy", "purchase")
    corpus = make_corpus(tmp_path, "the begin .\nstart or\nbuy and\nthe purchase .\n" * 3)
    model = save_tiny_model(tmp_path / "model", [*WORDS, *terms], hidden=6)
    inputs = LexiconInputs(corpus=corpus.folder, model=model, relations=None, terms=terms)
    out = tmp_path / "l.tsv"
    entries = build_lexicon(inputs, ANYTHING, out, TSV)
    every_pair = [(x, y) for x in terms for y in terms if x != y]
    opened = load(model)
    vectors = dict(
        zip(terms, opened.unit_words[[opened.vocabulary.ids[t] for t in terms]], strict=True)
    )
    predicted = opened.relations().predict(every_pair, unrelated=ANYTHING.unrelated)
    near = [
        (x, relation, y)
        for (x, y), relation in zip(every_pair, predicted, strict=True)
        if relation != "none" and vectors[x] @ vectors[y] > 0
    ]
    assert near
    assert {(entry.x, entry.relation, entry.y) for entry in entries} == {*near}
    assert not any(entry.evidence for entry in entries)
    _, *rows = [line.split("\t") for line in out.read_text().splitlines()]
    assert all(row[4:7] == ["", "", ""] for row in rows)
    needs = replace(ANYTHING, needs_evidence=True)
    assert build_lexicon(inputs, needs, out, TSV, overwrite=True) == []
    with pytest.raises(UsageError, match="--needs-evidence leaves nothing with --evidence 0"):
        replace(needs, evidence=0)


@pytest.mark.parametrize("is_taught", [False, True])
@pytest.mark.parametrize("unrelated", [None, 0.3])
def test_probabilities_are_those_of_the_relation_head_corrected_for_candidates(
    is_taught: bool,
    unrelated: float | None,
    inputs: LexiconInputs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Fitted relations are calibrated for a list of related words, which candidates are not. The
    # true default would leave nothing of a model of random weights.
    monkeypatch.setattr(build, "FITTED_UNRELATED", 0.2)
    if is_taught:
        model = save_tiny_model(tmp_path / "taught", WORDS, hidden=6, seed=1)
        inputs = replace(inputs, model=model, relations=None)
    config = LexiconConfig(probability=0.0, unrelated=unrelated)
    entries = build_lexicon(inputs, config, tmp_path / "l.tsv", TSV)
    assert entries
    default = None if is_taught else build.FITTED_UNRELATED
    relations = load(inputs.model).relations(inputs.relations)
    expected = relations.predict_proba(
        [(entry.x, entry.y) for entry in entries],
        unrelated=default if unrelated is None else unrelated,
    )
    best, highest = expected.argmax(axis=1), expected.max(axis=1)
    if is_taught:
        loaded = load(inputs.model)
        ids = loaded.vocabulary.ids
        x = np.array([ids[entry.x] for entry in entries])
        y = np.array([ids[entry.y] for entry in entries])
        calibration = CandidateCalibration(loaded, relations, unrelated)
        highest = calibration.corrected(x, y, best, highest)
    probabilities = [entry.probability for entry in entries]
    np.testing.assert_allclose(probabilities, highest, rtol=1e-4)
    names = [relations.names[best] for best in expected.argmax(axis=1)]
    assert [entry.relation for entry in entries] == names


def test_a_taught_relation_without_examples_has_evidence_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = make_corpus(tmp_path, TEXT * 3)
    names = ["synonym", "cause", "enables", "enabled-by", "none"]
    monkeypatch.setitem(HEAD_FACTS, "names", names)
    model = save_tiny_model(tmp_path / "model", WORDS, hidden=6)
    terms = ("hot", "cold", "warm", "cool", "france", "spain")
    inputs = LexiconInputs(corpus=corpus.folder, model=model, relations=None, terms=terms)
    entries = build_lexicon(inputs, ANYTHING, tmp_path / "l.tsv", TSV)
    assert any(entry.evidence for entry in entries if entry.relation != "synonym")


@pytest.mark.parametrize("has_forms", [False, True])
def test_forms_of_a_word_are_related_only_by_a_relation_of_forms(
    has_forms: bool, tmp_path: Path
) -> None:
    (tmp_path / "forms").mkdir()
    corpus = make_corpus(tmp_path / "forms", "cheap or cheaper\n" * 3)
    model = save_tiny_model(tmp_path / "forms" / "model", [*WORDS, "cheaper", "warmer"])
    relations = tmp_path / "forms.toml"
    relations.write_text(RELATIONS + ('[form]\nexamples = ["warm warmer"]\n' if has_forms else ""))
    terms = ("cheap", "cheaper")
    inputs = LexiconInputs(corpus=corpus.folder, model=model, relations=relations, terms=terms)
    entries = build_lexicon(inputs, ANYTHING, tmp_path / "forms.tsv", TSV)
    assert bool(entries) == has_forms


@pytest.fixture(scope="module")
def wordnet() -> WordNet:
    try:
        return WordNet.open()
    except InputError as error:
        pytest.skip(str(error))


def entry(x: str, relation: str, y: str) -> LexiconEntry:
    return LexiconEntry(x, relation, y, 0.9, [])


def test_entries_are_confirmed_where_wordnet_has_the_relation(wordnet: WordNet) -> None:
    lexicon = [
        entry("hot", "antonym", "cold"),
        entry("hot", "antonym", "dog"),
        entry("dog", "hypernym", "animal"),
        entry("animal", "hyponym", "dog"),
        entry("big", "synonym", "large"),
        entry("dog", "co-hyponym", "wolf"),
        entry("wheel", "part", "car"),
        entry("hot", "antonym", "xyzzyx"),
    ]
    agreement = {
        relation: (entries, confirmed)
        for relation, entries, confirmed in check_against_wordnet(lexicon, wordnet)
    }
    assert agreement == {
        "antonym": (2, 1),
        "hypernym": (1, 1),
        "hyponym": (1, 1),
        "synonym": (1, 1),
        "co-hyponym": (1, 1),
    }


def test_a_folder_without_wordnet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        WordNet.open(tmp_path)


def test_a_review_is_applied_and_stays_in_the_next_lexicon(
    inputs: LexiconInputs, tmp_path: Path
) -> None:
    first, second, third = (tmp_path / f"{n}.tsv" for n in range(3))
    before = build_lexicon(inputs, ANYTHING, first, TSV)
    rejected, *_ = before
    lines = first.read_text().splitlines(keepends=True)
    lines[1] = lines[1].rstrip("\n") + "x\n"
    unseen = "cheap\tlocated-in\tspain\t0\t\t\t\tx\t\n"
    first.write_text("".join([*lines, unseen]))
    reviewed = replace(inputs, review=first)
    after = build_lexicon(reviewed, ANYTHING, second, TSV)
    triples = {(entry.x, entry.relation, entry.y) for entry in after}
    x, relation, y = rejected[:3]
    assert (x, relation, y) not in triples
    assert [entry[:3] for entry in after if entry.accepted] == [("cheap", "located-in", "spain")]
    old = {entry[:3]: entry.probability for entry in before}
    same = [e for e in after if e.relation == relation and e[:3] in old]
    assert all(entry.probability < old[entry[:3]] for entry in same if old[entry[:3]] < 1)
    assert same
    again = build_lexicon(replace(inputs, review=second), ANYTHING, third, TSV)
    assert [entry[:3] for entry in again if entry.accepted] == [("cheap", "located-in", "spain")]
    with pytest.raises(UsageError, match="exists already"):
        build_lexicon(reviewed, ANYTHING, second, TSV)

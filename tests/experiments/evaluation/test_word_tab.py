"""The Word tab's entries and their judgements."""

from importlib.resources import files
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.rendering import rendered
from tests.tiny_model import ALL_ANSWERS, taught_model

from pair2vec.api import Pair2vec, load
from pair2vec.experiments.evaluation.handwritten import (
    WORD_TAB_ENTRIES,
    WORD_TAB_PATH,
    JudgedWord,
    read_word_tab,
    score_word_tab,
    word_tab_part,
)
from pair2vec.experiments.report.grid import grid_table
from pair2vec.relations.definitions import read_definitions
from pair2vec.server.app import make_app
from pair2vec.server.endpoints import Resources

TAB = read_word_tab()


@pytest.fixture
def model(tmp_path: Path) -> Pair2vec:
    return load(taught_model(tmp_path / "model", ALL_ANSWERS))


def test_twelve_words_are_judged_and_the_rule_is_in_the_file() -> None:
    words = "hot dog buy oak car doctor happy king city teach music iron".split()
    assert [judged.word for judged in TAB] == words
    package, _, rest = WORD_TAB_PATH.partition("/")
    text = (files(package) / rest).read_text()
    assert "a native speaker with a dictionary would accept" in " ".join(text.split("\n# "))


def test_no_entry_is_both_right_and_wrong_and_each_has_a_relation() -> None:
    names = {definition.name for definition in read_definitions()}
    for judged in TAB:
        assert not judged.right & judged.wrong
        assert {relation for relation, _ in judged.right | judged.wrong} <= names


def test_the_entries_are_the_first_that_the_page_gets(model: Pair2vec) -> None:
    entries = score_word_tab(model, [JudgedWord("hot", frozenset(), frozenset())]).entries
    with TestClient(make_app(Resources(model)), base_url="http://127.0.0.1") as client:
        matches = client.get("/api/neighbours", params={"word": "hot", "top": 24}).json()["matches"]
    assert 2 < len(entries) <= WORD_TAB_ENTRIES
    assert [(entry.relation, entry.y) for entry in entries] == [
        (match["relation"], match["word"]) for match in matches[:WORD_TAB_ENTRIES]
    ]
    assert all(entry.x == "hot" for entry in entries)


def test_the_page_asks_for_all_relations_of_a_word_at_once() -> None:
    script = (files("pair2vec.server") / "static/panels/word.js").read_text()
    assert 'get("neighbours", { ...parameters, top: MAX_WORDS })' in script
    assert "relation ? { word, relation } : { word }" in script
    assert "MAX_WORDS = 24" in script


def test_an_entry_is_judged_by_relation_and_word_and_else_not_judged(model: Pair2vec) -> None:
    first, second, third, *_ = model.relations().typed_neighbours("hot", top=12)
    judged = JudgedWord(
        "hot",
        frozenset({(first.relation, first.word), ("hypernym", "gone")}),
        # The relation of the third is another one.
        frozenset({(second.relation, second.word), ("co-hyponym", third.word)}),
    )
    scores = score_word_tab(model, [judged, JudgedWord("zebra", frozenset(), frozenset())])
    assert [entry.judgement for entry in scores.entries[:3]] == ["right", "wrong", "unjudged"]
    count = len(scores.entries)
    assert [scores.count(name) for name in ("right", "wrong", "unjudged")] == [1, 1, count - 2]
    assert scores.unknown == ["zebra"]
    assert scores.to_json()["right"] == 1
    part = word_tab_part(scores)
    text = " ".join(rendered(grid_table(part.grids[0]), 400).split())
    assert (
        f"hot 1 of {count} {first.relation} {first.word}, {second.relation} {second.word} ✗" in text
    )
    assert f"{third.relation} {third.word} ?" in text
    notes = " ".join(part.notes)
    assert f"1 of {count} entries are right" in notes
    assert f"? the {count - 2} that are not judged yet, which count as wrong" in notes
    assert "zebra" in notes

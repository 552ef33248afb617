"""A model whose vocabulary has phrases, asked by everything that takes a typed word."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.command import assert_fails, pair2vec
from tests.tiny_model import save_tiny_model

from pair2vec.api import Pair2vec, load
from pair2vec.model.folder import PatternCount
from pair2vec.model.shrink import shrink_model
from pair2vec.relations.definitions import read_definitions
from pair2vec.text.patterns import parse_pattern
from pair2vec.text.vocabulary import UnknownWordError, look_up_word

WORDS = [
    *"in , the of".split(),
    "united states",
    "new york",
    "new york city",
    *"new york usa".split(),
]
PATTERNS = (PatternCount("X in new york , Y", 7), PatternCount("X , Y", 3))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = list(dict.fromkeys(WORDS))
    return save_tiny_model(tmp_path_factory.mktemp("phrases") / "m", words, patterns=PATTERNS)


@pytest.fixture(scope="module")
def model(folder: Path) -> Pair2vec:
    return load(folder)


def test_a_phrase_is_typed_as_a_word_is(model: Pair2vec) -> None:
    expected = model.vocabulary.ids["new york"]
    for typed in ("new york", "New  York", "new_york", " NEW YORK "):
        assert look_up_word(typed, model.vocabulary) == expected
        assert typed in model
    np.testing.assert_array_equal(
        model.pair("New York", "United States"), model.pair("new_york", "united_states")
    )
    assert "york new" not in model


@pytest.mark.parametrize(
    ("typed", "suggestions"),
    [
        ("new yorks", ["new york"]),
        ("new york city hall", ["new york city", "new york"]),
        ("york of", ["york", "of"]),
        ("climate change", []),
    ],
)
def test_a_phrase_that_is_no_entry_is_an_unknown_word(
    model: Pair2vec, typed: str, suggestions: list[str]
) -> None:
    with pytest.raises(UnknownWordError, match=f"'{typed}' is not in the vocabulary") as caught:
        model.pair(typed.upper(), "usa")
    assert caught.value.word == typed
    assert caught.value.suggestions == suggestions


def test_the_words_of_a_pattern_are_joined_as_those_of_the_corpus(model: Pair2vec) -> None:
    ids = model.vocabulary.ids
    pattern = parse_pattern("New York X in the New York City , Y", model.vocabulary)
    assert pattern.left == ids["new york"]
    assert pattern.between == tuple(ids[w] for w in ("in", "the", "new york city", ","))
    assert model.fill("new york X , Y", x="new york", top=2)
    assert model.explain("new york", "usa")[0].pattern in {p.pattern for p in PATTERNS}


def test_a_shrunk_model_keeps_phrases_and_the_patterns_with_them(
    model: Pair2vec, tmp_path: Path
) -> None:
    for words, patterns in ((6, PATTERNS), (5, PATTERNS[1:])):
        shrink_model(model.saved, tmp_path / f"{words}", words=words)
        small = load(tmp_path / f"{words}")
        assert small.saved.patterns() == list(patterns)
        assert ("new york" in small) == (words == 6)


def test_many_questions_have_tabs_where_there_are_phrases(folder: Path) -> None:
    lines = "new york\tusa\nusa york\nNew York\tUnited States\nnew york usa\n"
    done = pair2vec("nearest", "-", "--json", "--top=1", "--model", folder, stdin=lines.encode())
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [list(a.get("query", {}).values())[2:4] for a in answers[:3]] == [
        ["new york", "usa"],
        ["usa", "york"],
        ["New York", "United States"],
    ]
    assert answers[3] == {"line": 4, "error": "expected X Y, got 'new york usa'"}


def test_lists_of_words_and_of_pairs_have_phrases(folder: Path, tmp_path: Path) -> None:
    words, pairs = tmp_path / "words.txt", tmp_path / "pairs.tsv"
    words.write_text("New York\nusa\n")
    pairs.write_text("new york\tusa\nusa york\n")
    command = ("--json", "--model", folder)
    done = pair2vec("fill", "X , Y", "--x", "united states", "--among", words, *command)
    answer = json.loads(done.stdout)
    assert {match["word"] for match in answer["matches"]} == {"new york", "usa"}
    done = pair2vec("nearest", "new", "york", "--among", pairs, *command)
    found = {(match["x"], match["y"]) for match in json.loads(done.stdout)["matches"]}
    assert found == {("new york", "usa"), ("usa", "york")}
    words.write_text("New York\nclimate change\n")
    done = pair2vec("fill", "X , Y", "--x", "usa", "--among", words, *command)
    assert_fails(done, 1, "words.txt, line 2: 'climate change' is not in the vocabulary")


def test_a_relation_may_have_phrases_in_its_examples(tmp_path: Path) -> None:
    path = tmp_path / "relations.toml"
    path.write_text('[in]\nexamples = ["new york\\tUSA", "paris france"]\n')
    (relation,) = read_definitions(path)
    assert relation.examples == (("new york", "usa"), ("paris", "france"))

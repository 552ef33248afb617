"""``pair2vec neighbours`` and ``pair2vec eval relations`` as a user runs them."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.command import assert_fails, pair2vec
from tests.tiny_model import WORDS, save_tiny_model

from pair2vec.api import load
from pair2vec.word_vectors.formats import write_vec

TOML = """
[opposite]
definition = "y is the opposite of x"
symmetric = true
examples = ["hot cold", "up down", "cheap dear"]
patterns = ["neither X nor Y"]
[capital]
examples = ["france paris"]
patterns = ["Y of X"]
"""
PAIRS = [("hot", "cold"), ("up", "down"), ("cheap", "dear"), ("hot", "down"), ("france", "paris")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, relations, word vectors and a small set."""
    made = tmp_path_factory.mktemp("relations")
    save_tiny_model(made / "model")
    (made / "mine.toml").write_text(TOML)
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 5)).astype(np.float32)
    write_vec(made / "words.vec", WORDS, vectors)
    (made / "set").mkdir()
    lines = [f"{x}\t{y}\t{'Antonym' if n < 3 else 'IsA'}\n" for n, (x, y) in enumerate(PAIRS)]
    for name in ("train", "val"):
        (made / "set" / f"{name}.tsv").write_text("".join(lines * 8))
    (made / "set" / "test.tsv").write_text("".join(lines) + "Hot\tunheard\tIsA\n")
    return made


def neighbours(folder: Path, *arguments: str) -> list[str | Path]:
    options = ["--relations", str(folder / "mine.toml"), "--model", str(folder / "model")]
    return ["neighbours", *arguments, *options]


def test_neighbours_lists_the_words_most_probably_in_a_relation(folder: Path) -> None:
    relations = load(folder / "model").relations(folder / "mine.toml")
    done = pair2vec(*neighbours(folder, "hot", "--relation=opposite", "--top=3", "--json"))
    assert done.returncode == 0, done.stderr
    best = relations.neighbours("hot", "opposite", top=3)
    assert json.loads(done.stdout) == {
        "query": {
            "command": "neighbours",
            "model": str(folder / "model"),
            "word": "hot",
            "relation": "opposite",
            "relations": str(folder / "mine.toml"),
            "unrelated": 0.5,
            "top": 3,
        },
        "matches": [match._asdict() for match in best],
    }
    shown = pair2vec(*neighbours(folder, "hot", "--relation=opposite", "--top=3")).stdout
    assert shown.startswith("opposite of hot: y is the opposite of x\n")
    assert f"{best[0].score:.3f}" in shown
    assert "the probability, where 50% of such pairs have no relation" in shown


def test_without_a_relation_each_neighbour_names_its_own(folder: Path) -> None:
    done = pair2vec(*neighbours(folder, "hot", "--top=4", "--unrelated=0.9", "--json"))
    found = json.loads(done.stdout)
    assert "relation" not in found["query"]
    assert found["query"]["unrelated"] == 0.9
    relations = load(folder / "model").relations(folder / "mine.toml")
    best = relations.typed_neighbours("hot", top=4, unrelated=0.9)
    assert found["matches"] == [match._asdict() for match in best]
    assert {match["relation"] for match in found["matches"]} <= {"opposite", "capital"}


def test_neighbours_of_many_words_come_from_standard_input(folder: Path) -> None:
    (folder / "some.txt").write_text("cold\nparis\n")
    asked = neighbours(folder, "-", "--relation=capital", f"--among={folder / 'some.txt'}")
    done = pair2vec(*asked, "--json", stdin=b"france\nzzz\nup\n")
    assert done.returncode == 1
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["line"] for answer in answers] == [1, 2, 3]
    assert "not in the vocabulary" in answers[1]["error"]
    assert {match["word"] for match in answers[2]["matches"]} == {"cold", "paris"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["hot", "--relation=antonym"], "'antonym' is not defined; it must be one of opposite"),
        (["hott", "--relation=opposite"], "'hott' is not in the vocabulary"),
        (["hot", "--unrelated=1"], "unrelated is 1"),
    ],
)
def test_a_wrong_question_is_one_clear_line(
    folder: Path, arguments: list[str], message: str
) -> None:
    assert_fails(pair2vec(*neighbours(folder, *arguments)), 2, message)


def test_a_model_without_the_words_of_a_relation_says_so(folder: Path) -> None:
    done = pair2vec("neighbours", "hot", "--model", folder / "model", "--relation=synonym")
    assert_fails(done, 2, "the model knows none of its examples and patterns")
    missing = pair2vec("neighbours", "hot", "--relations", folder / "nowhere.toml")
    assert_fails(missing, 1, "nowhere.toml: no such file")


def test_eval_relations_as_json_has_rows_and_the_protocol(folder: Path, tmp_path: Path) -> None:
    done = pair2vec(
        *("eval", "relations", "--data", folder / "set", "--vectors", folder / "words.vec"),
        *("--model", folder / "model", "--relations", folder / "mine.toml"),
        *("--steps", "30", "--results", tmp_path, "--json"),
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert list(found) == ["rows", "protocol", "built_in_on_val"]
    assert list(found["rows"]) == [
        "majority",
        "concatenation",
        "difference",
        "pair2vec",
        "pair2vec and words",
    ]
    row = found["rows"]["pair2vec and words"]
    assert list(row) == ["views", "val", "test", "calibration"]
    assert {"weighted_f1", "accuracy", "classes"} == set(row["test"])
    assert {"n", "precision", "recall", "f1"} == set(row["test"]["classes"]["Antonym"])
    assert found["protocol"]["test"] == 6
    assert found["protocol"]["unknown"] == pytest.approx(100 / 6, abs=0.01)
    assert "learning from both" in done.stderr
    assert (tmp_path / "relations-set-model-seed0.json").is_file()


def test_eval_relations_shows_f1_by_class_and_what_was_unknown(folder: Path) -> None:
    done = pair2vec(
        *("eval", "relations", "--data", folder / "set", "--model", folder / "model"),
        *("--relations", folder / "mine.toml", "--steps", "30"),
    )
    assert done.returncode == 0, done.stderr
    assert "Antonym" in done.stdout
    assert "word vectors of the model" in done.stdout
    assert "Of the test pairs 16.7 % have a word that the model does not know" in done.stdout
    assert "is dropped" in done.stdout
    assert_fails(pair2vec("eval", "relations", "--data", folder / "no"), 2, "no such folder")


def test_eval_relations_without_a_set_asks_about_words_held_out(folder: Path) -> None:
    options = ["--model", str(folder / "model"), "--relations", str(folder / "mine.toml")]
    done = pair2vec("eval", "relations", *options, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["held_out_words"]
    assert {"opposite", "capital", "none"} >= set(found["classes"])
    assert set(found["calibration"]) == {
        "n",
        "accuracy",
        "confidence",
        "expected_error",
        "log_loss",
    }
    assert "calibration error" in pair2vec("eval", "relations", *options).stdout

"""`pair2vec relate` as a user runs it."""

import json
import subprocess
import sys
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from tests.cli.conftest import RELATIONS
from tests.command import assert_fails, pair2vec
from tests.documented_json import documented_examples, documented_names, shape
from tests.lexicon.small_corpus import make_corpus
from tests.tiny_model import ALL_ANSWERS, WORDS, save_tiny_model, taught_model

from pair2vec.api import Pair2vec, Relation, load
from pair2vec.cli.relate import marked_sentence

PAIRS = [(x, y) for x in WORDS[10:] for y in WORDS[10:] if x != y]
TEXT = "It is neither hot nor cold. Hot, they say, and not at all cold. Paris is up.\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return taught_model(tmp_path_factory.mktemp("taught") / "model", ALL_ANSWERS)


@pytest.fixture(scope="module")
def model(folder: Path) -> Pair2vec:
    return load(folder)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_corpus(tmp_path_factory.mktemp("corpus"), TEXT).folder


def answers_of(*arguments: str | Path, stdin: str = "", code: int = 0) -> list[dict[str, Any]]:
    done = pair2vec("relate", *arguments, "--json", stdin=stdin.encode())
    assert done.returncode == code, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def related_pair(model: Pair2vec) -> tuple[tuple[str, str], Relation]:
    """A pair that others are like."""
    found = ((pair, model.relate(*pair)) for pair in PAIRS)
    return next((pair, relation) for pair, relation in found if len(relation.like) > 1)


def test_the_answer_is_that_of_the_library(folder: Path, model: Pair2vec) -> None:
    (x, y), relation = related_pair(model)
    (answer,) = answers_of(x, y, "--model", folder)
    query = {"command": "relate", "model": str(folder), "x": x, "y": y, "top": 5}
    assert answer == {"query": query, **relation.as_json()}
    assert answer["relation"] == relation.name
    assert answer["like"][0] == relation.like[0]._asdict()


def test_the_relation_is_said_in_words(folder: Path, model: Pair2vec) -> None:
    (x, y), relation = related_pair(model)
    lines = pair2vec("relate", x, y, "--model", folder).stdout.splitlines()
    percent = f"{100 * relation.probability:.0f} %"
    assert lines[0] == f"{x} : {y} - {relation.name} ({relation.definition}), {percent}"
    assert lines[1].startswith(f"or else {relation.others[0].name} ")
    assert f"Pairs related as {x} and {y}" in lines
    assert f"Patterns with X = {x}, Y = {y}" in lines
    other, score = relation.like[0][:2], relation.like[0].score
    assert ["1", *other, f"{score:.3f}"] in [line.split() for line in lines]


def test_an_unclear_pair_has_no_pairs_like_it(folder: Path, model: Pair2vec) -> None:
    x, y = next(pair for pair in PAIRS if model.relate(*pair, top=0).name == "unclear")
    lines = pair2vec("relate", x, y, "--model", folder).stdout.splitlines()
    assert lines[0].startswith(f"{x} : {y} - unclear (")
    best = model.relate(x, y).others[0]
    assert lines[1].startswith(f"perhaps {best.name} {100 * best.probability:.0f} %, ")
    assert "Pairs related" not in "".join(lines)


def test_many_pairs_have_their_relation_alone(folder: Path, model: Pair2vec) -> None:
    stdin = "hot cold\nhott cold\n\nup\r\nUp\tdown\n\nfrance paris"
    answers = answers_of("-", "--model", folder, stdin=stdin, code=1)
    assert [answer["line"] for answer in answers] == [1, 2, 4, 5, 7]
    assert answers[1] == {
        "line": 2,
        "error": "'hott' is not in the vocabulary; did you mean hot?",
    }
    assert answers[2]["error"] == "expected X Y, got 'up'"
    for answer, (x, y) in zip(answers[::3], [("hot", "cold"), ("Up", "down")], strict=False):
        content = model.relate(x, y, top=0).as_json()
        del content["like"], content["patterns"]
        query = {"command": "relate", "model": str(folder), "x": x, "y": y}
        assert answer == {"line": answer["line"], "query": query, **_approx(content)}


def _approx(content: dict[str, Any]) -> dict[str, Any]:
    """Not to the last bit: the vectors of a batch are multiplied in another order."""
    others = [
        {**other, "probability": pytest.approx(other["probability"], abs=1e-5)}
        for other in content["others"]
    ]
    probability = pytest.approx(content["probability"], abs=1e-5)
    return {**content, "probability": probability, "others": others}


def test_many_pairs_are_a_line_each(folder: Path, model: Pair2vec) -> None:
    stdin = "".join(f"{x} {y}\n" for x, y in PAIRS)
    done = pair2vec("relate", "-", "--model", folder, stdin=b"zzz hot\n" + stdin.encode())
    assert done.returncode == 1
    assert done.stderr == "pair2vec: line 1: 'zzz' is not in the vocabulary\n"
    expected = [
        f"{x} : {y} - {found.name} ({found.definition}), {100 * found.probability:.0f} %"
        for x, y in PAIRS
        for found in [model.relate(x, y, top=0)]
    ]
    assert done.stdout.splitlines() == expected


def test_nothing_is_printed_for_no_lines(folder: Path) -> None:
    assert answers_of("-", "--model", folder, stdin="\n\n") == []


def test_a_line_is_answered_before_the_next_is_written(folder: Path) -> None:
    command = [sys.executable, "-m", "pair2vec", "relate", "-", "--model", str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        patience = Timer(60, process.kill)
        patience.daemon = True
        patience.start()
        for x in ("hot", "up"):
            process.stdin.write(f"{x} cold\n")
            process.stdin.flush()
            assert process.stdout.readline().startswith(f"{x} : cold - ")
        process.stdin.close()
        assert process.wait() == 0
        patience.cancel()


def test_sentences_of_a_corpus_have_the_pair_marked(folder: Path, corpus: Path) -> None:
    query = ["hot", "Cold", "--model", str(folder), "--corpus", str(corpus)]
    (answer,) = answers_of(*query)
    assert "it is neither hot nor cold." in answer["sentences"]
    assert answer["query"]["corpus"] == str(corpus)
    lines = pair2vec("relate", *query).stdout.splitlines()
    assert "  it is neither [hot nor cold]." in lines[lines.index("Sentences with hot and Cold") :]


def test_a_corpus_without_both_words_says_so(folder: Path, corpus: Path) -> None:
    for y in ("paris", "down"):
        done = pair2vec("relate", "hot", y, "--model", folder, "--corpus", corpus)
        assert done.returncode == 0
        assert "no sentence of the corpus has both words" in done.stdout
    assert f"{corpus}: 'down' is not in the vocabulary" in done.stderr


@pytest.mark.parametrize(
    ("sentence", "marked"),
    [
        ("hot days , and hot or cold nights", "hot days , and [hot or cold] nights"),
        ("cold as hot", "[cold as hot]"),
        ("hotter than cold", "hotter than cold"),
        ("a (hot) [b]cold[/b] day", "a ([hot) [b]cold][/b] day"),
    ],
)
def test_the_shortest_stretch_between_the_words_is_marked(sentence: str, marked: str) -> None:
    assert marked_sentence(sentence, "Hot", "cold").plain == f"  {marked}"


def test_relations_of_ones_own_are_fitted(tmp_path: Path) -> None:
    model = save_tiny_model(tmp_path / "model")
    (tmp_path / "mine.toml").write_text(RELATIONS)
    options = ["--relations", str(tmp_path / "mine.toml"), "--model", str(model)]
    (answer,) = answers_of("hot", "cold", "--unrelated=0.1", *options)
    assert answer["relation"] == "opposite"
    assert answer["query"]["relations"] == str(tmp_path / "mine.toml")
    assert answer["query"]["unrelated"] == 0.1
    assert {other["relation"] for other in answer["others"]} == {"capital", "none"}
    (one,) = answers_of("-", "--unrelated=0.1", *options, stdin="hot cold\n")
    assert one["relation"] == "opposite"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["hott", "cold"], "'hott' is not in the vocabulary; did you mean hot?"),
        (["hot"], "expected X Y, got 'hot'"),
        (["hot", "cold", "--unrelated=2"], "unrelated is 2; it must be between 0 and 1"),
        (["-", "--corpus=corpus"], "--corpus: sentences are for one pair"),
    ],
)
def test_a_wrong_query_is_one_clear_line(folder: Path, arguments: list[str], message: str) -> None:
    done = pair2vec("relate", *arguments, "--model", folder)
    assert_fails(done, 2, message)
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_a_model_that_cannot_know_the_relations_says_so(tmp_path: Path) -> None:
    done = pair2vec("relate", "hot", "cold", "--model", save_tiny_model(tmp_path / "model"))
    assert_fails(done, 2, "the model knows none of its examples and patterns")


def test_it_is_the_first_of_the_query_commands() -> None:
    shown = pair2vec("--help").stdout
    names = [line.split()[0] for line in shown.splitlines() if line.startswith("  ")]
    queries = ["relate", "fill", "analogy", "nearest", "neighbours", "pair", "score"]
    assert [name for name in names if name in queries] == queries


def test_the_documented_json_is_what_is_printed(
    folder: Path, model: Pair2vec, corpus: Path
) -> None:
    (x, y), _ = related_pair(model)
    printed = [
        *answers_of(x, y, "--model", folder),
        *answers_of("hot", "cold", "--model", folder, "--corpus", corpus),
        *answers_of("-", "--model", folder, stdin="hot cold\n"),
    ]
    assert list(map(shape, printed)) == list(map(shape, documented_examples("relate")))
    names = {name for answer in printed for name in answer}
    assert names - {"line", "query"} <= documented_names("relate")


@pytest.fixture(scope="module")
def composing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return taught_model(tmp_path_factory.mktemp("composing") / "model", composes=True)


def test_a_composed_word_is_said_once_in_a_line_and_in_json(composing: Path) -> None:
    done = pair2vec("relate", "Cheaps", "cheap", "--top=0", "--model", composing, "--json")
    assert done.stderr == (
        "pair2vec: 'cheaps' is not in the vocabulary: its vector is composed from its spelling; "
        "did you mean cheap?\n"
    )
    (word,) = json.loads(done.stdout)["composed"]
    assert word == {"word": "cheaps", "source": "spelling", "suggestions": ["cheap"]}
    known = pair2vec("relate", "cheap", "dear", "--top=0", "--model", composing, "--json")
    assert "composed" not in json.loads(known.stdout)


def test_lines_of_standard_input_are_composed_only_where_asked(composing: Path) -> None:
    lines = "cheaps cheap\nqqqq cheap\nhot cold\n"
    answers = answers_of("-", "--model", composing, stdin=lines, code=1)
    assert [list(answer)[1] for answer in answers] == ["error", "error", "query"]
    answers = answers_of("-", "--model", composing, "--unknown", "compose", stdin=lines, code=1)
    assert [list(answer)[1] for answer in answers] == ["query", "error", "query"]
    assert answers[0]["composed"][0]["word"] == "cheaps"
    assert "composed" not in answers[2]
    done = pair2vec("relate", "-", "--unknown", "skip", "--model", composing)
    assert_fails(done, 2, "--unknown skip: it must be one of error, compose")

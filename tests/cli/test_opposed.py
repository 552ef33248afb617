"""`pair2vec opposed` as a user runs it."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.command import assert_fails, pair2vec
from tests.documented_json import documented_examples, documented_names, shape
from tests.tiny_model import ALL_ANSWERS, save_tiny_model, taught_model

from pair2vec.api import Difference, Opposition, Pair2vec, load
from pair2vec.cli.opposed import verdict_lines

NEGATED = ("paris is hot", "paris is not hot")
LONG = "hot " * 10_000
NOTHING_TO_SAY = [
    ("", "hot", "the first sentence has no words"),
    ("hot", " ?!", "the second sentence has no words"),
    ("zzz qqq", "zzz vvv", "most of the words are unknown to the model"),
    ("Это хорошо", "это не хорошо", "most of the words are unknown to the model"),
    ("今日は暑い", "今日は寒い", "most of the words are unknown to the model"),
    (LONG, "hot", "the first sentence has 10,000 words"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return taught_model(tmp_path_factory.mktemp("taught") / "model", ALL_ANSWERS)


@pytest.fixture(scope="module")
def model(folder: Path) -> Pair2vec:
    return load(folder)


def answers_of(*arguments: str | Path, stdin: bytes = b"", code: int = 0) -> list[dict[str, Any]]:
    done = pair2vec("opposed", *arguments, "--json", stdin=stdin)
    assert done.returncode == code, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_answer_is_that_of_the_library(folder: Path, model: Pair2vec) -> None:
    a, b = NEGATED
    (answer,) = answers_of(a, b, "--model", folder)
    query = {"command": "opposed", "model": str(folder), "a": a, "b": b}
    found = model.opposed(a, b)
    assert answer == {"query": query, **found.as_json()}
    assert answer["differences"][0]["kind"] == "negation"
    assert answer["differences"][0]["b"] == "not"


def plain_text(found: Opposition) -> list[str]:
    return [str(line) for line in verdict_lines(found).renderables]


def test_a_verdict_is_said_in_words_with_what_decides() -> None:
    differences = [
        Difference("opposite", "enable", "disable", 0.954),
        Difference("negation", "", "not", 0.9),
        Difference("number", "3", "", 1.0),
    ]
    found = Opposition("opposed", 0.973, {}, differences, "as said")
    assert plain_text(found) == [
        "opposed, 97 %",
        "  enable / disable: opposite, 95 %",
        "  not: negation, 90 %",
        "  3: number, 100 %",
    ]


def test_a_verdict_without_differences_has_its_reason() -> None:
    found = Opposition("same", 1.0, {}, [], "the same words")
    assert plain_text(found) == ["same, 100 %", "  the same words"]


def test_an_unsure_verdict_has_a_reason_and_no_probability() -> None:
    difference = Difference("word", "hot", "zzz", 0.7)
    found = Opposition("unsure", 0.4, {}, [difference], "not clear")
    assert plain_text(found) == ["unsure: not clear"]


def test_the_command_prints_these_lines(folder: Path, model: Pair2vec) -> None:
    for pair in (NEGATED, ("hot", "Hot!"), ("", "hot")):
        done = pair2vec("opposed", *pair, "--model", folder)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines() == plain_text(model.opposed(*pair))
    assert pair2vec("opposed", "hot", "Hot!", "--model", folder).stdout.startswith("same, 100 %")


@pytest.mark.parametrize(("a", "b", "reason"), NOTHING_TO_SAY, ids=range(len(NOTHING_TO_SAY)))
def test_where_nothing_can_be_said_the_verdict_is_unsure_with_the_reason(
    folder: Path, a: str, b: str, reason: str
) -> None:
    done = pair2vec("opposed", a, b, "--model", folder)
    assert done.returncode == 0, done.stderr
    assert " ".join(done.stdout.split()).startswith(f"unsure: {reason}")


def test_lines_of_standard_input_have_their_verdicts_in_order(
    folder: Path, model: Pair2vec
) -> None:
    pairs = [NEGATED, ("up", "up"), *((a, b) for a, b, _ in NOTHING_TO_SAY), NEGATED[::-1]]
    stdin = "\n\n".join("\t".join(pair) for pair in pairs).encode()
    answers = answers_of("-", "--model", folder, stdin=stdin)
    assert [answer["line"] for answer in answers] == [*range(1, 2 * len(pairs), 2)]
    for (a, b), answer in zip(pairs, answers, strict=True):
        stripped = {"a": a.strip(), "b": b.strip()}
        assert answer["query"] == {"command": "opposed", "model": str(folder), **stripped}
        expected = model.opposed(a, b)
        assert answer["verdict"] == expected.verdict
        assert answer["probability"] == pytest.approx(expected.probability, abs=1e-5)
        assert answer["reason"] == expected.reason


def test_a_line_of_standard_input_is_answered_in_columns(folder: Path, model: Pair2vec) -> None:
    done = pair2vec("opposed", "-", "--model", folder, stdin="\t".join(NEGATED).encode())
    assert done.returncode == 0, done.stderr
    found = model.opposed(*NEGATED)
    percent = f"{100 * found.probability:.0f} %"
    assert done.stdout == "\t".join([found.verdict, percent, *NEGATED, found.reason]) + "\n"


def test_a_line_that_cannot_be_read_is_an_error_and_the_others_are_answered(folder: Path) -> None:
    stdin = b"hot is up\nhot\tcold\nh\xffot\tcold\nhot\tcold\tup\r\n\t\nhot\tHot"
    answers = answers_of("-", "--model", folder, stdin=stdin, code=1)
    assert [answer["line"] for answer in answers] == [1, 2, 3, 4, 6]
    assert [answer.get("error") for answer in answers] == [
        "expected A<tab>B, got 'hot is up'",
        None,
        "is not UTF-8 at byte 2",
        "expected A<tab>B, got 'hot<tab>cold<tab>up'",
        None,
    ]
    done = pair2vec("opposed", "-", "--model", folder, stdin=b"hot is up\nhot\tHot\n")
    assert done.returncode == 1
    assert done.stderr == "pair2vec: line 1: expected A<tab>B, got 'hot is up'\n"
    assert done.stdout.splitlines() == ["same\t100 %\thot\tHot\tthe same words"]


def test_nothing_is_printed_for_no_lines(folder: Path) -> None:
    assert answers_of("-", "--model", folder, stdin=b"\n\n") == []


def test_an_argument_that_is_not_utf8_is_no_failure(folder: Path) -> None:
    (answer,) = answers_of("h\udcffot", "hot", "--model", folder)
    assert answer["query"]["a"] == "h\udcffot"


def test_one_sentence_alone_is_one_clear_line(folder: Path) -> None:
    done = pair2vec("opposed", "hot is up", "--model", folder)
    assert_fails(done, 2, "expected A B, got 'hot is up'")
    assert done.stdout == ""


@pytest.mark.parametrize(("arguments", "stdin"), [(NEGATED, b""), (("-",), b"hot\tcold\n")])
def test_a_model_that_cannot_know_the_relations_says_so(
    tmp_path: Path, arguments: tuple[str, ...], stdin: bytes
) -> None:
    folder = save_tiny_model(tmp_path / "model")
    done = pair2vec("opposed", *arguments, "--model", folder, stdin=stdin)
    assert_fails(done, 2, "the model knows none of its examples and patterns")
    assert len(done.stderr.splitlines()) == 1


def test_it_is_the_second_of_the_query_commands() -> None:
    lines = pair2vec("--help").stdout.splitlines()
    names = [line.split()[0] for line in lines if line.startswith("  ")]
    assert names[names.index("relate") + 1] == "opposed"


def test_the_documented_json_is_what_is_printed(folder: Path) -> None:
    printed = [
        *answers_of(*NEGATED, "--model", folder),
        *answers_of("-", "--model", folder, stdin="\t".join(NEGATED).encode()),
    ]
    assert list(map(shape, printed)) == list(map(shape, documented_examples("opposed")))
    names = {name for answer in printed for name in answer}
    assert names - {"line", "query"} <= documented_names("opposed")

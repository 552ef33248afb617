"""The query commands as a user runs them."""

import json
import subprocess
import sys
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from tests.cli.conftest import RELATIONS
from tests.command import assert_fails, pair2vec
from tests.documented_json import PAGE, shape
from tests.tiny_model import save_tiny_model

from pair2vec.api import Pair2vec, load
from pair2vec.query.search import PAPER_WEIGHTS, SLOT_WEIGHTS, SlotWeights

QUERIES = {
    "fill": ["in X , Y .", "--x=hot"],
    "pair": ["hot", "cold"],
    "analogy": ["hot", "cold", "up"],
    "nearest": ["hot", "cold"],
    "score": ["hot", "cold", "X and Y"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("tiny") / "model")


@pytest.fixture(scope="module")
def model(folder: Path) -> Pair2vec:
    return load(folder)


def answers_of(*arguments: str | Path, stdin: str = "", code: int = 0) -> list[dict[str, Any]]:
    done = pair2vec(*arguments, "--json", stdin=stdin.encode())
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def rows(shown: str) -> list[list[str]]:
    return [line.split() for line in shown.splitlines() if line.split()[0].isdigit()]


def test_fill_lists_the_words_that_the_model_ranks_highest(folder: Path, model: Pair2vec) -> None:
    done = pair2vec("fill", "in X , Y .", "--x=hot", "--top=3", "--model", folder)
    best = model.fill("in X , Y .", x="hot", top=3)
    assert rows(done.stdout) == [
        [str(rank), match.word, f"{match.score:.3f}"] for rank, match in enumerate(best, start=1)
    ]
    assert done.stdout.startswith("“in X , Y .” with X = hot\n")


def test_fill_finds_the_word_for_either_slot(folder: Path, model: Pair2vec) -> None:
    (answer,) = answers_of("fill", "X and Y", "--y=Hot", "--top=2", "--model", folder)
    assert answer == {
        "query": {
            "command": "fill",
            "model": str(folder),
            "pattern": "X and Y",
            "y": "Hot",
            "similarity": 4.0,
            "prior": 0.2,
            "top": 2,
        },
        "matches": [match._asdict() for match in model.fill("X and Y", y="hot", top=2)],
    }


def test_fill_scores_by_the_paper_or_with_a_prior_if_asked_to(
    folder: Path, model: Pair2vec
) -> None:
    options = ["--x=hot", "--top=3", "--model", str(folder)]
    asked = {
        (): SLOT_WEIGHTS,
        ("--prior=0.5",): SlotWeights(SLOT_WEIGHTS.similarity, 0.5),
        ("--paper",): PAPER_WEIGHTS,
        ("--paper", "--prior=0.5", "--search=shortlist"): SlotWeights(0, 0.5),
    }
    for given, weights in asked.items():
        (answer,) = answers_of("fill", "X and Y", *given, *options)
        best = model.fill("X and Y", x="hot", top=3, weights=weights)
        assert answer["matches"] == [match._asdict() for match in best]
        assert answer["query"].items() >= weights._asdict().items()
    shown = pair2vec("fill", "X and Y", "--paper", "--prior=0.5", *options).stdout
    assert "score: fit + 0.5 · log of the word's share of the corpus" in shown
    assert "above 0" not in shown
    assert "above 0" in pair2vec("fill", "X and Y", "--paper", *options).stdout


def test_fill_says_what_it_asks_in_place_of_a_pattern(folder: Path, model: Pair2vec) -> None:
    (answer,) = answers_of("fill", "the up of X is Y", "--x=hot", "--top=2", "--model", folder)
    reason = "a context has one word left of X and one right of Y"
    assert answer["asked"] == {"pattern": "X , the up of Y", "y": "hot", "reason": reason}
    assert answer["query"]["pattern"] == "the up of X is Y"
    best = model.fill("X , the up of Y", y="hot", top=2)
    assert answer["matches"] == [match._asdict() for match in best]
    done = pair2vec("fill", "the up of X is Y", "--x=hot", "--model", folder)
    assert f"asked as “X , the up of Y” with Y = hot: {reason}" in " ".join(done.stdout.split())
    assert not done.stderr
    (plain,) = answers_of("fill", "the X is Y", "--x=hot", "--model", folder)
    assert "asked" not in plain


@pytest.mark.parametrize(
    "query",
    [
        ("fill", "X and Y", "--x=hot"),
        ("analogy", "hot", "cold", "dear"),
        ("nearest", "hot", "cold"),
    ],
)
def test_function_words_are_answers_only_where_all_words_are(
    folder: Path, query: tuple[str, ...]
) -> None:
    def words(*options: str) -> set[str]:
        (answer,) = answers_of(*query, "--top=99", *options, "--model", folder)
        assert answer["query"].get("all_words", False) == bool(options)
        matches = answer["matches"]
        return {part for match in matches for part in match.values() if isinstance(part, str)}

    assert not words() & {"the", ",", "of", "and"}
    assert words("--all-words") & {"the", ",", "of", "and"}


def test_fill_ranks_patterns_for_a_pair(folder: Path, model: Pair2vec) -> None:
    patterns = ["X and Y", "neither X nor Y", "X is Y"]
    (answer,) = answers_of("fill", *patterns, "--x=hot", "--y=cold", "--model", folder)
    best = model.fill(patterns, x="hot", y="cold")
    assert answer["matches"] == [match._asdict() for match in best]
    assert answer["query"]["patterns"] == patterns
    (one,) = answers_of("fill", "X and Y", "--x=hot", "--y=cold", "--model", folder)
    assert one["matches"] == [
        {"pattern": "X and Y", "score": pytest.approx(model.score("hot", "cold", "X and Y"))}
    ]


def test_words_are_chosen_from_a_file_or_from_standard_input(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("Paris\n\nup\r\nhot\n")
    for source, stdin in [(tmp_path / "words.txt", ""), ("-", "Paris\nup\nhot\n")]:
        options = ["--among", str(source), "--model", str(folder)]
        (filled,) = answers_of("fill", "X and Y", "--x=hot", *options, stdin=stdin)
        assert {match["word"] for match in filled["matches"]} == {"paris", "up"}
        assert filled["query"]["among"] == str(source)
        (analogy,) = answers_of("analogy", "hot", "cold", "dear", *options, stdin=stdin)
        assert {match["word"] for match in analogy["matches"]} == {"paris", "up"}


def test_pair_has_the_vector_its_length_and_patterns_in_both_directions(
    folder: Path, model: Pair2vec
) -> None:
    (answer,) = answers_of("pair", "hot", "cold", "--top=2", "--model", folder)
    for name, (x, y) in {"forward": ("hot", "cold"), "backward": ("cold", "hot")}.items():
        vector = model.pair(x, y, direction="forward", normalised=False)
        assert answer[name] == {
            "x": x,
            "y": y,
            "norm": pytest.approx(float((vector**2).sum() ** 0.5)),
            "vector": model.pair(x, y, direction="forward").tolist(),
            "patterns": [match._asdict() for match in model.explain(x, y, top=2)],
        }


def test_pair_shows_one_direction_or_all_numbers_on_request(folder: Path, model: Pair2vec) -> None:
    short = pair2vec("pair", "hot", "cold", "--model", folder).stdout
    assert "hot → cold" in short
    assert "cold → hot" in short
    assert "X = cold, Y = hot" in short
    options = ["--direction=backward", "--vector"]
    whole = pair2vec("pair", "hot", "cold", *options, "--model", folder).stdout
    assert "hot → cold" not in whole
    numbers = " ".join(f"{n:.4f}" for n in model.pair("hot", "cold", direction="backward"))
    assert numbers in whole
    assert numbers not in short


def test_a_model_without_patterns_still_answers_pair(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "model", patterns=())
    done = pair2vec("pair", "-", "--model", folder, stdin=b"hot cold\nup down\n")
    assert done.returncode == 0
    assert "up → down" in done.stdout
    assert done.stderr.count("no patterns to explain pairs by") == 1
    (answer,) = answers_of("pair", "hot", "cold", "--model", folder)
    assert answer["forward"]["patterns"] is None


def test_analogy_weighs_relation_and_words_by_alpha(folder: Path, model: Pair2vec) -> None:
    options = ["--alpha=0.25", "--direction=forward", "--top=4"]
    (answer,) = answers_of("analogy", "hot", "cold", "up", *options, "--model", folder)
    best = model.analogy("hot", "cold", "up", alpha=0.25, direction="forward", top=4)
    assert answer["matches"] == [match._asdict() for match in best]
    assert answer["query"]["alpha"] == 0.25


def test_nearest_searches_or_chooses_from_pairs_or_words(
    folder: Path, model: Pair2vec, tmp_path: Path
) -> None:
    (searched,) = answers_of("nearest", "hot", "cold", "--top=3", "--model", folder)
    best = model.nearest("hot", "cold", top=3)
    assert searched["matches"] == [match._asdict() for match in best]
    (tmp_path / "pairs.txt").write_text("up\tdown\n france  paris \n")
    (chosen,) = answers_of(
        "nearest", "hot", "cold", "--among", tmp_path / "pairs.txt", "--model", folder
    )
    assert {(match["x"], match["y"]) for match in chosen["matches"]} == {
        ("up", "down"),
        ("france", "paris"),
    }
    (tmp_path / "words.txt").write_text("up\ndown\n")
    (both,) = answers_of(
        "nearest", "hot", "cold", "--words", tmp_path / "words.txt", "--model", folder
    )
    assert {(match["x"], match["y"]) for match in both["matches"]} == {
        ("up", "down"),
        ("down", "up"),
    }


def test_score_prints_one_number(folder: Path, model: Pair2vec) -> None:
    done = pair2vec("score", "hot", "cold", "X and Y", "--model", folder)
    score = model.score("hot", "cold", "X and Y")
    assert done.stdout == f"{score:8.3f}  hot, cold in “X and Y”\n"
    (answer,) = answers_of("score", "hot", "cold", "X and Y", "--model", folder)
    assert answer["score"] == pytest.approx(score)


@pytest.fixture(scope="module")
def definitions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("relations") / "mine.toml"
    path.write_text(RELATIONS)
    return path


@pytest.fixture(scope="module")
def options(folder: Path, definitions: Path) -> list[str]:
    return ["--relations", str(definitions), "--model", str(folder)]


def test_neighbours_lists_the_words_most_probably_in_a_relation(
    folder: Path, model: Pair2vec, definitions: Path, options: list[str]
) -> None:
    query = ["neighbours", "hot", "--relation=opposite", "--top=3", *options]
    (answer,) = answers_of(*query)
    best = model.relations(definitions).neighbours("hot", "opposite", top=3)
    assert answer == {
        "query": {
            "command": "neighbours",
            "model": str(folder),
            "word": "hot",
            "relation": "opposite",
            "relations": str(definitions),
            "unrelated": 0.5,
            "top": 3,
        },
        "matches": [match._asdict() for match in best],
    }
    shown = pair2vec(*query).stdout
    assert shown.startswith("opposite of hot: y is the opposite of x\n")
    assert f"{best[0].score:.3f}" in shown
    assert "the probability, where 50% of such pairs have no relation" in shown


def test_without_a_relation_each_neighbour_names_its_own(
    model: Pair2vec, definitions: Path, options: list[str]
) -> None:
    (answer,) = answers_of("neighbours", "hot", "--top=4", "--unrelated=0.9", *options)
    assert "relation" not in answer["query"]
    assert answer["query"]["unrelated"] == 0.9
    best = model.relations(definitions).typed_neighbours("hot", top=4, unrelated=0.9)
    assert answer["matches"] == [match._asdict() for match in best]
    assert {match["relation"] for match in answer["matches"]} <= {"opposite", "capital"}


def test_neighbours_of_many_words_come_from_standard_input(
    options: list[str], tmp_path: Path
) -> None:
    (tmp_path / "some.txt").write_text("cold\nparis\n")
    query = ["neighbours", "-", "--relation=capital", f"--among={tmp_path / 'some.txt'}", *options]
    answers = answers_of(*query, stdin="france\nzzz\nup\n", code=1)
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
def test_a_wrong_query_for_neighbours_is_one_clear_line(
    options: list[str], arguments: list[str], message: str
) -> None:
    assert_fails(pair2vec("neighbours", *arguments, *options), 2, message)


def test_a_model_without_the_words_of_a_relation_says_so(folder: Path) -> None:
    done = pair2vec("neighbours", "hot", "--model", folder, "--relation=synonym")
    assert_fails(done, 2, "the model knows none of its examples and patterns")
    missing = pair2vec("neighbours", "hot", "--relations", folder / "nowhere.toml")
    assert_fails(missing, 1, "nowhere.toml: no such file")


@pytest.mark.parametrize(
    ("command", "good", "bad"),
    [
        ("pair", "hot cold", "hot"),
        ("nearest", "hot\tcold", "hot cold up"),
        ("analogy", "hot cold up", "hot cold"),
        ("score", "hot\tcold\tX and Y", "hot cold X and Y"),
        ("fill", "X and Y\thot\t", "X and Y\thot"),
        ("fill", "X and Y\t\thot", "X and Y\t\t"),
        ("fill", "X and Y\thot\tcold", "X and\thot\tcold"),
    ],
)
def test_lines_of_standard_input_are_answered_in_their_order(
    folder: Path, command: str, good: str, bad: str
) -> None:
    lines = f"{good}\n{bad}\n\n{good.replace('hot', 'zzz')}\r\n{good}"
    answers = answers_of(command, "-", "--model", folder, stdin=lines, code=1)
    assert [answer["line"] for answer in answers] == [1, 2, 4, 5]
    assert set(answers[1]) == set(answers[2]) == {"line", "error"}
    assert "'zzz' is not in the vocabulary" in answers[2]["error"]
    first, last = ({**answer, "line": 0} for answer in (answers[0], answers[3]))
    assert first == last
    assert "error" not in first


def test_a_bad_line_goes_to_standard_error_beside_tables(folder: Path) -> None:
    stdin = b"hot\tcold\tX and Y\nhott\tcold\tX and Y\n\xff\n"
    done = pair2vec("score", "-", "--model", folder, stdin=stdin)
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr.splitlines() == [
        "pair2vec: line 2: 'hott' is not in the vocabulary; did you mean hot?",
        "pair2vec: line 3: is not UTF-8 at byte 1",
    ]


def test_good_lines_alone_are_a_success_and_none_too(folder: Path) -> None:
    assert len(answers_of("pair", "-", "--model", folder, stdin="hot cold\nup down\n")) == 2
    assert answers_of("pair", "-", "--model", folder, stdin="") == []


@pytest.mark.parametrize("form", [["--json"], []])
def test_a_line_is_answered_before_the_next_is_written(folder: Path, form: list[str]) -> None:
    command = [sys.executable, "-m", "pair2vec", "score", "-", "--model", str(folder), *form]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        patience = Timer(60, process.kill)
        patience.daemon = True
        patience.start()
        for x in ("hot", "up"):
            process.stdin.write(f"{x}\tcold\tX and Y\n")
            process.stdin.flush()
            assert x in process.stdout.readline()
        process.stdin.close()
        assert process.wait() == 0
        patience.cancel()


def test_a_reader_that_leaves_is_no_reason_for_a_traceback(folder: Path) -> None:
    command = [sys.executable, "-m", "pair2vec", "score", "-", "--json", "--model", str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        process.stdout.close()
        process.stdout = None
        _, messages = process.communicate("hot\tcold\tX and Y\n" * 100, timeout=60)
    assert process.returncode == 1
    assert messages == ""


@pytest.mark.parametrize("command", QUERIES)
def test_a_model_that_is_not_there_is_one_clear_line(tmp_path: Path, command: str) -> None:
    missing = pair2vec(command, *QUERIES[command], "--model", tmp_path / "no")
    assert_fails(missing, 1, "no: no such folder")


@pytest.mark.parametrize("command", QUERIES)
def test_the_bundled_model_is_queried_unless_another_is_named(command: str) -> None:
    by_default = pair2vec(command, *QUERIES[command])
    assert by_default.returncode == 0, by_default.stderr
    by_name = pair2vec(command, *QUERIES[command], "--model", "wikipedia")
    assert by_default.stdout == by_name.stdout


def test_a_model_that_cannot_be_read_is_one_clear_line(tmp_path: Path) -> None:
    folder = save_tiny_model(tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "format": 99}))
    newer = pair2vec("score", *QUERIES["score"], "--model", folder)
    assert_fails(newer, 1, "model format 99 is newer than this version reads", "upgrade")
    (folder / "config.json").write_text(json.dumps(config))
    tensors = folder / "model.safetensors"
    tensors.write_bytes(tensors.read_bytes()[:-100])
    cut = pair2vec("score", *QUERIES["score"], "--model", folder)
    assert_fails(cut, 1, "model.safetensors: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fill", "in X", "--x=hot"], "no Y that stands alone; write one X and one Y"),
        (["fill", "X and Y", "--x=hott"], "'hott' is not in the vocabulary; did you mean hot?"),
        (["fill", "X and Y"], "give the word in slot X or the one in slot Y"),
        (["fill", "X and Y", "X or Y", "--x=hot"], "give both --x and --y"),
        (["fill", "-", "--x=hot"], "the words come from standard input"),
        (["fill", "-", "--among=-"], "standard input can be read only once"),
        (["nearest", "-", "--words=-"], "standard input can be read only once"),
        (["nearest", "hot", "cold", "--words=a", "--among=b"], "not both"),
        (["nearest", "hot", "cold", "--words=no.txt"], "no.txt: no such file"),
        (["pair", "hot"], "expected X Y, got 'hot'"),
        (["score", "hot", "cold"], "expected X Y PATTERN, got 'hot cold'"),
        (["pair", "hot", "cold", "--direction=up"], "one of both, forward, backward"),
        (["analogy", "hot", "new york", "up"], "'new york' is not in the vocabulary"),
        (["analogy", "hot", "cold", "up", "--search=fast"], "one of exact, shortlist"),
        (["fill", "X and Y", "--x=hot", "--search=fast"], "one of exact, shortlist"),
        (["fill", "X and Y", "--x=hot", "--prior=-1"], "prior is -1; it must be a number from 0"),
        (["fill", "-", "--prior=nan"], "prior is nan; it must be a number from 0"),
        (["fill", "X and Y", "--x=hot", "--prior=inf"], "prior is inf; it must be a number from 0"),
        (["fill", "X or Y", "--x=hot", "--y=up", "--prior=1"], "both words are given, so there is"),
        (["score", "hot", "cold", "Y and X"], "Y comes before X"),
    ],
)
def test_a_wrong_query_is_one_clear_line(folder: Path, arguments: list[str], message: str) -> None:
    done = pair2vec(*arguments, "--model", folder)
    assert_fails(done, 2, message)
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_querying_a_model_never_imports_torch(folder: Path) -> None:
    code = """
import atexit, sys
from pair2vec.cli.main import main
atexit.register(lambda: print({"numpy", "torch"} & set(sys.modules), file=sys.stderr))
main()
"""
    for command, query in QUERIES.items():
        arguments = [command, *query, "--model", str(folder)]
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
        )
        assert done.stderr.strip() == "{'numpy'}"


def test_the_documented_json_is_what_is_printed(folder: Path) -> None:
    documented = [line for line in PAGE.read_text().splitlines() if line.startswith("{")]
    ranking = ["fill", "X and Y", "X or Y", "--x=hot", "--y=cold"]
    answers = [
        *(answers_of(command, *query, "--model", folder) for command, query in QUERIES.items()),
        answers_of(*ranking, "--model", folder),
        answers_of("fill", "the hot of X is Y", "--x=hot", "--model", folder),
        answers_of("score", "-", "--model", folder, stdin="hot\tcold\tX or Y\nhott\n", code=1),
    ]
    printed = {shape(answer) for each in answers for answer in each}
    assert {shape(json.loads(line)) for line in documented} == printed


@pytest.fixture(scope="module")
def composing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("composing") / "model", composes=True)


UNKNOWN = {
    "fill": ["in X , Y .", "--x=cheaps"],
    "pair": ["cheaps", "cold"],
    "analogy": ["hot", "cold", "cheaps"],
    "nearest": ["cheaps", "cold"],
}


@pytest.mark.parametrize("command", UNKNOWN)
def test_a_single_query_composes_an_unknown_word(composing: Path, command: str) -> None:
    (answer,) = answers_of(command, *UNKNOWN[command], "--model", composing)
    assert [word["word"] for word in answer["composed"]] == ["cheaps"]


def test_queries_on_standard_input_and_scores_compose_only_where_asked(composing: Path) -> None:
    lines = {"nearest": "cheaps cold\n", "score": "cheaps\tcold\tX or Y\n"}
    for command, line in lines.items():
        (refused,) = answers_of(command, "-", "--model", composing, stdin=line, code=1)
        assert refused["error"].startswith("'cheaps' is not in the vocabulary; did you mean cheap")
        asked = ("-", "--unknown=compose", "--model", composing)
        (answer,) = answers_of(command, *asked, stdin=line)
        assert answer["composed"][0]["source"] == "spelling"


def test_word_vectors_that_are_no_file_are_a_usage_error(composing: Path) -> None:
    done = pair2vec("pair", "hot", "cold", "--vectors", "none.vec", "--model", composing)
    assert_fails(done, 2, "--vectors none.vec: no such file")

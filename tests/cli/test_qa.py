"""The commands of question answering, as a user runs them."""

import json
from pathlib import Path

import pytest
from tests.command import assert_fails, pair2vec
from tests.documented_json import documented_examples, documented_names, shape
from tests.experiments.qa.capital_world import SMALL, write_capitals, write_words

from pair2vec.cli.qa import eval_squad, qa_answer, qa_train
from pair2vec.errors import Pair2vecError, UsageError

SETTINGS = [word for change in SMALL for word in ("--set", change)] + ["--device", "cpu"]
PASSAGE = "So.\nLand3 has Town7. Land9 has Town1. So."


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with inputs, questions and a trained answerer, made in two pieces."""
    folder = tmp_path_factory.mktemp("qa")
    write_words(folder / "words.vec")
    write_capitals(folder / "train.json", 150, seed=0)
    write_capitals(folder / "dev.json", 30, seed=1)
    (folder / "passage.txt").write_text(PASSAGE)
    command = [*train_arguments(folder), f"--out={folder / 'model'}"]
    stopped = pair2vec(*command, "--minutes", "0")
    assert stopped.returncode == 0, stopped.stderr
    assert "0 minutes are over, a checkpoint is written; go on with --resume" in stopped.stderr
    assert not (folder / "model" / "config.json").exists()
    done = pair2vec(*command, "--resume", "--minutes", "60")
    assert done.returncode == 0, done.stderr
    assert "going on from step 1" in done.stderr
    assert "% on dev, the best of 16 epochs" in done.stdout
    return folder


def train_arguments(folder: Path) -> list[str]:
    options = {"words": "words.vec", "train": "train.json", "dev": "dev.json"}
    named = [f"--{name}={folder / value}" for name, value in options.items()]
    return ["qa", "train", "--pairs=none", *named, *SETTINGS]


def test_a_question_is_answered_with_the_sentence_that_says_so(place: Path) -> None:
    ask = ["qa", "answer", f"--model={place / 'model'}", f"--passage={place / 'passage.txt'}"]
    done = pair2vec(*ask, "Which has Land9?", "--top", "2")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Town1  ")
    assert lines[1] == "    Land9 has [Town1]."
    assert lines[2].startswith("no answer  ")
    assert len(lines) == 5
    found = json.loads(pair2vec(*ask, "Which has Land9?", "--json").stdout)
    assert found["question"] == "Which has Land9?"
    assert found["answer"] == "Town1"
    (best,) = found["answers"]
    assert PASSAGE[best["start"] : best["end"]] == best["answer"] == "Town1"
    assert 0.5 < best["probability"] <= 1 - found["no_answer"]
    assert {shape(answer) for answer in documented_examples("qa answer")} == {shape(found)}


def test_a_question_without_answer_is_told_so(place: Path) -> None:
    ask = ["qa", "answer", f"--model={place / 'model'}", "--passage=-", "Which has Land8?"]
    done = pair2vec(*ask, stdin=PASSAGE.encode())
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("no answer  ")
    found = json.loads(pair2vec(*ask, "--json", stdin=PASSAGE.encode()).stdout)
    assert found["answer"] is None
    assert found["no_answer"] > found["answers"][0]["probability"]


def test_an_answerer_is_examined_and_leaves_a_result(place: Path) -> None:
    ask = ["eval", "squad", f"--model={place / 'model'}", f"--data={place / 'dev.json'}"]
    done = pair2vec(*ask, f"--results={place / 'results'}")
    assert done.returncode == 0, done.stderr
    assert "SQuAD 2.0" in done.stdout
    (path,) = (place / "results").glob("*.json")
    found = json.loads(path.read_text())
    assert (found["task"], found["pairs"]) == ("qa", "none")
    assert found["metrics"]["squad2_f1"] > 90
    assert str(place) not in path.read_text()
    silent = json.loads(pair2vec(*ask, "--json", "--threshold=-1000").stdout)
    assert silent["metrics"]["squad2_f1"] == pytest.approx(100 / 3, abs=0.01)
    assert set(silent) <= documented_names("eval squad")


def test_mistakes_are_one_line(place: Path, tmp_path: Path) -> None:
    again = train_arguments(place)
    assert_fails(pair2vec(*again, f"--out={place / 'model'}"), 2, "already holds an answerer")
    ask = ["qa", "answer", "Which?", "--model", str(tmp_path / "no")]
    assert_fails(
        pair2vec(*ask, "--passage", place / "passage.txt"),
        1,
        "no such folder; make an answerer with 'pair2vec qa train'",
    )


def test_what_is_wrong_is_told_before_anything_is_loaded(place: Path, tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    (tmp_path / "blank").write_bytes(b"\n")
    for question, name, message in [
        ("Which?", "none", "none: no such file"),
        ("Which?", "latin", "is not UTF-8 at byte 3"),
        ("Which?", "blank", "has no words to look for"),
        (" ", "latin", "is not UTF-8 at byte 3"),
    ]:
        with pytest.raises(Pair2vecError, match=message):
            qa_answer(question, tmp_path / name, tmp_path / "no model")
    with pytest.raises(UsageError, match="the question must have a word"):
        qa_answer(" ", place / "passage.txt", tmp_path / "no model")
    files = ([place / "train.json"], [place / "dev.json"], tmp_path / "x")
    with pytest.raises(UsageError, match=r"did you mean bidaf\.hidden\?"):
        qa_train(*files, words=str(place / "words.vec"), assignments=["bidaf.hiden=3"])
    with pytest.raises(UsageError, match="no word inputs"):
        qa_train(*files)
    with pytest.raises(UsageError, match="x: no such file"):
        eval_squad(place / "model", [tmp_path / "x"])

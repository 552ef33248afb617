"""The commands of question answering, as a user runs them."""

import json
from pathlib import Path

import pytest
from tests.command import assert_fails, pair2vec
from tests.documented_json import documented_examples, documented_names, shape
from tests.experiments.qa.capital_world import SMALL, write_capitals, write_words

from pair2vec.cli.qa import answers_text, eval_squad, qa_answer, qa_train, sentence_around
from pair2vec.errors import Pair2vecError, UsageError
from pair2vec.experiments.qa.answerer import Answers, CandidateAnswer

SETTINGS = [word for change in SMALL for word in ("--set", change)] + ["--device", "cpu"]
PASSAGE = "So.\nLand3 has Town7. Land9 has Town1. So."

SENTENCES = 'He left in 1347. "It was Dr. No," she\nsaid. Then 3 came? Yes'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with inputs, questions and an answerer, whose training was resumed."""
    folder = tmp_path_factory.mktemp("qa")
    write_words(folder / "words.vec")
    write_capitals(folder / "train.json", 150, seed=0)
    write_capitals(folder / "dev.json", 30, seed=1)
    (folder / "passage.txt").write_text(PASSAGE)
    command = [*train_arguments(folder), f"--out={folder / 'model'}"]
    stopped = pair2vec(*command, "--minutes", "0")
    assert stopped.returncode == 0, stopped.stderr
    assert "0 minutes are over, a checkpoint is written; continue with --resume" in stopped.stderr
    assert not (folder / "model" / "config.json").exists()
    done = pair2vec(*command, "--resume", "--minutes", "60")
    assert done.returncode == 0, done.stderr
    assert "resumed from step 1" in done.stderr
    assert "% on dev, the best of 16 epochs" in done.stdout
    return folder


def train_arguments(folder: Path) -> list[str]:
    options = {"words": "words.vec", "train": "train.json", "dev": "dev.json"}
    named = [f"--{name}={folder / value}" for name, value in options.items()]
    return ["qa", "train", "--pairs=none", *named, *SETTINGS]


def test_a_question_is_answered_with_the_sentence_that_says_so(folder: Path) -> None:
    command = ["qa", "answer", f"--model={folder / 'model'}", f"--passage={folder / 'passage.txt'}"]
    done = pair2vec(*command, "Which has Land9?", "--top", "2")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Town1  ")
    assert lines[1] == "    Land9 has [Town1]."
    assert lines[2].startswith("no answer  ")
    assert len(lines) == 5
    printed = json.loads(pair2vec(*command, "Which has Land9?", "--json").stdout)
    assert printed["question"] == "Which has Land9?"
    assert printed["answer"] == "Town1"
    (best,) = printed["answers"]
    assert PASSAGE[best["start"] : best["end"]] == best["answer"] == "Town1"
    assert 0.5 < best["probability"] <= 1 - printed["no_answer"]
    assert {shape(answer) for answer in documented_examples("qa answer")} == {shape(printed)}


def test_a_question_without_answer_gets_no_answer(folder: Path) -> None:
    command = ["qa", "answer", f"--model={folder / 'model'}", "--passage=-", "Which has Land8?"]
    done = pair2vec(*command, stdin=PASSAGE.encode())
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("no answer  ")
    printed = json.loads(pair2vec(*command, "--json", stdin=PASSAGE.encode()).stdout)
    assert printed["answer"] is None
    assert printed["no_answer"] > printed["answers"][0]["probability"]


def test_an_answerer_is_evaluated_and_leaves_a_result(folder: Path) -> None:
    command = ["eval", "squad", f"--model={folder / 'model'}", f"--data={folder / 'dev.json'}"]
    done = pair2vec(*command, f"--results={folder / 'results'}")
    assert done.returncode == 0, done.stderr
    assert "SQuAD 2.0" in done.stdout
    (path,) = (folder / "results").glob("*.json")
    result = json.loads(path.read_text())
    assert (result["task"], result["pairs"]) == ("qa", "none")
    assert result["metrics"]["squad2_f1"] > 90
    assert str(folder) not in path.read_text()
    silent = json.loads(pair2vec(*command, "--json", "--threshold=-1000").stdout)
    assert silent["metrics"]["squad2_f1"] == pytest.approx(100 / 3, abs=0.01)
    assert set(silent) <= documented_names("eval squad")


def test_mistakes_are_one_line(folder: Path, tmp_path: Path) -> None:
    again = train_arguments(folder)
    assert_fails(pair2vec(*again, f"--out={folder / 'model'}"), 2, "already holds an answerer")
    ask = ["qa", "answer", "Which?", "--model", str(tmp_path / "no")]
    assert_fails(
        pair2vec(*ask, "--passage", folder / "passage.txt"),
        1,
        "no such folder; make an answerer with 'pair2vec qa train'",
    )


def test_mistakes_show_before_anything_is_loaded(folder: Path, tmp_path: Path) -> None:
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
        qa_answer(" ", folder / "passage.txt", tmp_path / "no model")
    files = ([folder / "train.json"], [folder / "dev.json"], tmp_path / "x")
    with pytest.raises(UsageError, match=r"did you mean bidaf\.hidden\?"):
        qa_train(*files, words=str(folder / "words.vec"), assignments=["bidaf.hiden=3"])
    with pytest.raises(UsageError, match="no word inputs"):
        qa_train(*files)
    with pytest.raises(UsageError, match="x: no such file"):
        eval_squad(folder / "model", [tmp_path / "x"])


def sentence_of(word: str) -> str:
    start = SENTENCES.index(word)
    begin, end = sentence_around(SENTENCES, start, start + len(word))
    return SENTENCES[begin:end]


def test_an_answer_is_shown_in_its_sentence() -> None:
    assert sentence_of("1347") == "He left in 1347."
    assert sentence_of("she") == 'No," she'
    assert sentence_of("3 came") == "Then 3 came?"
    assert sentence_of("Yes") == "Yes"
    assert sentence_of("came? Yes") == "Then 3 came? Yes"
    assert sentence_of("she\nsaid") == 'No," she\nsaid.'


def one_answer(probability: float, no_answer: float) -> Answers:
    start = SENTENCES.index("1347")
    return Answers([CandidateAnswer("1347", probability, start, start + 4)], no_answer)


def test_the_likelier_of_answer_and_no_answer_comes_first() -> None:
    lines = answers_text(one_answer(0.75, 0.1), SENTENCES).plain.splitlines()
    assert lines == ["1347  75.0%", "    He left in [1347].", "no answer  10.0%"]
    lines = answers_text(one_answer(0.2, 0.7), SENTENCES).plain.splitlines()
    assert lines[0] == "no answer  70.0%"
    assert answers_text(Answers([], 1.0), "").plain == "no answer  100.0%"

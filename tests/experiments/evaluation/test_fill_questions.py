"""Questions to fill: the file of them, and what is counted."""

import json
from pathlib import Path

import pytest
from tests.command import assert_fails, pair2vec
from tests.documented_json import documented_names
from tests.tiny_model import save_tiny_model

from pair2vec.api import Pair2vec, load
from pair2vec.experiments.evaluation.fill_questions import (
    SCORINGS,
    FillQuestion,
    answer_fill_questions,
    fill_metrics,
    read_fill_questions,
)
from pair2vec.experiments.evaluation.slots import paper_rows
from pair2vec.query.search import PAPER_WEIGHTS
from pair2vec.text.patterns import nearest_context_pattern
from pair2vec.text.sentences import tokenize
from pair2vec.text.vocabulary import Vocabulary

QUESTIONS = read_fill_questions()
WORDS = sorted(
    {word for one in QUESTIONS for word in (one.word, *tokenize(one.pattern), *one.right)}
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Pair2vec:
    return load(save_tiny_model(tmp_path_factory.mktemp("tiny") / "model", WORDS))


def test_the_halves_share_no_question() -> None:
    halves = [read_fill_questions("choose"), read_fill_questions("report")]
    assert sorted(map(repr, [*halves[0], *halves[1]])) == sorted(map(repr, QUESTIONS))
    assert [len(half) for half in halves] == [115, 123]
    assert [sum(not one.is_long for one in half) for half in halves] == [84, 83]


def test_no_question_is_in_the_papers_table_and_right_words_are_single_tokens() -> None:
    paper = {(row.pattern, row.x) for row in paper_rows()}
    for question in QUESTIONS:
        assert (question.pattern, question.word) not in paper
        assert question.right
        assert question.word not in question.right
        assert question.slot in {"x", "y"}
        for word in question.right:
            assert len(tokenize(word)) == 1 or "-" in word


def test_questions_are_long_whose_pattern_is_none_of_the_model() -> None:
    no_phrases = Vocabulary([])
    for question in QUESTIONS:
        reason = nearest_context_pattern(question.pattern, no_phrases).reason
        assert question.is_long == bool(reason)


def test_answers_are_those_of_fill_by_each_scoring(model: Pair2vec) -> None:
    right = frozenset(WORDS)
    question = FillQuestion("r", "X or Y", "x", "win", right, is_long=False)
    long = question._replace(pattern="the opposite of X is Y", is_long=True)
    unknown = question._replace(word="unheard")
    answered = answer_fill_questions(model, [question, long, unknown])
    assert [one.question for one in answered] == [question, long]
    plain, default = answered[0].answers
    assert list(plain) == model.fill(
        "X or Y", x="win", top=3, weights=PAPER_WEIGHTS, all_words=True
    )
    assert list(default) == model.fill("X or Y", x="win", top=3)
    asked = model.fill("X , the opposite of Y", y="win", top=3)
    assert list(answered[1].answers[1]) == asked


def test_what_is_right_is_counted_by_length_and_scoring(model: Pair2vec) -> None:
    question = FillQuestion("r", "X or Y", "x", "win", frozenset(), is_long=False)
    (answered,) = answer_fill_questions(model, [question])
    second = answered.answers[1][1].word
    one = answered._replace(question=question._replace(right=frozenset({second})))
    plain = {match.word for match in answered.answers[0]}
    first = answered.answers[0][0].word
    assert fill_metrics([one, one])["context_patterns"] == {
        "questions": 2,
        "paper": {"first": 2 * (first == second), "first_three": 2 * (second in plain)},
        "default": {"first": 0, "first_three": 2},
    }
    assert [scoring.name for scoring in SCORINGS] == ["paper", "default"]


def test_eval_fill_prints_both_scorings(model: Pair2vec) -> None:
    folder = str(model.saved.folder)
    printed = json.loads(pair2vec("eval", "fill", "--json", "--model", folder).stdout)
    assert printed["metrics"]["context_patterns"]["questions"] == 83
    assert len(printed["questions"]) == 123
    names = {*printed, *printed["metrics"], *printed["metrics"]["long_patterns"]}
    assert names - {"model"} <= documented_names("eval fill")
    done = pair2vec("eval", "fill", "--half", "all", "--model", folder)
    assert_fails(done, 2, "--half all: it must be one of choose, report")


def test_its_path_in_the_summary_exists() -> None:
    import pair2vec
    from pair2vec.experiments.evaluation.fill_questions import QUESTIONS_PATH

    assert (Path(pair2vec.__file__).parents[1] / QUESTIONS_PATH).is_file()

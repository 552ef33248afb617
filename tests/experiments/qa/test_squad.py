"""EM and F1 of answers, with and without adversaries, against plain code and by hand."""

import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.experiments.qa.plain_squad import plain_scores, plain_squad2, read_plain
from tests.experiments.qa.small_squad import question
from tests.real_data import real_data

from pair2vec.errors import InputError
from pair2vec.experiments.qa.examples import QaQuestion, QaSet, SpanPrediction, read_qa
from pair2vec.experiments.qa.squad import (
    ALWAYS_ANSWER,
    best_match,
    is_adversarial,
    match_answer,
    normalise_answer,
    original_id,
    score_adversarial,
    score_squad,
    squad_set_name,
)


def prediction(answer: str, no_answer: float = -math.inf) -> SpanPrediction:
    return SpanPrediction(answer, no_answer, (0, 0))


def test_an_answer_is_compared_without_case_punctuation_and_articles() -> None:
    assert normalise_answer("The  U.S.'s\u00a0(best) A-team, an ox") == "uss best ateam ox"
    assert match_answer("the Black Death", "black death!") == (1.0, 1.0)
    assert match_answer("Black Death of 1347", "black death") == pytest.approx((0.0, 2 / 3))
    assert match_answer("a a dog", "dog dog cat") == pytest.approx((0.0, 0.5))
    assert match_answer("", "dog") == (0.0, 0.0)
    assert match_answer("The", "") == (1.0, 1.0)


def test_the_best_of_several_answers_counts() -> None:
    several = question("q", "in 1347", "the year 1347", "the")
    assert best_match("1347", several) == pytest.approx((0.0, 2 / 3))
    assert best_match("year 1347", several).em == 1.0
    assert best_match("", several) == (0.0, 0.0)
    assert best_match("", question("q")) == (1.0, 1.0)


def test_an_empty_prediction_is_right_only_where_there_is_no_answer() -> None:
    questions = [question("a", "dog"), question("b", "cat"), question("c"), question("d")]
    predictions = {
        "a": prediction("dog", -1.0),
        "b": prediction("cat", 2.0),
        "c": prediction("cow", 1.0),
        "d": prediction("cow", -2.0),
    }
    scores = score_squad(questions, predictions)
    assert (scores.n, scores.em, scores.f1) == (4, 50.0, 50.0)
    assert (scores.has_answer_em, scores.has_answer_f1, scores.no_answer_em) == (50.0, 50.0, 50.0)
    # To say nothing at all is as good as anything.
    assert scores.best_f1 == scores.best_em == (50.0, -math.inf)
    assert score_squad(questions, predictions, threshold=ALWAYS_ANSWER).has_answer_em == 100.0
    assert score_squad(questions, predictions, threshold=ALWAYS_ANSWER).no_answer_em == 0.0


def test_at_the_threshold_itself_the_span_is_predicted() -> None:
    questions, predictions = [question("a", "dog")], {"a": prediction("dog", 0.0)}
    assert score_squad(questions, predictions, threshold=0.0).em == 100.0
    assert score_squad(questions, predictions, threshold=-0.1).em == 0.0
    assert score_squad(questions, predictions).best_em == (100.0, 0.0)
    assert score_squad(questions, predictions).no_answer_em is None


def test_every_question_needs_a_prediction() -> None:
    with pytest.raises(InputError, match="question b: has no prediction"):
        score_squad([question("a"), question("b")], {"a": prediction("")})
    with pytest.raises(InputError, match="no questions to score"):
        score_squad([], {})
    with pytest.raises(InputError, match="no questions to score"):
        score_adversarial([], {})


OUTCOME = st.tuples(
    st.booleans(),
    st.one_of(st.integers(-3, 3).map(float), st.just(-math.inf), st.floats(-4, 4)),
    st.sampled_from(["dog", "dog cat", "cow", ""]),
)


@given(st.lists(OUTCOME, min_size=1, max_size=12))
def test_the_best_threshold_is_the_best_of_all_that_make_a_difference(
    outcomes: Sequence[tuple[bool, float, str]],
) -> None:
    questions = [
        question(f"{n}", *(["dog"] if has else [])) for n, (has, _, _) in enumerate(outcomes)
    ]
    predictions = {f"{n}": prediction(text, no) for n, (_, no, text) in enumerate(outcomes)}
    scores = score_squad(questions, predictions)
    plain = [
        (has, no, *best_match(text, q))
        for q, (has, no, text) in zip(questions, outcomes, strict=True)
    ]
    thresholds = [-math.inf, *sorted(no for _, no, _ in outcomes), math.inf]
    tried = [plain_squad2([(h, no, int(e), f) for h, no, e, f in plain], t) for t in thresholds]
    assert scores.best_em.value == pytest.approx(max(em for em, _ in tried), abs=0.006)
    assert scores.best_f1.value == pytest.approx(max(f1 for _, f1 in tried), abs=0.006)
    at_best = score_squad(questions, predictions, scores.best_f1.threshold)
    assert at_best.f1 == pytest.approx(scores.best_f1.value, abs=0.011)


A, B, C = (f"56be4db0acb8001400a502{end}" for end in ("ec", "ed", "ee"))
"""Ids as SQuAD has them."""


def test_the_worst_variant_of_a_question_counts_and_the_original_only_without_one() -> None:
    questions = [
        question(A, "red dog"),
        question(f"{A}-high-conf-turk0", "red dog"),
        question(f"{A}-high-conf-turk1", "red dog"),
        question(B, "cat"),
        question(f"{C}-high-conf-turk0", "cow"),
    ]
    predictions = {
        A: prediction("nothing of it"),
        f"{A}-high-conf-turk0": prediction("red dog", 5.0),
        f"{A}-high-conf-turk1": prediction("red"),
        B: prediction("cat", 5.0),
        f"{C}-high-conf-turk0": prediction("ox"),
    }
    scores = score_adversarial(questions, predictions)
    assert (scores.n, scores.em) == (3, 33.33)
    assert scores.f1 == pytest.approx(100 * (2 / 3 + 1 + 0) / 3, abs=0.006)
    assert (scores.original_em, scores.original_f1) == (50.0, 50.0)
    assert score_adversarial(questions[-1:], predictions).original_em is None


def test_a_variant_has_an_id_of_squad_with_a_suffix() -> None:
    original, variant = question(A, "dog"), question(f"{A}-high-conf-turk0", "dog")
    assert is_adversarial([original, variant])
    assert not is_adversarial([original])
    assert original_id(original) == original_id(variant) == A


@given(
    st.one_of(
        st.uuids().map(str), st.from_regex(r"(q|doc)?[0-9]{1,9}(-[0-9]{1,9})+", fullmatch=True)
    )
)
@example(f"{A}0-high-conf-turk0")
def test_an_id_that_has_a_dash_of_its_own_is_no_variant(name: str) -> None:
    dashed = question(name, "dog")
    # Beside one whose id it begins with, it is another question all the same.
    assert not is_adversarial([dashed, question(name.partition("-")[0], "dog")])
    assert original_id(dashed) == name


def random_predictions(qa_set: QaSet, seed: int) -> dict[str, SpanPrediction]:
    """Answers as a middling model gives them: right ones, parts of them, others, none."""
    rng = random.Random(seed)
    return {question.id: random_prediction(qa_set, question, rng) for question in qa_set.questions}


def random_prediction(qa_set: QaSet, question: QaQuestion, rng: random.Random) -> SpanPrediction:
    passage = qa_set.passages[question.passage]
    first = rng.randrange(len(passage.words))
    last = min(len(passage.words) - 1, first + rng.randrange(6))
    texts = [passage.span(first, last), ""]
    if question.answers:
        right = rng.choice(question.answers).text
        texts += [right, f"The {right.upper()}!", right[: len(right) // 2], f"{texts[0]} {right}"]
    no_answer = rng.choice([rng.gauss(0.3, 1.0), rng.randint(-1, 1), -math.inf])
    return SpanPrediction(rng.choice(texts), float(no_answer), (first, last))


@pytest.mark.parametrize("name", ["dev-v2.0", "dev-v1.1"])
def test_scores_of_all_dev_questions_are_those_of_plain_code(name: str) -> None:
    path = real_data("squad") / f"{name}.json.xz"
    qa_set = read_qa([path])
    predictions = random_predictions(qa_set, seed=1)
    plain = []
    for one in read_plain(path):
        answer, no_answer, _ = predictions[one.id]
        plain.append((one.has_answer, no_answer, *plain_scores(one, answer)))
    for threshold in (0.0, -0.4, ALWAYS_ANSWER):
        measured = score_squad(qa_set.questions, predictions, threshold)
        expected = plain_squad2(plain, threshold)
        assert (measured.em, measured.f1) == pytest.approx(expected, abs=0.0051)
        for has_answer in {one[0] for one in plain}:
            em, f1 = plain_squad2([one for one in plain if one[0] == has_answer], threshold)
            expected = (em, f1) if has_answer else (em, em)
            figures = (measured.has_answer_em, measured.has_answer_f1)
            figures = figures if has_answer else (measured.no_answer_em,) * 2
            assert figures == pytest.approx(expected, abs=0.0051)


@pytest.mark.parametrize(("name", "variants"), [("add_sent", 2560), ("add_one_sent", 787)])
def test_scores_of_the_adversarial_sets_are_those_of_plain_code(name: str, variants: int) -> None:
    path = real_data("squad") / f"{name}.json.xz"
    qa_set = read_qa([path])
    predictions = random_predictions(qa_set, seed=2)
    scores = {one.id: plain_scores(one, predictions[one.id].answer) for one in read_plain(path)}
    originals = [name for name in scores if "-" not in name]
    assert (len(originals), len(scores) - len(originals)) == (1000, variants)
    em = f1 = 0.0
    for original in originals:
        own = [figures for name, figures in scores.items() if name.startswith(f"{original}-")]
        worst_f1 = min([f for _, f in own] or [scores[original][1]])
        worst_em = next(e for e, f in [*own, scores[original]] if f == worst_f1)
        em, f1 = em + worst_em, f1 + worst_f1
    measured = score_adversarial(qa_set.questions, predictions)
    assert measured.n == 1000
    assert {original_id(question) for question in qa_set.questions} == set(originals)
    assert squad_set_name(qa_set) == name
    assert (measured.em, measured.f1) == pytest.approx((em / 10, f1 / 10), abs=0.0051)

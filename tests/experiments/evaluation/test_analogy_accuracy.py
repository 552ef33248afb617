"""Accuracies are what a plain count says, and intervals know that questions share words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pair2vec.experiments.evaluation.alpha_sweep import ALPHAS
from pair2vec.experiments.evaluation.analogy_accuracy import (
    SCORES,
    RelationOutcome,
    analogy_accuracies,
)

ORACLE, HELD_OUT = "oracle_alpha", "heldout_alpha"


def outcome(
    name: str, correct: list[list[bool]], *, group: str = "g", total: int = 0, x: object = None
) -> RelationOutcome:
    """`correct` has a few columns, which stand for the first values of α."""
    table = np.zeros((len(correct), len(ALPHAS)), np.bool_)
    if correct:
        table[:, : len(correct[0])] = correct
    words = np.arange(len(correct)) if x is None else np.array(x)
    return RelationOutcome(name, group, total or len(correct), words, table)


def test_a_relation_is_scored_at_the_alpha_of_each_score() -> None:
    correct = np.zeros((4, 21), np.bool_)
    correct[:1, 0] = correct[:2, 20] = correct[:3, 8] = True
    accuracies = analogy_accuracies([RelationOutcome("r", "g", 5, np.arange(4), correct)])
    assert accuracies.relations["r"].scores == {"three_cos_add": 25, "pair2vec": 50, ORACLE: 75}
    assert accuracies.relations["r"].alphas == {ORACLE: 0.4}
    assert accuracies.relations["r"].by_alpha[8] == 75
    assert (accuracies.relations["r"].n, accuracies.relations["r"].dropped) == (4, 20)


def test_held_out_alpha_is_chosen_on_the_other_relations_of_the_group() -> None:
    first = outcome("first", [[True, False, False]] * 10)
    second = outcome("second", [[False, True, False]] * 4)
    third = outcome("third", [[False, False, True]] * 3)
    elsewhere = outcome("elsewhere", [[False, False, True]] * 99, group="other")
    accuracies = analogy_accuracies([first, second, third, elsewhere]).relations
    # The second is the larger of the others for the first, the first for all others.
    assert accuracies["first"].alphas == {ORACLE: 0.0, HELD_OUT: 0.05}
    assert accuracies["second"].alphas == {ORACLE: 0.05, HELD_OUT: 0.0}
    assert accuracies["third"].alphas == {ORACLE: 0.1, HELD_OUT: 0.0}
    assert [accuracies[name].scores[HELD_OUT] for name in ("first", "second", "third")] == [0, 0, 0]


def test_a_relation_without_others_in_its_group_has_no_held_out_alpha() -> None:
    alone = outcome("alone", [[True, False]])
    nothing = outcome("nothing", [], total=3)
    accuracies = analogy_accuracies([alone, nothing])
    assert HELD_OUT not in accuracies.relations["alone"].scores
    assert HELD_OUT not in accuracies.groups["g"].scores
    assert accuracies.relations["alone"].to_json()[HELD_OUT] is None
    # Where the one relation has no questions, there is nothing to score at all.
    assert accuracies.relations["nothing"].scores == {}
    assert accuracies.relations["nothing"].dropped == 100
    assert accuracies.relations["nothing"].to_json()["by_alpha"] == []
    assert accuracies.groups["g"].dropped == 75


tables = st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=6)


@given(st.lists(tables, min_size=2, max_size=4))
def test_groups_pool_questions_each_at_the_alpha_of_its_relation(
    correct_tables: list[list[list[bool]]],
) -> None:
    outcomes = [outcome(str(number), correct) for number, correct in enumerate(correct_tables)]
    group = analogy_accuracies(outcomes).groups["g"]
    hits = dict.fromkeys((ORACLE, HELD_OUT), 0)
    for number, correct in enumerate(correct_tables):
        others = [
            row for other in correct_tables[:number] + correct_tables[number + 1 :] for row in other
        ]
        for name, rows in {ORACLE: correct, HELD_OUT: others}.items():
            alpha = max(range(3), key=lambda column: sum(row[column] for row in rows))
            hits[name] += sum(row[alpha] for row in correct)
    questions = [row for correct in correct_tables for row in correct]
    assert group.n == len(questions)
    for name, count in hits.items():
        assert group.scores[name] == pytest.approx(100 * count / len(questions), abs=0.005)
    for column in range(3):
        share = sum(row[column] for row in questions) / len(questions)
        assert group.by_alpha[column] == pytest.approx(100 * share, abs=0.005)
    assert group.alphas == {}


def test_an_interval_of_independent_questions_is_the_binomial_one() -> None:
    correct = [[number % 2 == 0] for number in range(400)]
    low, high = (
        analogy_accuracies([outcome("r", correct)]).relations["r"].intervals["three_cos_add"]
    )
    assert low == pytest.approx(50 - 4.9, abs=0.7)
    assert high == pytest.approx(50 + 4.9, abs=0.7)


def test_questions_that_share_their_x_do_not_narrow_an_interval() -> None:
    correct, x = [[number % 3 == 0] for number in range(60)], list(range(60))
    once = analogy_accuracies([outcome("r", correct, x=x)])
    many = analogy_accuracies([outcome("r", 40 * correct, x=40 * x)])
    assert many.relations["r"].intervals == once.relations["r"].intervals
    # Also when they belong to different relations of a group.
    apart = analogy_accuracies([outcome(str(n), correct, x=x) for n in range(40)])
    assert (
        apart.groups["g"].intervals["three_cos_add"]
        == (once.groups["g"].intervals["three_cos_add"])
    )


def test_every_score_has_an_interval_around_it_and_the_same_every_time() -> None:
    random = np.random.default_rng(1)
    outcomes = [outcome(name, (random.random((80, 3)) < 0.4).tolist()) for name in "ab"]
    first, second = analogy_accuracies(outcomes), analogy_accuracies(outcomes)
    assert first == second
    for accuracy in (*first.groups.values(), *first.relations.values()):
        assert set(accuracy.intervals) == set(SCORES)
        for name, (low, high) in accuracy.intervals.items():
            assert low <= accuracy.scores[name] <= high

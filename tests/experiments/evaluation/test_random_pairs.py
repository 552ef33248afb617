"""Random pairs: how they are drawn, and how many are called related."""

from collections import Counter
from pathlib import Path

import pytest
from tests.tiny_model import ALL_ANSWERS, WORDS, taught_model

from pair2vec.api import Pair2vec, load
from pair2vec.experiments.evaluation.relate import (
    RANDOM_WORDS,
    draw_random_pairs,
    random_part,
    score_random_pairs,
)
from pair2vec.relations.word_forms import is_form
from pair2vec.text.vocabulary import Vocabulary


@pytest.fixture
def model(tmp_path: Path) -> Pair2vec:
    return load(taught_model(tmp_path / "model", ALL_ANSWERS))


def vocabulary(size: int) -> Vocabulary:
    return Vocabulary([(f"w{number}q", size - number) for number in range(size)])


def test_pairs_are_of_the_most_frequent_words_without_special_tokens() -> None:
    words = vocabulary(RANDOM_WORDS + 5_000)
    pairs = draw_random_pairs(words, 20_000)
    ids = {words.ids[word] for pair in pairs for word in pair}
    assert len(pairs) == 20_000
    assert min(ids) == 4
    assert max(ids) == RANDOM_WORDS + 3
    assert len(ids) > 0.8 * RANDOM_WORDS


def test_pairs_are_the_same_each_time_and_others_for_another_seed() -> None:
    words = vocabulary(1_000)
    assert draw_random_pairs(words, 500) == draw_random_pairs(words, 500)
    assert draw_random_pairs(words, 500) != draw_random_pairs(words, 500, seed=1)


def test_forms_of_one_word_are_drawn_anew() -> None:
    words = Vocabulary([("cheap", 3), ("cheaper", 2), ("cold", 1)])
    pairs = draw_random_pairs(words, 300)
    assert len(pairs) == 300
    assert {frozenset(pair) for pair in pairs} == {
        frozenset({"cheap", "cold"}),
        frozenset({"cheaper", "cold"}),
    }
    assert not any(is_form(*pair) for pair in pairs)


def test_words_that_are_all_forms_of_one_have_no_pairs() -> None:
    assert draw_random_pairs(Vocabulary([("cheap", 2), ("cheaper", 1)]), 10) == []
    assert draw_random_pairs(Vocabulary([]), 10) == []


def test_none_and_unclear_are_not_called_related(model: Pair2vec) -> None:
    pairs = [(x, y) for x in WORDS for y in WORDS if x != y]
    names = [model.relate(x, y, top=0).name for x, y in pairs]
    assert {"none", "unclear"} <= set(names)
    related = [name for name in names if name not in {"none", "unclear"}]
    scores = score_random_pairs(model, pairs)
    assert scores.called.n == len(pairs)
    assert scores.called.accuracy == round(100 * len(related) / len(pairs), 2)
    assert scores.called.low < scores.called.accuracy < scores.called.high
    assert scores.by_relation == Counter(related)
    assert list(scores.by_relation.values()) == sorted(scores.by_relation.values(), reverse=True)


def test_the_twenty_most_confident_are_related_and_in_order(model: Pair2vec) -> None:
    pairs = [(x, y) for x in WORDS for y in WORDS if x != y]
    found = score_random_pairs(model, pairs).most_confident
    answers = {pair: model.relate(*pair, top=0) for pair in pairs}
    related = [a.probability for a in answers.values() if a.name not in {"none", "unclear"}]
    assert [pair.probability for pair in found] == pytest.approx(
        sorted(related, reverse=True)[:20], abs=1e-4
    )
    assert all(answers[pair.x, pair.y].name == pair.relation for pair in found)


def test_the_table_has_the_share_with_its_interval(model: Pair2vec) -> None:
    scores = score_random_pairs(model, [(x, y) for x in WORDS for y in WORDS if x != y])
    _, share, low, high = scores.called
    part = random_part(scores)
    assert part.grids[0].rows[0] == ("called related", f"{share:.2f} ({low:.2f}–{high:.2f})")
    assert len(part.grids[0].rows) == 1 + len(scores.by_relation)
    assert "306 pairs of the 20,000 most frequent words" in part.notes[0]

"""The paper's table, and any model's answers to it."""

from pathlib import Path

import pytest
from tests.tiny_model import save_tiny_model

from pair2vec.api import Pair2vec, load
from pair2vec.errors import UsageError
from pair2vec.experiments.evaluation.slots import FilledRow, fill_rows, paper_rows
from pair2vec.query.search import Match

ROWS = paper_rows()
GIVEN = sorted({word for row in ROWS for word in (row.x, *row.pattern.split())} - {"X", "Y"})


@pytest.fixture
def model(tmp_path: Path) -> Pair2vec:
    return load(save_tiny_model(tmp_path / "model", [*GIVEN, *"metals oregon maine".split()]))


def test_the_table_has_the_papers_seven_relations_and_fourteen_words() -> None:
    assert len(ROWS) == 14
    assert len({row.relation for row in ROWS}) == 7
    assert all(len(row.paper) == 3 for row in ROWS)
    (portland,) = [row for row in ROWS if (row.x, row.pattern) == ("portland", "in X , Y .")]
    assert portland.paper == ("oregon", "maine", "dorset")
    (copper,) = [row for row in ROWS if (row.x, row.relation) == ("copper", "hypernymy")]
    assert copper.right == {"metals", "mines"}


def test_every_row_has_the_models_best_three(model: Pair2vec) -> None:
    for filled in fill_rows(model, ROWS):
        row = filled.row
        assert list(filled.answers) == model.fill(row.pattern, x=row.x, top=3)
        assert len(filled.answers) == 3
        assert not filled.unknown
        assert set(filled.shared) == {match.word for match in filled.answers} & set(row.paper)


def test_the_models_words_that_are_right_are_those_the_judgement_accepts(model: Pair2vec) -> None:
    for filled in fill_rows(model, ROWS):
        accepted = filled.row.judgement.accepted
        assert list(filled.right) == [m.word for m in filled.answers if m.word in accepted]
    row = ROWS[2]
    said = ("maine", "metals", "ones", "mines")
    filled = FilledRow(row, tuple(Match(word, 1.0) for word in said), ())
    assert filled.right == ("metals", "mines")


def test_a_prior_is_the_one_of_fill(model: Pair2vec) -> None:
    filled = fill_rows(model, ROWS, prior=0.5)
    for row, answers, _ in filled:
        assert list(answers) == model.fill(row.pattern, x=row.x, top=3, prior=0.5)
    assert [f.answers for f in filled] != [f.answers for f in fill_rows(model, ROWS)]
    with pytest.raises(UsageError, match="prior is -1"):
        fill_rows(model, ROWS, prior=-1)


def test_unknown_words_are_named_in_their_row(tmp_path: Path) -> None:
    without = [word for word in GIVEN if word not in {"famous", "monet", "dallas"}]
    model = load(save_tiny_model(tmp_path / "model", without))
    found = {
        (filled.row.x, filled.row.relation): filled.unknown
        for filled in fill_rows(model, ROWS)
        if filled.unknown
    }
    assert found == {
        ("dallas", "city-state"): ("dallas",),
        ("dallas", "city-city"): ("dallas",),
        ("ronaldo", "profession"): ("famous",),
        ("monet", "profession"): ("monet", "famous"),
    }
    assert all(not f.answers for f in fill_rows(model, ROWS) if f.unknown)


def test_a_row_as_json_has_both_answers(model: Pair2vec) -> None:
    (filled,) = fill_rows(model, [ROWS[2]])
    found = filled.to_json()
    assert found["paper"] == [
        {"word": "ones", "right": False},
        {"word": "metals", "right": True},
        {"word": "mines", "right": True},
    ]
    assert found["right"] == list(filled.right)
    assert str(found["criterion"]).startswith("Names, in the plural, a kind of thing that copper")
    assert found["matches"] == [match._asdict() for match in filled.answers]
    assert (found["relation"], found["x"], found["unknown"]) == ("hypernymy", "copper", [])

"""The paper's slot-filling table, its judgements, and any model's answers to it."""

from importlib.resources import files
from pathlib import Path

import pytest
from tests.rendering import rendered
from tests.tiny_model import save_tiny_model

from pair2vec.api import Pair2vec, load
from pair2vec.errors import UsageError
from pair2vec.experiments.evaluation.slots import (
    JUDGEMENTS_PATH,
    FilledRow,
    fill_rows,
    paper_rows,
    read_judgements,
    slot_table,
)
from pair2vec.query.search import PAPER_WEIGHTS, Match, SlotWeights
from pair2vec.text.sentences import tokenize

ROWS = paper_rows()
JUDGEMENTS = read_judgements()
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
    assert copper.paper_correct == {"metals", "mines"}


def test_every_row_has_the_models_best_three(model: Pair2vec) -> None:
    for filled in fill_rows(model, ROWS):
        row = filled.row
        assert list(filled.answers) == model.fill(
            row.pattern, x=row.x, top=3, weights=PAPER_WEIGHTS, all_words=True
        )
        assert len(filled.answers) == 3
        assert not filled.unknown
        assert set(filled.shared) == {match.word for match in filled.answers} & set(row.paper)


def test_the_models_correct_words_are_those_the_judgement_accepts(model: Pair2vec) -> None:
    for filled in fill_rows(model, ROWS):
        accepted = filled.row.judgement.accepted
        assert list(filled.correct) == [m.word for m in filled.answers if m.word in accepted]
    row = ROWS[2]
    words = ("maine", "metals", "ones", "mines")
    filled = FilledRow(row, tuple(Match(word, 1.0) for word in words), ())
    assert filled.correct == ("metals", "mines")


def test_a_prior_is_the_one_of_fill(model: Pair2vec) -> None:
    filled = fill_rows(model, ROWS, prior=0.5)
    for row, answers, _ in filled:
        weights = SlotWeights(0, 0.5)
        assert list(answers) == model.fill(
            row.pattern, x=row.x, top=3, weights=weights, all_words=True
        )
    assert [f.answers for f in filled] != [f.answers for f in fill_rows(model, ROWS)]
    with pytest.raises(UsageError, match="prior is -1"):
        fill_rows(model, ROWS, prior=-1)


def test_unknown_words_are_named_in_their_row(tmp_path: Path) -> None:
    without = [word for word in GIVEN if word not in {"famous", "monet", "dallas"}]
    model = load(save_tiny_model(tmp_path / "model", without))
    unknown = {
        (filled.row.x, filled.row.relation): filled.unknown
        for filled in fill_rows(model, ROWS)
        if filled.unknown
    }
    assert unknown == {
        ("dallas", "city-state"): ("dallas",),
        ("dallas", "city-city"): ("dallas",),
        ("ronaldo", "profession"): ("famous",),
        ("monet", "profession"): ("monet", "famous"),
    }
    assert all(not f.answers for f in fill_rows(model, ROWS) if f.unknown)


def test_a_row_as_json_has_both_answers(model: Pair2vec) -> None:
    (filled,) = fill_rows(model, [ROWS[2]])
    content = filled.to_json()
    assert content["paper"] == [
        {"word": "ones", "right": False},
        {"word": "metals", "right": True},
        {"word": "mines", "right": True},
    ]
    assert content["right"] == list(filled.correct)
    assert str(content["criterion"]).startswith("Names, in the plural, a kind of thing that copper")
    assert content["matches"] == [match._asdict() for match in filled.answers]
    assert (content["relation"], content["x"], content["unknown"]) == ("hypernymy", "copper", [])


def test_slots_are_shown_beside_the_papers_and_unknown_words_counted(tmp_path: Path) -> None:
    words = {*GIVEN, "reject"} - {"monet"}
    model = load(save_tiny_model(tmp_path / "model", sorted(words)))
    filled = fill_rows(model, ROWS)
    text = rendered(slot_table(filled), 120)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    right = filled[0].correct
    best = ", ".join(m.word + "*" * (m.word in right) for m in filled[0].answers)
    assert f"either X or Y accept reject, refuse, recognise {best}" in lines
    assert "X , a famous Y , monet painter, painting, butterfly unknown: monet" in lines
    assert "hypernymy" in lines
    shared = sum(match.word in f.row.paper for f in filled for match in f.answers)
    assert f"{shared} of the model's 39 words are the paper's, too" in text
    assert "1 of 14 rows have an unknown word: monet." in lines
    rows_right = sum(bool(f.correct) for f in filled)
    assert f"{rows_right} of 14 rows have a word in the top 3 that is right (marked *;" in text
    assert "Words are scored" not in text
    assert "Words are scored by R·C + 0.5 · log" in rendered(slot_table(filled, 0.5), 120)


# The judgements.


def test_each_row_of_the_paper_has_a_judgement_and_no_other_has() -> None:
    assert list(JUDGEMENTS) == [(row.pattern, row.x) for row in ROWS]
    assert all(row.judgement == JUDGEMENTS[row.pattern, row.x] for row in ROWS)
    for criterion, accepted in JUDGEMENTS.values():
        assert criterion.endswith(".")
        assert len(accepted) >= 9


def test_what_the_paper_marks_as_correct_is_accepted() -> None:
    for row in ROWS:
        assert row.paper_correct <= row.judgement.accepted


def test_two_words_that_the_paper_does_not_mark_are_accepted() -> None:
    others = [(set(row.paper) - row.paper_correct) & row.judgement.accepted for row in ROWS]
    assert set().union(*others) == {"apps", "ogdensburg"}


def test_words_are_single_tokens_in_lower_case() -> None:
    for _, accepted in JUDGEMENTS.values():
        assert [word for word in accepted if tokenize(word) != [word]] == []


def test_words_that_are_mostly_something_else_are_not_among_them() -> None:
    function_words = set("or me in us a an of the and to it by no so as at nice male".split())
    for _, accepted in JUDGEMENTS.values():
        assert not accepted & function_words


def test_lists_that_rows_share_are_in_each_of_them() -> None:
    for key in [("X like Y", "cities"), ("from X to Y .", "dallas"), ("from X to Y .", "portland")]:
        assert {"paris", "tokyo", "babylon"} <= JUDGEMENTS[key].accepted
    assert "tyler" in JUDGEMENTS["from X to Y .", "dallas"].accepted
    assert "tyler" not in JUDGEMENTS["X like Y", "cities"].accepted


def test_the_path_in_the_summary_exists() -> None:
    package, _, rest = JUDGEMENTS_PATH.partition("/")
    assert (files(package) / rest).is_file()

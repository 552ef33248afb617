"""What is right in the paper's table: one judgement a row, in words as a model says them."""

from importlib.resources import files

from pair2vec.experiments.evaluation.slots import PLACE, judgements, paper_rows
from pair2vec.text.sentences import tokenize

ROWS = paper_rows()
JUDGEMENTS = judgements()


def test_each_row_of_the_paper_has_a_judgement_and_no_other_has() -> None:
    assert list(JUDGEMENTS) == [(row.pattern, row.x) for row in ROWS]
    assert all(row.judgement == JUDGEMENTS[row.pattern, row.x] for row in ROWS)
    for criterion, accepted in JUDGEMENTS.values():
        assert criterion.endswith(".")
        assert len(accepted) >= 9


def test_what_the_paper_takes_for_right_is_right() -> None:
    for row in ROWS:
        assert row.right <= row.judgement.accepted


def test_of_what_the_paper_does_not_take_for_right_two_words_are() -> None:
    others = [(set(row.paper) - row.right) & row.judgement.accepted for row in ROWS]
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


def test_the_place_that_a_reader_is_sent_to_is_there() -> None:
    room, _, rest = PLACE.partition("/")
    assert (files(room) / rest).is_file()

"""Results as text and HTML, and as the lists and tuples that they are."""

import json
import pickle
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.tiny_model import save_tiny_model

from pair2vec.api import Match, Pair2vec, PairMatch, PatternMatch, Table, load
from pair2vec.rendering import MOST_ROWS, Share, percent

MATCHES = [Match("tokyo", 0.7384), Match("a <b>", -1.0)]


@pytest.fixture(scope="module")
def model() -> Pair2vec:
    return load()


def cells(html: str | None) -> list[list[str]]:
    """The text of each row of all tables in a piece of HTML, which has to be well-formed."""
    assert html is not None
    return [
        ["".join(cell.itertext()).strip() for cell in row]
        for row in ElementTree.fromstring(f"<div>{html}</div>").iter("tr")
    ]


def test_a_table_is_a_list_of_its_records() -> None:
    table = Table(MATCHES)
    assert table == MATCHES
    assert table[0].word == "tokyo"
    assert json.dumps(table) == json.dumps(MATCHES)
    assert type(table[1:]) is Table
    assert table[1:] == MATCHES[1:]
    copied = pickle.loads(pickle.dumps(table))
    assert type(copied) is Table
    assert copied == MATCHES


def test_a_table_shows_its_fields_in_columns() -> None:
    assert repr(Table(MATCHES)) == "   word    score\n1  tokyo   0.738\n2  a <b>  -1.000"
    assert cells(Table(MATCHES)._repr_html_()) == [
        ["", "word", "score"],
        ["1", "tokyo", "0.738"],
        ["2", "a <b>", "-1.000"],
    ]


def test_a_long_table_is_cut_and_says_so() -> None:
    whole, cut = (Table([Match("word", 0.5)] * count) for count in (MOST_ROWS, MOST_ROWS + 1))
    assert len(cells(whole._repr_html_())) == MOST_ROWS + 1
    assert "more" not in repr(whole)
    assert len(cells(cut._repr_html_())) == MOST_ROWS // 2 + 1
    assert repr(cut).endswith(f"\n... and {MOST_ROWS // 2 + 1} more")
    assert "<p>... and 31 more</p>" in str(cut._repr_html_())


def test_what_a_record_lacks_is_left_blank() -> None:
    assert repr(Table([Match("hot", 0.5), PatternMatch("X", 1.0)])) == (
        "   word  score\n1  hot   0.500\n2        1.000"
    )
    assert repr(Table([("hot", 0.5)])) == "[('hot', 0.5)]"


def test_an_empty_table_is_an_empty_list() -> None:
    assert repr(Table[Match]()) == "[]"
    assert Table[Match]()._repr_html_() is None


def test_a_share_has_a_bar_as_long_as_it_is() -> None:
    table = Table([PairMatch("x", "y", Share(share)) for share in (0.0, 0.5, 1.0)])
    bars = ElementTree.fromstring(f"<div>{table._repr_html_()}</div>").findall(".//svg")
    assert [bar[1].get("width") for bar in bars] == ["0.000", "0.500", "1.000"]
    assert [row[-1] for row in cells(table._repr_html_())] == ["score", "0 %", "50 %", "100 %"]
    assert repr(table[1:2]).endswith("x  y   50 %")


QUERIES: dict[str, Callable[[Pair2vec], list[Any]]] = {
    "fill": lambda model: model.fill("X and Y", x="hot"),
    "patterns": lambda model: model.fill(["X and Y", "X or Y"], x="hot", y="cold"),
    "explain": lambda model: model.explain("hot", "cold"),
    "analogy": lambda model: model.analogy("hot", "cold", "up"),
    "nearest": lambda model: model.nearest("hot", "cold"),
    "opposed": lambda model: model.opposed_many([("it is hot", "it is cold")]),
    "neighbours": lambda model: model.neighbours("hot", "antonym"),
    "any neighbours": lambda model: model.relations().typed_neighbours("hot"),
}


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_with_several_answers_returns_a_table(model: Pair2vec, query: str) -> None:
    table = QUERIES[query](model)
    assert isinstance(table, Table)
    assert len(cells(table._repr_html_())) == len(table) + 1 > 1


def test_relations_of_many_pairs_are_shown_beside_the_pairs_that_have_one(model: Pair2vec) -> None:
    pairs = [("hot", "cold"), ("hot", "xyzzy"), ("paris", "france")]
    skipped = model.relate_many(iter(pairs), unknown="skip")
    assert skipped.pairs == pairs[::2]
    kept = model.relate_many(pairs, unknown="zero")
    assert kept.pairs == pairs
    head, *rows = cells(kept._repr_html_())
    assert head == ["", "x", "y", "relation", "probability"]
    assert [row[1:3] for row in rows] == [list(pair) for pair in pairs]
    assert rows[1][3:] == ["unknown", "0 %"]
    assert rows[0][3:] == [kept.names[0], percent(kept.probabilities[0].max())]
    assert [row.relation for row in kept.table()] == kept.names.tolist()
    assert repr(kept) == repr(kept.table())


def test_one_relation_shows_what_is_probable_and_what_speaks_for_it(model: Pair2vec) -> None:
    found = model.relate("hot", "cold", top=2)
    rows = cells(found._repr_html_())
    assert rows[0] == ["antonym", "99 %"]
    assert ["1", *found.like[0][:2], f"{found.like[0].score:.3f}"] in rows
    assert ["2", found.patterns[1].pattern, f"{found.patterns[1].score:.3f}"] in rows
    assert found.definition in found._repr_html_()
    assert repr(found) == f"<Relation 'antonym', 99 %: {found.definition}>"


def test_a_relation_that_is_not_named_shows_only_what_it_might_be(model: Pair2vec) -> None:
    found = model.relate("start", "stop", top=0)
    assert found.name == "unclear"
    rows = cells(found._repr_html_())
    assert rows == [[other.name, percent(other.probability)] for other in found.others]


def test_compared_sentences_show_the_verdict_and_the_words_that_decide(model: Pair2vec) -> None:
    found = model.opposed("it is hot", "it is not hot")
    rows = cells(found._repr_html_())
    assert [row[0] for row in rows[:3]] == ["same", "opposed", "different"]
    assert rows[4][:4] == ["1", "negation", "", "not"]
    assert repr(found).startswith(f"<Opposition {found.verdict!r}, ")
    assert cells(model.opposed("", "it")._repr_html_())


def test_a_model_and_a_check_of_it_show_themselves(model: Pair2vec, tmp_path: Path) -> None:
    facts = {row[0]: row[1] for row in cells(model._repr_html_())}
    assert facts["model"] == repr(model)
    assert facts["dimension"] == "300"
    assert not any("metrics" in name for name in facts)
    words = "japan tokyo france paris italy rome spain madrid iran tehran small smaller big bigger"
    found = load(save_tiny_model(tmp_path / "model", words.split())).check()
    assert f"<b>{escape(found.verdict)}</b>" in found._repr_html_()
    rows = cells(found._repr_html_())
    assert [row[0] for row in rows][-1] == "all"
    shown = found.pairs[0]
    like = ", ".join(f"{x} : {y}" for x, y, _ in shown.like)
    assert rows[1] == [f"{shown.x} : {shown.y}", "", like]
    assert repr(found).startswith(f"<ModelCheck of {found.model!r}: {found.verdict}; ")
    assert repr(model.relations()).endswith(", none>")

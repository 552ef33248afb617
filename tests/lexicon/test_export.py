"""Each format is read back by a parser of it."""

import csv
import io
import json
from pathlib import PurePath
from urllib.parse import unquote

import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib.namespace import RDF, SKOS

from pair2vec.errors import UsageError
from pair2vec.lexicon.evidence import Evidence
from pair2vec.lexicon.export import LexiconEntry, export_lexicon, lexicon_format

ENTRIES = [
    LexiconEntry("cheap", "antonym", "expensive", 0.91, [Evidence('cheap, not "expensive"', 2.0)]),
    LexiconEntry("hot_dog", "hypernym", "food", 0.8, []),
    LexiconEntry(
        "big", "synonym", "large", 0.7, [Evidence("big or large", 1.0), Evidence("as big", 0.5)]
    ),
    LexiconEntry("big", "synonym", "huge", 0.6, []),
]
WORDS = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1)
ANY_ENTRIES = st.lists(
    st.builds(
        LexiconEntry,
        x=WORDS,
        relation=st.sampled_from(["antonym", "synonym", "hypernym", "located_in"]),
        y=WORDS,
        probability=st.floats(0, 1),
        evidence=st.lists(
            st.builds(Evidence, st.text(st.characters(exclude_categories=["C"])), st.floats(0, 9)),
            max_size=3,
        ),
    )
)


def text_of(entries: list[LexiconEntry], kind: str) -> str:
    return "".join(export_lexicon(entries, lexicon_format(PurePath("lexicon"), kind)))


def test_tsv_has_a_header_and_a_line_an_entry() -> None:
    rows = list(csv.reader(io.StringIO(text_of(ENTRIES, "tsv")), "excel-tab", quoting=3))
    assert rows[0][:4] == ["x", "relation", "y", "probability"]
    assert rows[1] == ["cheap", "antonym", "expensive", "0.9100", 'cheap, not "expensive"', "", ""]
    assert all(len(row) == 7 for row in rows)


@given(ANY_ENTRIES)
def test_json_lines_are_the_entries(entries: list[LexiconEntry]) -> None:
    lines = [json.loads(line) for line in text_of(entries, "jsonl").splitlines()]
    assert list(map(LexiconEntry.from_json, lines)) == entries


@settings(max_examples=40)
@given(ANY_ENTRIES)
def test_turtle_is_parsed_and_has_every_relation_with_its_probability(
    entries: list[LexiconEntry],
) -> None:
    graph = rdflib.Graph().parse(data=text_of(entries, "ttl"), format="turtle")
    labels = {str(label) for label in graph.objects(predicate=SKOS.prefLabel)}
    assert labels == {w.replace("_", " ") for e in entries for w in (e.x, e.y)}
    probability = rdflib.URIRef("urn:pair2vec:relation:probability")
    statements = set()
    for statement, value in graph.subject_objects(probability):
        parts = [graph.value(statement, part) for part in (RDF.subject, RDF.predicate, RDF.object)]
        x, relation, y = (unquote(str(part).rpartition(":")[2]) for part in parts)
        assert (parts[0], parts[1], parts[2]) in graph
        statements.add((x, relation, y, str(value)))
    assert statements == {(e.x, e.relation, e.y, f"{e.probability:.4f}") for e in entries}


def test_turtle_uses_the_properties_of_skos_where_there_are_any() -> None:
    graph = rdflib.Graph().parse(data=text_of(ENTRIES, "ttl"), format="turtle")
    term = rdflib.Namespace("urn:pair2vec:term:")
    assert (term.hot_dog, SKOS.broader, term.food) in graph
    assert (term.cheap, SKOS.related, term.expensive) in graph
    assert (term.big, SKOS.exactMatch, term.large) in graph
    examples = {str(text) for text in graph.objects(predicate=SKOS.example)}
    assert 'cheap, not "expensive"' in examples


def test_solr_has_synonyms_both_ways_and_never_an_antonym() -> None:
    assert text_of(ENTRIES, "solr") == (
        "big => big,large,huge\nhuge => huge,big\nlarge => large,big\n"
    )


def test_solr_metacharacters_are_escaped() -> None:
    entry = LexiconEntry("a,b", "synonym", "c=>d", 1.0, [])
    assert text_of([entry], "solr").splitlines()[0] == r"a\,b => a\,b,c\=\>d"


@pytest.mark.parametrize(
    ("name", "typed", "expected"),
    [
        ("lexicon.tsv", None, "tsv"),
        ("lexicon.JSONL", None, "jsonl"),
        ("lexicon.ttl", None, "ttl"),
        ("synonyms.txt", None, "solr"),
        ("lexicon.tsv", "jsonl", "jsonl"),
    ],
)
def test_the_format_is_the_named_one_or_that_of_the_suffix(
    name: str, typed: str | None, expected: str
) -> None:
    assert lexicon_format(PurePath(name), typed) == expected


def test_an_unknown_suffix_without_a_format_is_refused() -> None:
    with pytest.raises(UsageError, match="which format"):
        lexicon_format(PurePath("lexicon.xml"), None)

"""Each format is read back by a parser of it."""

import csv
import io
import json
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote

import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib.namespace import RDF, RDFS, SKOS

from pair2vec.errors import UsageError
from pair2vec.lexicon.evidence import Evidence
from pair2vec.lexicon.export import ExportConfig, LexiconEntry, export_lexicon, lexicon_format

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
FEW_WORDS = st.sampled_from("abcde")
ENTRIES_OF_FEW_WORDS = st.lists(
    st.builds(
        LexiconEntry,
        x=FEW_WORDS,
        relation=st.sampled_from(["antonym", "synonym", "hypernym", "hyponym", "located-in"]),
        y=FEW_WORDS,
        probability=st.floats(0, 1),
        evidence=st.just([]),
    ),
    max_size=12,
)
BASE = "urn:pair2vec:lexicon#"
TERM = rdflib.Namespace(f"{BASE}term/")
RELATION = rdflib.Namespace(f"{BASE}relation/")
SCHEME = rdflib.URIRef(f"{BASE}scheme")


def text_of(entries: list[LexiconEntry], kind: str, **config: Any) -> str:
    file_format = lexicon_format(PurePath("lexicon"), kind)
    return "".join(export_lexicon(entries, ExportConfig(file_format=file_format, **config)))


def graph_of(entries: list[LexiconEntry], **config: Any) -> rdflib.Graph:
    return rdflib.Graph().parse(data=text_of(entries, "ttl", **config), format="turtle")


def test_phrases_keep_their_blanks() -> None:
    entries = [LexiconEntry("new york", "synonym", "big apple", 0.9, [])]
    assert text_of(entries, "solr").split("\n")[0] == "big apple => big apple,new york"
    assert text_of(entries, "tsv").split("\n")[1].split("\t")[0] == "new york"
    labels = set(map(str, graph_of(entries).objects(None, SKOS.prefLabel)))
    assert labels == {"new york", "big apple"}


def test_tsv_has_a_header_and_a_line_an_entry() -> None:
    rows = list(csv.reader(io.StringIO(text_of(ENTRIES, "tsv")), "excel-tab", quoting=3))
    assert rows[0][:4] == ["x", "relation", "y", "probability"]
    assert rows[0][7:] == ["accept", "reject"]
    assert rows[1][:5] == ["cheap", "antonym", "expensive", "0.9100", 'cheap, not "expensive"']
    assert all(row[7:] == ["", ""] for row in rows[1:])
    accepted = text_of([ENTRIES[0]._replace(accepted=True)], "tsv").splitlines()[1]
    assert accepted.split("\t")[7:] == ["x", ""]


def test_what_was_accepted_is_certain_in_skos() -> None:
    synonym = LexiconEntry("cheap", "synonym", "dear", 0.1, [])
    for accepted, match in ((False, SKOS.closeMatch), (True, SKOS.exactMatch)):
        graph = graph_of([synonym._replace(accepted=accepted)])
        assert (TERM.cheap, match, TERM.dear) in graph


@given(ANY_ENTRIES)
def test_json_lines_are_the_entries(entries: list[LexiconEntry]) -> None:
    lines = [json.loads(line) for line in text_of(entries, "jsonl").splitlines()]
    assert list(map(LexiconEntry.from_json, lines)) == entries


@settings(max_examples=40)
@given(ANY_ENTRIES)
def test_turtle_is_parsed_and_has_every_relation_with_its_probability(
    entries: list[LexiconEntry],
) -> None:
    graph = graph_of(entries)
    labels = {str(label) for label in graph.objects(predicate=SKOS.prefLabel)}
    assert labels == {w.replace("_", " ") for e in entries for w in (e.x, e.y)}
    probability = rdflib.URIRef(f"{BASE}probability")
    statements = set()
    for statement, value in graph.subject_objects(probability):
        parts = [graph.value(statement, part) for part in (RDF.subject, RDF.predicate, RDF.object)]
        x, relation, y = (unquote(str(part).rpartition("/")[2]) for part in parts)
        assert (parts[0], parts[1], parts[2]) in graph
        statements.add((x, relation, y, str(value)))
    assert statements == {(e.x, e.relation, e.y, f"{e.probability:.4f}") for e in entries}


def test_turtle_uses_the_properties_of_skos_where_there_are_any() -> None:
    graph = graph_of(ENTRIES)
    assert (TERM.hot_dog, SKOS.broader, TERM.food) in graph
    assert (TERM.food, SKOS.narrower, TERM.hot_dog) in graph
    assert (TERM.cheap, SKOS.related, TERM.expensive) in graph
    assert (TERM.cheap, RELATION.antonym, TERM.expensive) in graph
    assert {*graph.objects(SCHEME, SKOS.hasTopConcept)} == {TERM.food}
    examples = {str(text) for text in graph.objects(predicate=SKOS.example)}
    assert 'cheap, not "expensive"' in examples


@settings(max_examples=200)
@given(ENTRIES_OF_FEW_WORDS)
def test_turtle_keeps_the_integrity_conditions_of_skos(entries: list[LexiconEntry]) -> None:
    graph = graph_of(entries)
    used = {node for triple in graph for node in triple if str(node).startswith(str(SKOS))}
    assert {*map(str, used)} <= {*map(str, dir(SKOS))}  # nothing made up
    concepts = {*graph.subjects(RDF.type, SKOS.Concept)}
    assert len(concepts) == len({word for entry in entries for word in (entry.x, entry.y)})
    assert [*graph.subjects(RDF.type, SKOS.ConceptScheme)] == [SCHEME]
    for concept in concepts:
        assert [*graph.objects(concept, SKOS.inScheme)] == [SCHEME]
        assert len([*graph.objects(concept, SKOS.prefLabel)]) == 1  # S14
        above = {*graph.transitive_objects(concept, SKOS.broader)} - {concept}
        assert not above & {*graph.subjects(SKOS.broader, concept)}, "a cycle"
        assert not above & {*graph.objects(concept, SKOS.related)}  # S27
        is_top = (SCHEME, SKOS.hasTopConcept, concept) in graph
        assert is_top == ((concept, SKOS.topConceptOf, SCHEME) in graph)
        assert is_top == (not above and any(graph.objects(concept, SKOS.narrower)))
    for narrow, broad in graph.subject_objects(SKOS.broader):
        assert (broad, SKOS.narrower, narrow) in graph
    for symmetric in (SKOS.related, SKOS.exactMatch, SKOS.closeMatch):
        for x, y in graph.subject_objects(symmetric):
            assert x != y
            assert (y, symmetric, x) in graph
    for own in graph.subjects(RDF.type, RDF.Property):
        assert str(own).startswith(BASE)
        assert not [*graph.objects(own, RDFS.subPropertyOf)]


def test_of_contradicting_hypernyms_the_more_probable_is_broader() -> None:
    entries = [
        LexiconEntry("metal", "hypernym", "copper", 0.7, []),
        LexiconEntry("copper", "hypernym", "metal", 0.9, []),
        LexiconEntry("metal", "hypernym", "thing", 0.8, []),
        LexiconEntry("thing", "hypernym", "copper", 0.6, []),
        LexiconEntry("copper", "co-hyponym", "thing", 0.5, []),
        LexiconEntry("copper", "part", "wire", 0.5, []),
    ]
    graph = graph_of(entries)
    broader = {*graph.subject_objects(SKOS.broader)}
    assert broader == {(TERM.copper, TERM.metal), (TERM.metal, TERM.thing)}
    assert {*graph.subject_objects(SKOS.related)} == {
        (TERM.copper, TERM.wire),
        (TERM.wire, TERM.copper),
    }
    predicted = {(e.x, e.relation, e.y) for e in entries}
    assert all((TERM[x], RELATION[name], TERM[y]) in graph for x, name, y in predicted)


def test_a_synonym_is_an_exact_match_only_from_a_probability_on() -> None:
    entries = [
        LexiconEntry("begin", "synonym", "start", 0.95, []),
        LexiconEntry("start", "synonym", "begin", 0.85, []),
        LexiconEntry("buy", "synonym", "purchase", 0.9, []),
        LexiconEntry("big", "synonym", "large", 0.89, []),
    ]
    graph = graph_of(entries)
    exact = {*graph.subject_objects(SKOS.exactMatch)}
    assert {(TERM.begin, TERM.start), (TERM.buy, TERM.purchase)} < exact
    assert {*graph.subject_objects(SKOS.closeMatch)} == {
        (TERM.big, TERM.large),
        (TERM.large, TERM.big),
    }
    stricter = graph_of(entries, exact_match=0.96)
    assert not [*stricter.subject_objects(SKOS.exactMatch)]


@pytest.mark.parametrize(
    "base", ["https://example.org/terms/", "http://é.example/a#", "urn:x-a:b/"]
)
def test_addresses_begin_with_the_base(base: str) -> None:
    graph = graph_of(ENTRIES, base_uri=base)
    ours = {str(node) for node in graph.subjects() if isinstance(node, rdflib.URIRef)}
    assert all(node.startswith(base) for node in ours)
    assert f"{base}term/hot_dog" in ours


@pytest.mark.parametrize(
    "base",
    [
        "",
        "terms/",
        "/terms/",
        "https://example.org/terms",
        "https:///terms/",
        "https://a b/",
        "http://a/<x>/",
        "http://a/#b/",
        "http://[a/",
        "http://a/%zz/",
        "http://a/\n",
        "http://a/\udcff/",
    ],
)
def test_a_base_that_is_no_absolute_address_is_refused(base: str) -> None:
    with pytest.raises(UsageError, match=r"--base-uri .* must be an absolute address that ends in"):
        ExportConfig(file_format="ttl", base_uri=base)


def test_solr_has_synonyms_both_ways_and_never_an_antonym() -> None:
    assert text_of(ENTRIES, "solr") == (
        "big => big,large,huge\nhuge => huge,big\nlarge => large,big\n"
    )


def test_solr_metacharacters_are_escaped() -> None:
    entry = LexiconEntry("a,b", "synonym", "c=>d", 1.0, [])
    assert text_of([entry], "solr").splitlines()[0] == r"a\,b => a\,b,c\=\>d"


def test_solr_leaves_out_synonyms_that_are_more_probably_antonyms_read_backwards() -> None:
    entries = [
        LexiconEntry("buy", "synonym", "sell", 0.7, []),
        LexiconEntry("sell", "antonym", "buy", 0.8, []),
        LexiconEntry("buy", "synonym", "purchase", 0.7, []),
        LexiconEntry("purchase", "antonym", "buy", 0.66, []),
    ]
    assert text_of(entries, "solr") == "buy => buy,purchase\npurchase => purchase,buy\n"


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

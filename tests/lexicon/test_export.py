"""Each format is read back by a parser of it."""

import csv
import io
import json
import re
from itertools import combinations
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote

import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib.namespace import RDF, SKOS
from tests.lexicon.entries import ENTRIES_OF_FEW_WORDS

from pair2vec.errors import UsageError
from pair2vec.lexicon.evidence import Evidence
from pair2vec.lexicon.export import ExportConfig, export_lexicon, lexicon_format
from pair2vec.lexicon.thesaurus import LexiconEntry

ENTRIES = [
    LexiconEntry("cheap", "antonym", "expensive", 0.91, [Evidence('cheap, not "expensive"', 2.0)]),
    LexiconEntry("hot_dog", "hypernym", "food", 0.8, []),
    LexiconEntry(
        "big", "synonym", "large", 0.7, [Evidence("big or large", 1.0), Evidence("as big", 0.5)]
    ),
    LexiconEntry("big", "synonym", "huge", 0.6, []),
]
WORDS = st.text(
    st.characters(exclude_categories=["Z", "C", "Lu", "Lt"], exclude_characters="_"), min_size=1
)
WORDS = WORDS.filter(lambda word: word == word.casefold())
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
    graph = graph_of(entries)
    assert str(graph.value(TERM["new%20york"], SKOS.prefLabel)) == "new york"
    assert str(graph.value(TERM["new%20york"], SKOS.altLabel)) == "big apple"


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
        graph = graph_of([synonym._replace(accepted=accepted)], merges_synonyms=False)
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
    graph = graph_of(entries, merges_synonyms=False)
    labels = {str(label) for label in graph.objects(predicate=SKOS.prefLabel)}
    assert labels == {word for entry in entries for word in (entry.x, entry.y)}
    probability = rdflib.URIRef(f"{BASE}probability")
    statements = set()
    for statement, value in graph.subject_objects(probability):
        parts = [graph.value(statement, part) for part in (RDF.subject, RDF.predicate, RDF.object)]
        x, relation, y = (unquote(str(part).rpartition("/")[2]) for part in parts)
        assert (parts[0], parts[1], parts[2]) in graph
        statements.add((x, relation, y, str(value)))
    highest: dict[tuple[str, str, str], float] = {}
    for entry in entries:
        if entry.x != entry.y:
            known = highest.get(entry[:3], 0.0)
            highest[entry[:3]] = max(entry.probability, known)
    assert statements == {(*triple, f"{value:.4f}") for triple, value in highest.items()}


def test_turtle_uses_the_properties_of_skos_where_there_are_any() -> None:
    graph = graph_of(ENTRIES)
    assert (TERM.hot_dog, SKOS.broader, TERM.food) in graph
    assert (TERM.food, SKOS.narrower, TERM.hot_dog) in graph
    assert (TERM.cheap, SKOS.related, TERM.expensive) in graph
    assert (TERM.cheap, RELATION.antonym, TERM.expensive) in graph
    assert TERM.food in {*graph.objects(SCHEME, SKOS.hasTopConcept)}
    assert TERM.hot_dog not in {*graph.objects(SCHEME, SKOS.hasTopConcept)}
    examples = {str(text) for text in graph.objects(predicate=SKOS.example)}
    assert 'cheap, not "expensive"' in examples


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
    graph = graph_of(entries, merges_synonyms=False)
    exact = {*graph.subject_objects(SKOS.exactMatch)}
    assert {(TERM.begin, TERM.start), (TERM.buy, TERM.purchase)} < exact
    assert {*graph.subject_objects(SKOS.closeMatch)} == {
        (TERM.big, TERM.large),
        (TERM.large, TERM.big),
    }
    stricter = graph_of(entries, exact_match=0.96, merges_synonyms=False)
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


def test_synonyms_that_are_antonyms_read_backwards_are_not_in_solr() -> None:
    entries = [
        LexiconEntry("buy", "synonym", "sell", 0.8, []),
        LexiconEntry("sell", "antonym", "buy", 0.7, []),
        LexiconEntry("buy", "synonym", "purchase", 0.7, []),
    ]
    assert text_of(entries, "solr") == "buy => buy,purchase\npurchase => purchase,buy\n"


def test_of_two_antonyms_a_line_of_solr_has_the_likelier_synonym() -> None:
    entries = [
        LexiconEntry("light", "synonym", "dim", 0.85, []),
        LexiconEntry("light", "synonym", "bright", 0.9, []),
        LexiconEntry("bright", "antonym", "dim", 0.8, []),
    ]
    assert text_of(entries, "solr").splitlines() == [
        "bright => bright,light",
        "dim => dim,light",
        "light => light,bright",
    ]


def read_solr(text: str) -> dict[str, list[str]]:
    """As Lucene's SolrSynonymParser reads explicit mappings."""

    def split(line: str, separator: str) -> list[str]:
        found = re.split(rf"(?<!\\)((?:\\\\)*){separator}", line)
        return ["".join(found[n : n + 2]) for n in range(0, len(found), 2)]

    def unescaped(word: str) -> str:
        return re.sub(r"\\(.)", r"\1", word.strip())

    mappings = {}
    for line in text.splitlines():
        assert not line.startswith("#")
        left, right = split(line, "=>")
        mappings[unescaped(left)] = [unescaped(word) for word in split(right, ",")]
    return mappings


@settings(max_examples=100)
@given(ENTRIES_OF_FEW_WORDS)
def test_no_line_of_solr_has_two_antonyms(entries: list[LexiconEntry]) -> None:
    opposed = {entry.pair for entry in entries if entry.relation == "antonym"}
    for word, line in read_solr(text_of(entries, "solr")).items():
        assert line[0] == word
        assert len(line) == len({*line}) > 1
        assert not {frozenset(pair) for pair in combinations(line, 2)} & opposed


@given(WORDS, WORDS)
def test_any_word_is_read_back_from_solr(x: str, y: str) -> None:
    text = text_of([LexiconEntry(x, "synonym", y, 0.9, [])], "solr")
    if x == y or not all(any(map(str.isalnum, word)) for word in (x, y)):
        assert not text
    else:
        assert read_solr(text) == {x: [x, y], y: [y, x]}


@pytest.mark.parametrize("language", ["", "english!", "en_GB", "de-"])
def test_a_language_that_is_no_tag_is_refused(language: str) -> None:
    with pytest.raises(UsageError, match=r"--language .* must be a tag of BCP 47"):
        ExportConfig(file_format="ttl", language=language)


def test_labels_and_sentences_are_tagged_with_the_language() -> None:
    graph = graph_of(ENTRIES, language="pt-BR")
    tags = {node.language for node in graph.objects() if isinstance(node, rdflib.Literal)}
    assert tags == {"pt-BR", None}  # None of the probabilities


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

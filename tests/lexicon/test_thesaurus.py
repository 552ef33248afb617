"""What is asserted of entries goes together, by SKOS and by the rules of qSKOS."""

import importlib.util
from itertools import combinations
from pathlib import Path
from types import ModuleType

import pytest
import rdflib
from hypothesis import given, settings
from tests.lexicon.entries import ENTRIES_OF_FEW_WORDS

from pair2vec.lexicon.evidence import Evidence
from pair2vec.lexicon.export import ExportConfig, export_lexicon
from pair2vec.lexicon.thesaurus import LexiconEntry, Thesaurus

BASE = "https://example.org/t/"


def import_checker() -> ModuleType:
    path = Path(__file__).parents[2] / "examples" / "check_skos.py"
    spec = importlib.util.spec_from_file_location("check_skos", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHECK = import_checker()
VALID = """
@prefix : <https://example.org/t/> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
:scheme a skos:ConceptScheme ; skos:prefLabel "terms"@en ; skos:hasTopConcept :metal, :tin_can .
:metal a skos:Concept ; skos:inScheme :scheme ; skos:topConceptOf :scheme ;
    skos:prefLabel "metal"@en ; skos:altLabel "metals"@en ; skos:narrower :tin, :copper .
:tin a skos:Concept ; skos:inScheme :scheme ; skos:prefLabel "tin"@en ; skos:broader :metal ;
    skos:related :tin_can ; skos:example "tin melts"@en .
:copper a skos:Concept ; skos:inScheme :scheme ; skos:prefLabel "copper"@en ; skos:broader :metal .
:tin_can a skos:Concept ; skos:inScheme :scheme ; skos:topConceptOf :scheme ;
    skos:prefLabel "tin can"@en ; skos:related :tin .
"""
FAULTS = {
    "omitted language tags": ':tin skos:altLabel "stannum" .',
    "missing labels": ":zinc a skos:Concept .",
    "empty labels": ':tin skos:altLabel " "@en .',
    "inconsistent preferred labels": ':tin skos:prefLabel "stannum"@en .',
    "disjoint labels violation": ':tin skos:hiddenLabel "tin"@en .',
    "overlapping labels": ':copper skos:altLabel "Tin"@en .',
    "cyclic hierarchical relations": ":metal skos:broader :copper .",
    "hierarchical redundancy": (
        ":coin skos:broader :copper, :metal . :copper skos:narrower :coin . "
        ":metal skos:narrower :coin ."
    ),
    "valueless associative relations": ":tin skos:related :copper . :copper skos:related :tin .",
    "relation clashes": ":tin skos:related :metal . :metal skos:related :tin .",
    "mapping clashes": ":tin skos:exactMatch :x ; skos:broadMatch :y . :x skos:exactMatch :y .",
    "mapping relations misuse": ":tin skos:closeMatch :copper . :copper skos:closeMatch :tin .",
    "unidirectionally related concepts": ":copper skos:related :tin_can .",
    "reflexively related concepts": ":copper skos:related :copper .",
    "solely transitively related concepts": ":tin_can skos:broaderTransitive :metal .",
    "omitted top concepts": ':other a skos:ConceptScheme ; skos:prefLabel "other"@en .',
    "top concepts having broader concepts": (
        ":scheme skos:hasTopConcept :tin . :tin skos:topConceptOf :scheme ."
    ),
    "undefined SKOS resources": ":tin skos:antonym :copper .",
    "HTTP URI scheme violation": '<urn:x> a skos:Concept ; skos:prefLabel "x"@en .',
    "orphan concepts": ':zinc a skos:Concept ; skos:prefLabel "zinc"@en .',
    "undocumented concepts": ':zinc a skos:Concept ; skos:prefLabel "zinc"@en .',
}


def faults(graph: rdflib.Graph, rules: dict[str, str]) -> dict[str, list[str]]:
    return {rule: found for rule in rules if (found := CHECK.found(graph, rule))}


def test_the_checker_accepts_a_thesaurus_without_faults() -> None:
    assert not faults(rdflib.Graph().parse(data=VALID, format="turtle"), CHECK.ERRORS)


@pytest.mark.parametrize("rule", [*CHECK.ERRORS, *CHECK.NOTES])
def test_each_rule_of_the_checker_finds_its_fault(rule: str) -> None:
    before = rdflib.Graph().parse(data=VALID, format="turtle")
    graph = rdflib.Graph().parse(data=VALID + FAULTS[rule], format="turtle")
    assert len(CHECK.found(graph, rule)) > len(CHECK.found(before, rule))


def entry(x: str, relation: str, y: str, probability: float = 0.95) -> LexiconEntry:
    return LexiconEntry(x, relation, y, probability, [Evidence(f"{x} and {y}", 1.0)])


def graph_of(entries: list[LexiconEntry], same: float = 0.9) -> rdflib.Graph:
    config = ExportConfig(file_format="ttl", base_uri=BASE, exact_match=same)
    return rdflib.Graph().parse(data="".join(export_lexicon(entries, config)), format="turtle")


@settings(max_examples=30, deadline=None)
@given(ENTRIES_OF_FEW_WORDS)
def test_no_rule_finds_an_error_in_what_is_exported(entries: list[LexiconEntry]) -> None:
    errors = faults(graph_of(entries, same=0.5), CHECK.ERRORS)
    assert not errors or (errors.keys() == {"omitted top concepts"} and not entries)


@pytest.mark.parametrize("accepted", [False, True])
@settings(max_examples=100)
@given(entries=ENTRIES_OF_FEW_WORDS)
def test_terms_of_one_concept_are_all_synonyms_of_each_other(
    accepted: bool, entries: list[LexiconEntry]
) -> None:
    entries = [one._replace(accepted=accepted) for one in entries]
    thesaurus = Thesaurus(entries, same=0.5)
    assert sorted(word for terms in thesaurus.terms.values() for word in terms) == sorted(
        {word for one in entries for word in (one.x, one.y)}
    )
    for terms in thesaurus.terms.values():
        for pair in map(frozenset, combinations(terms, 2)):
            known = [one for one in entries if one.pair == pair]
            assert all(one.relation == "synonym" for one in known)
            # What a person accepted is transitive.
            assert accepted or max(one.certainty for one in known) >= 0.5


def test_the_most_frequent_synonym_is_the_preferred_label() -> None:
    entries = [entry("physician", "synonym", "doctor"), entry("doctor", "hypernym", "person")]
    counts = {"physician": 3, "doctor": 9}
    assert Thesaurus(entries, counts, same=0.9).terms == {
        "doctor": ["doctor", "physician"],
        "person": ["person"],
    }
    assert Thesaurus(entries, counts, same=None).terms.keys() == {"physician", "doctor", "person"}


@pytest.mark.parametrize(
    "between",
    [
        [],
        [entry("healthy", "antonym", "noise", 0.6)],
        [entry("healthy", "synonym", "noise", 0.8)],
        [entry("healthy", "hypernym", "x"), entry("x", "hypernym", "noise")],
    ],
    ids=["nothing", "an antonym", "a doubtful synonym", "a hierarchy"],
)
def test_a_chain_of_synonyms_is_not_one_concept(between: list[LexiconEntry]) -> None:
    chain = [entry("sound", "synonym", "healthy", 0.96), entry("sound", "synonym", "noise")]
    terms = Thesaurus([*chain, *between], same=0.9).terms
    assert terms["sound"] == ["sound", "healthy"]
    assert terms["noise"] == ["noise"]


def test_synonyms_in_a_hierarchy_or_opposed_the_other_way_stay_apart() -> None:
    entries = [
        entry("tin", "hypernym", "ore", 0.99),
        entry("ore", "hypernym", "metal", 0.99),
        entry("tin", "synonym", "metal"),
        entry("buy", "synonym", "sell"),
        entry("sell", "antonym", "buy", 0.6),
    ]
    assert all(len(terms) == 1 for terms in Thesaurus(entries, same=0.9).terms.values())


def test_accepted_synonyms_are_transitive_unless_an_entry_contradicts() -> None:
    accepted = [entry("a", "synonym", "b", 0.1), entry("b", "synonym", "c", 0.1)]
    accepted = [one._replace(accepted=True) for one in accepted]
    assert [*Thesaurus(accepted, same=0.9).terms.values()] == [["a", "b", "c"]]
    contradicted = [*accepted, entry("a", "antonym", "c")]
    assert [*Thesaurus(contradicted, same=0.9).terms.values()] == [["a", "b"], ["c"]]


def test_a_label_has_its_probability_and_its_sentence() -> None:
    graph = graph_of([entry("doctor", "synonym", "physician", 0.97)])
    skos = rdflib.SKOS
    concept = rdflib.URIRef(f"{BASE}term/doctor")
    assert str(graph.value(concept, skos.altLabel)) == "physician"
    assert str(graph.value(concept, skos.example)) == "doctor and physician"
    statement = graph.value(predicate=rdflib.RDF.predicate, object=skos.altLabel)
    assert graph.value(statement, rdflib.RDF.subject) == concept
    assert str(graph.value(statement, rdflib.URIRef(f"{BASE}probability"))) == "0.9700"


def test_words_that_are_read_alike_are_one_concept() -> None:
    entries = [entry("new_york", "located-in", "us"), entry("New York", "synonym", "nyc", 0.6)]
    thesaurus = Thesaurus(entries, same=0.9)
    assert thesaurus.terms.keys() == {"new_york", "us", "nyc"}
    assert [one[:3] for one in thesaurus.between] == [
        ("new_york", "located-in", "us"),
        ("new_york", "synonym", "nyc"),
    ]


def test_siblings_and_what_is_above_are_not_related() -> None:
    graph = graph_of(
        [
            entry("tin", "hypernym", "metal"),
            entry("copper", "hypernym", "metal"),
            entry("coin", "hypernym", "copper"),
            entry("coin", "hypernym", "metal"),
            entry("tin", "co-hyponym", "copper"),
            entry("coin", "part", "metal", 0.8),
            entry("coin", "antonym", "tin"),
        ]
    )
    term = rdflib.Namespace(f"{BASE}term/")
    assert {*graph.subject_objects(rdflib.SKOS.related)} == {
        (term.coin, term.tin),
        (term.tin, term.coin),
    }
    assert (term.coin, rdflib.SKOS.broader, term.metal) not in graph

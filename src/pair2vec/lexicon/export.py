"""What a lexicon says: which relation holds between two terms, how surely, and where it is said."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import Literal, NamedTuple, get_args
from urllib.parse import quote

from pair2vec.errors import UsageError
from pair2vec.lexicon.evidence import Evidence


class LexiconEntry(NamedTuple):
    """One relation between two terms: y is the `relation` of x."""

    x: str
    relation: str
    y: str
    probability: float
    evidence: list[Evidence]


# == A lexicon in the formats that others read: TSV, JSON lines, SKOS in Turtle, Solr synonyms.


Format = Literal["tsv", "jsonl", "ttl", "solr"]

EVIDENCE = 3
"""Columns for it in TSV."""

_SUFFIXES: dict[str, Format] = {".tsv": "tsv", ".jsonl": "jsonl", ".ttl": "ttl", ".txt": "solr"}

SYNONYM = "synonym"
"""The one relation whose words may stand for each other in a search."""

_SKOS = {"hypernym": "broader", "hyponym": "narrower", "synonym": "exactMatch"}
"""Relations that SKOS has a name for; the others are kinds of its ``related``."""

_PREFIXES = """\
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix relation: <urn:pair2vec:relation:> .
@prefix term: <urn:pair2vec:term:> .
"""


def format_of(path: PurePath, typed: str | None) -> Format:
    """As the user says, or else by the file's name.

    Raises:
        UsageError: neither tells.
    """
    found = typed or _SUFFIXES.get(path.suffix.lower())
    for known in get_args(Format):
        if found == known:
            return known  # type: ignore[no-any-return]
    raise UsageError(
        f"{path}: which format? Give --format {'|'.join(get_args(Format))}, or a name that ends in "
        f"{', '.join(_SUFFIXES)}"
    )


def export_lexicon(entries: Iterable[LexiconEntry], kind: Format) -> Iterator[str]:
    """The lines of a file."""
    return _WRITERS[kind](entries)


def _tsv(entries: Iterable[LexiconEntry]) -> Iterator[str]:
    numbers = [f"evidence_{number + 1}" for number in range(EVIDENCE)]
    yield "\t".join(["x", "relation", "y", "probability", *numbers]) + "\n"
    for entry in entries:
        texts = [one.text for one in entry.evidence[:EVIDENCE]]
        texts += [""] * (EVIDENCE - len(texts))
        parts = [entry.x, entry.relation, entry.y, f"{entry.probability:.4f}", *texts]
        yield "\t".join(" ".join(part.split()) for part in parts) + "\n"


def _json_lines(entries: Iterable[LexiconEntry]) -> Iterator[str]:
    for entry in entries:
        evidence = [one._asdict() for one in entry.evidence]
        yield json.dumps({**entry._asdict(), "evidence": evidence}, ensure_ascii=False) + "\n"


def _turtle(entries: Iterable[LexiconEntry]) -> Iterator[str]:
    """Each term a concept; each relation a property, and a statement with what is known of it."""
    yield _PREFIXES
    terms: set[str] = set()
    relations: set[str] = set()
    for entry in entries:
        for word in (entry.x, entry.y):
            if word not in terms:
                terms.add(word)
                label = _quoted(word.replace("_", " "))
                yield f"{_term(word)} a skos:Concept ; skos:prefLabel {label}@en .\n"
        if entry.relation not in relations:
            relations.add(entry.relation)
            yield from _property(entry.relation)
        yield from _statement(entry)


def _property(relation: str) -> Iterator[str]:
    parent = _SKOS.get(relation, "related")
    yield f"{_relation(relation)} a rdf:Property ; rdfs:subPropertyOf skos:{parent} .\n"


def _statement(entry: LexiconEntry) -> Iterator[str]:
    x, relation, y = _term(entry.x), _relation(entry.relation), _term(entry.y)
    plain = f"skos:{_SKOS.get(entry.relation, 'related')}"
    yield f"{x} {relation} {y} ; {plain} {y} .\n"
    evidence = "".join(f" ; skos:example {_quoted(one.text)}@en" for one in entry.evidence)
    yield (
        f"[] a rdf:Statement ; rdf:subject {x} ; rdf:predicate {relation} ; rdf:object {y} ; "
        f'relation:probability "{entry.probability:.4f}"^^xsd:decimal{evidence} .\n'
    )


def _solr(entries: Iterable[LexiconEntry]) -> Iterator[str]:
    """Each word with its synonyms, and nothing else: an antonym would find the contrary.

    A word stands for its own synonyms only, not for theirs.
    """
    synonyms: defaultdict[str, list[str]] = defaultdict(list)
    for entry in entries:
        if entry.relation == SYNONYM:
            for word, other in ((entry.x, entry.y), (entry.y, entry.x)):
                if other not in synonyms[word]:
                    synonyms[word].append(other)
    for word in sorted(synonyms):
        others = ",".join(map(_solr_word, [word, *synonyms[word]]))
        yield f"{_solr_word(word)} => {others}\n"


def _solr_word(word: str) -> str:
    """With a backslash before what Solr gives a meaning, and a term's words apart."""
    for character in "\\,=>#":
        word = word.replace(character, f"\\{character}")
    return word.replace("_", " ")


def _term(word: str) -> str:
    return f"<urn:pair2vec:term:{quote(word, safe='')}>"


def _relation(name: str) -> str:
    return f"<urn:pair2vec:relation:{quote(name, safe='')}>"


def _quoted(text: str) -> str:
    # JSON's escapes are a part of Turtle's.
    return json.dumps(text, ensure_ascii=False)


_WRITERS: dict[Format, Callable[[Iterable[LexiconEntry]], Iterator[str]]] = {
    "tsv": _tsv,
    "jsonl": _json_lines,
    "ttl": _turtle,
    "solr": _solr,
}

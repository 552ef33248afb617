"""Lexicon entries, and the formats they are exported in: TSV, JSON lines, SKOS in Turtle, Solr."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath
from typing import Any, Literal, NamedTuple, Self, get_args
from urllib.parse import quote

from pair2vec.errors import UsageError
from pair2vec.lexicon.evidence import Evidence

LexiconFormat = Literal["tsv", "jsonl", "ttl", "solr"]

EVIDENCE_COLUMNS = 3
"""In TSV."""

_SUFFIXES: dict[str, LexiconFormat] = {
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ttl": "ttl",
    ".txt": "solr",
}

SYNONYM = "synonym"
"""The one relation whose words may replace each other in a search."""

_SKOS = {"hypernym": "broader", "hyponym": "narrower", "synonym": "exactMatch"}
"""Relations that SKOS has a property for; the others are subproperties of ``skos:related``."""

_PREFIXES = """\
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix relation: <urn:pair2vec:relation:> .
@prefix term: <urn:pair2vec:term:> .
"""


class LexiconEntry(NamedTuple):
    """One relation between two terms: y is the `relation` of x."""

    x: str
    relation: str
    y: str
    probability: float
    evidence: list[Evidence]

    def to_json(self) -> dict[str, Any]:
        return {**self._asdict(), "evidence": [sentence._asdict() for sentence in self.evidence]}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        evidence = [Evidence(**sentence) for sentence in content["evidence"]]
        return cls(**{**content, "evidence": evidence})


def lexicon_format(path: PurePath, name: str | None) -> LexiconFormat:
    """The format of that name, or without a name that of the file's suffix.

    Raises:
        UsageError: there is no such format, or the suffix is none of a format.
    """
    wanted = name or _SUFFIXES.get(path.suffix.lower())
    names = get_args(LexiconFormat)
    for known in names:
        if wanted == known:
            return known  # type: ignore[no-any-return]
    raise UsageError(
        f"{path}: which format? Give --format {'|'.join(names)}, or a name that ends in "
        f"{', '.join(_SUFFIXES)}"
    )


def export_lexicon(entries: Iterable[LexiconEntry], file_format: LexiconFormat) -> Iterator[str]:
    """The lines of a file in a format."""
    return _WRITERS[file_format](entries)


def _tsv(entries: Iterable[LexiconEntry]) -> Iterator[str]:
    columns = [f"evidence_{number + 1}" for number in range(EVIDENCE_COLUMNS)]
    yield "\t".join(["x", "relation", "y", "probability", *columns]) + "\n"
    for entry in entries:
        texts = [sentence.text for sentence in entry.evidence[:EVIDENCE_COLUMNS]]
        texts += [""] * (EVIDENCE_COLUMNS - len(texts))
        cells = [entry.x, entry.relation, entry.y, f"{entry.probability:.4f}", *texts]
        yield "\t".join(" ".join(cell.split()) for cell in cells) + "\n"


def _json_lines(entries: Iterable[LexiconEntry]) -> Iterator[str]:
    for entry in entries:
        yield json.dumps(entry.to_json(), ensure_ascii=False) + "\n"


def _turtle(entries: Iterable[LexiconEntry]) -> Iterator[str]:
    """A concept for each term, a property for each relation, a reified statement for each entry."""
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
            parent = f"skos:{_SKOS.get(entry.relation, 'related')}"
            yield f"{_relation(entry.relation)} a rdf:Property ; rdfs:subPropertyOf {parent} .\n"
        yield _statement(entry)


def _statement(entry: LexiconEntry) -> str:
    x, relation, y = _term(entry.x), _relation(entry.relation), _term(entry.y)
    parent = f"skos:{_SKOS.get(entry.relation, 'related')}"
    evidence = "".join(
        f" ; skos:example {_quoted(sentence.text)}@en" for sentence in entry.evidence
    )
    return (
        f"{x} {relation} {y} ; {parent} {y} .\n"
        f"[] a rdf:Statement ; rdf:subject {x} ; rdf:predicate {relation} ; rdf:object {y} ; "
        f'relation:probability "{entry.probability:.4f}"^^xsd:decimal{evidence} .\n'
    )


def _solr(entries: Iterable[LexiconEntry]) -> Iterator[str]:
    """Each word with its synonyms; an antonym would find the opposite.

    Not transitive: a word is expanded to its own synonyms only, not to theirs.
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
    """Escaped for Solr, with spaces between the words of a term."""
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


_WRITERS: dict[LexiconFormat, Callable[[Iterable[LexiconEntry]], Iterator[str]]] = {
    "tsv": _tsv,
    "jsonl": _json_lines,
    "ttl": _turtle,
    "solr": _solr,
}

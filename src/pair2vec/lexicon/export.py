"""Lexicon entries, and the formats they are exported in: TSV, JSON lines, SKOS in Turtle, Solr.

TSV, JSON lines, and in Turtle the properties under the base address, have every entry as it was
predicted. SKOS and Solr assert more than a prediction, so both take the more probable entry of a
pair's two directions, and SKOS only what agrees with its integrity conditions:
https://www.w3.org/TR/skos-reference/
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal, NamedTuple, Self, get_args
from urllib.parse import quote, urlsplit

from pair2vec.errors import UsageError
from pair2vec.lexicon.evidence import Evidence

LexiconFormat = Literal["tsv", "jsonl", "ttl", "solr"]

EVIDENCE_COLUMNS = 3
"""In TSV."""
REVIEW_COLUMNS = ("accept", "reject")
"""In TSV, for a person to mark entries in; `review` reads them."""

_SUFFIXES: dict[str, LexiconFormat] = {
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ttl": "ttl",
    ".txt": "solr",
}

SYNONYM = "synonym"
"""The one relation whose words may replace each other in a search."""

HYPERNYM, HYPONYM = "hypernym", "hyponym"
"""The relations of a hierarchy."""

_BASE_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`#]+(#|(?<=/))")
"""An absolute IRI that Turtle can quote; what follows the last character is a name in it."""

_PREFIXES = """\
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportConfig:
    """The file that a lexicon is written to."""

    file_format: LexiconFormat
    base_uri: str = "urn:pair2vec:lexicon#"
    """Of SKOS: what the addresses of scheme, terms and relations begin with."""
    exact_match: float = 0.9
    """The least probability of a synonym that is ``skos:exactMatch``; others are ``closeMatch``."""

    def __post_init__(self) -> None:
        base = self.base_uri
        is_web = base.lower().startswith(("http:", "https:"))
        if (
            not (_BASE_URI.fullmatch(base) and base.isprintable())
            or (is_web and not _has_host(base))
            or re.search("%(?![0-9A-Fa-f]{2})", base)
        ):
            raise UsageError(
                f"--base-uri {base!r}: it must be an absolute address that ends in / or #, such as "
                "https://example.org/terms/"
            )


def _has_host(address: str) -> bool:
    try:
        return bool(urlsplit(address).hostname)
    except ValueError:  # brackets that enclose no IPv6 address
        return False


class LexiconEntry(NamedTuple):
    """One relation between two terms: y is the `relation` of x."""

    x: str
    relation: str
    y: str
    probability: float
    evidence: list[Evidence]
    accepted: bool = False
    """Whether a person has accepted it."""

    @property
    def certainty(self) -> float:
        """The probability, or 1 of what was accepted."""
        return 1.0 if self.accepted else self.probability

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


def export_lexicon(entries: Sequence[LexiconEntry], config: ExportConfig) -> Iterator[str]:
    """The lines of a file."""
    return _WRITERS[config.file_format](entries, config)


def _tsv(entries: Iterable[LexiconEntry], _: ExportConfig) -> Iterator[str]:
    columns = [f"evidence_{number + 1}" for number in range(EVIDENCE_COLUMNS)]
    yield "\t".join(["x", "relation", "y", "probability", *columns, *REVIEW_COLUMNS]) + "\n"
    for entry in entries:
        texts = [sentence.text for sentence in entry.evidence[:EVIDENCE_COLUMNS]]
        texts += [""] * (EVIDENCE_COLUMNS - len(texts))
        cells = [entry.x, entry.relation, entry.y, f"{entry.probability:.4f}", *texts]
        cells += ["x" if entry.accepted else "", ""]
        yield "\t".join(" ".join(cell.split()) for cell in cells) + "\n"


def _json_lines(entries: Iterable[LexiconEntry], _: ExportConfig) -> Iterator[str]:
    for entry in entries:
        yield json.dumps(entry.to_json(), ensure_ascii=False) + "\n"


def _turtle(entries: Sequence[LexiconEntry], config: ExportConfig) -> Iterator[str]:
    """The concept scheme, and for each entry a reified statement."""
    names = _Names(config.base_uri)
    yield _PREFIXES
    yield f'{names.scheme} a skos:ConceptScheme ; rdfs:label "pair2vec lexicon"@en .\n'
    yield f'{names.probability} a rdf:Property ; rdfs:label "probability"@en .\n'
    for relation in dict.fromkeys(entry.relation for entry in entries):
        label = _quoted(relation.replace("_", " "))
        yield f"{names.relation(relation)} a rdf:Property ; rdfs:label {label}@en .\n"
    for word in dict.fromkeys(word for entry in entries for word in (entry.x, entry.y)):
        label = _quoted(word.replace("_", " "))
        yield (
            f"{names.term(word)} a skos:Concept ; skos:inScheme {names.scheme} ; "
            f"skos:prefLabel {label}@en .\n"
        )
    likeliest = _likeliest(entries)
    hierarchy = Hierarchy(likeliest)
    for child, parent in hierarchy.edges:
        yield f"{names.term(child)} skos:broader {names.term(parent)} .\n"
        yield f"{names.term(parent)} skos:narrower {names.term(child)} .\n"
    for word in hierarchy.roots():
        yield f"{names.scheme} skos:hasTopConcept {names.term(word)} .\n"
        yield f"{names.term(word)} skos:topConceptOf {names.scheme} .\n"
    for entry in likeliest:
        is_exact = entry.certainty >= config.exact_match
        if entry.relation == SYNONYM:
            yield from _both_ways(names, entry, "exactMatch" if is_exact else "closeMatch")
        elif entry.relation not in (HYPERNYM, HYPONYM) and not hierarchy.connects(entry.x, entry.y):
            yield from _both_ways(names, entry, "related")
    for entry in entries:
        yield _statement(names, entry)


class _Names(NamedTuple):
    """Addresses, as Turtle quotes them."""

    base: str

    @property
    def scheme(self) -> str:
        return f"<{self.base}scheme>"

    @property
    def probability(self) -> str:
        return f"<{self.base}probability>"

    def term(self, word: str) -> str:
        return f"<{self.base}term/{quote(word, safe='')}>"

    def relation(self, name: str) -> str:
        return f"<{self.base}relation/{quote(name, safe='')}>"


def _likeliest(entries: Iterable[LexiconEntry]) -> list[LexiconEntry]:
    """Of each two terms the more certain entry; a term is in no relation to itself."""
    best: dict[tuple[str, ...], LexiconEntry] = {}
    for entry in entries:
        pair = tuple(sorted((entry.x, entry.y)))
        if entry.x != entry.y and (pair not in best or entry.certainty > best[pair].certainty):
            best[pair] = entry
    return list(best.values())


class Hierarchy:
    """Hypernyms and hyponyms without cycles: the least probable entry of one is left out.

    Args:
        entries: At most one of two terms.
    """

    def __init__(self, entries: Iterable[LexiconEntry]) -> None:
        self.edges: list[tuple[str, str]] = []
        """From a term to its broader one."""
        self._parents: defaultdict[str, list[str]] = defaultdict(list)
        # A parent's level is above those of its children, which keeps searches short.
        self._levels: defaultdict[str, int] = defaultdict(int)
        for entry in sorted(entries, key=lambda entry: -entry.certainty):
            if entry.relation not in (HYPERNYM, HYPONYM):
                continue
            pair = (entry.x, entry.y)
            child, parent = pair if entry.relation == HYPERNYM else pair[::-1]
            if not self._is_above(child, parent):
                self.edges.append((child, parent))
                self._parents[child].append(parent)
                self._raise_above(child)

    def roots(self) -> list[str]:
        """The terms that have narrower and no broader ones."""
        parents = dict.fromkeys(parent for _, parent in self.edges)
        return [word for word in parents if word not in self._parents]

    def connects(self, x: str, y: str) -> bool:
        """Whether one is above the other; SKOS has no such terms related (its condition S27)."""
        return self._is_above(x, y) or self._is_above(y, x)

    def _is_above(self, upper: str, lower: str) -> bool:
        seen, open_words = {lower}, [lower]
        while open_words:
            for parent in self._parents.get(open_words.pop(), ()):
                if parent == upper:
                    return True
                if parent not in seen and self._levels[parent] < self._levels[upper]:
                    seen.add(parent)
                    open_words.append(parent)
        return False

    def _raise_above(self, word: str) -> None:
        """Put all that is above a word on higher levels than what is below it."""
        open_words = [word]
        while open_words:
            child = open_words.pop()
            for parent in self._parents.get(child, ()):
                if self._levels[parent] <= self._levels[child]:
                    self._levels[parent] = self._levels[child] + 1
                    open_words.append(parent)


def _both_ways(names: _Names, entry: LexiconEntry, skos: str) -> Iterator[str]:
    """A symmetric property, for readers that do not infer the other direction."""
    x, y = names.term(entry.x), names.term(entry.y)
    yield f"{x} skos:{skos} {y} .\n"
    yield f"{y} skos:{skos} {x} .\n"


def _statement(names: _Names, entry: LexiconEntry) -> str:
    x, relation, y = names.term(entry.x), names.relation(entry.relation), names.term(entry.y)
    evidence = "".join(
        f" ; skos:example {_quoted(sentence.text)}@en" for sentence in entry.evidence
    )
    return (
        f"{x} {relation} {y} .\n"
        f"[] a rdf:Statement ; rdf:subject {x} ; rdf:predicate {relation} ; rdf:object {y} ; "
        f'{names.probability} "{entry.probability:.4f}"^^xsd:decimal{evidence} .\n'
    )


def _solr(entries: Iterable[LexiconEntry], _: ExportConfig) -> Iterator[str]:
    """Each word with its synonyms; an antonym would find the opposite.

    Not transitive: a word is expanded to its own synonyms only, not to theirs.
    """
    synonyms: defaultdict[str, list[str]] = defaultdict(list)
    for entry in _likeliest(entries):
        if entry.relation == SYNONYM:
            synonyms[entry.x].append(entry.y)
            synonyms[entry.y].append(entry.x)
    for word in sorted(synonyms):
        others = ",".join(map(_solr_word, [word, *synonyms[word]]))
        yield f"{_solr_word(word)} => {others}\n"


def _solr_word(word: str) -> str:
    """Escaped for Solr, with spaces between the words of a term."""
    for character in "\\,=>#":
        word = word.replace(character, f"\\{character}")
    return word.replace("_", " ")


def _quoted(text: str) -> str:
    # JSON's escapes are a part of Turtle's.
    return json.dumps(text, ensure_ascii=False)


_Writer = Callable[[Sequence[LexiconEntry], ExportConfig], Iterator[str]]
_WRITERS: dict[LexiconFormat, _Writer] = {
    "tsv": _tsv,
    "jsonl": _json_lines,
    "ttl": _turtle,
    "solr": _solr,
}

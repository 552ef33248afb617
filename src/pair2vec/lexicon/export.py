"""The formats that a lexicon is exported in: TSV, JSON lines, SKOS in Turtle, Solr.

TSV and JSON lines have every entry as it was predicted, and so have in Turtle the properties under
the base address, between concepts. SKOS and Solr assert more than a prediction: see `thesaurus`.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal, NamedTuple, get_args
from urllib.parse import quote, urlsplit

from pair2vec.errors import UsageError
from pair2vec.lexicon.thesaurus import (
    ANTONYM,
    SYNONYM,
    LexiconEntry,
    Thesaurus,
    label_of,
    likeliest,
)

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

_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
"""As Turtle has a tag of BCP 47."""
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
    merges_synonyms: bool = True
    """Of SKOS: whether synonyms are one concept with several labels, or concepts that match."""
    exact_match: float = 0.9
    """The least probability of synonyms that are one concept, or ``skos:exactMatch``."""
    language: str = "en"
    """Of SKOS: the tag of its labels and sentences."""

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
        if not _LANGUAGE.fullmatch(self.language):
            raise UsageError(
                f"--language {self.language!r}: it must be a tag of BCP 47, such as en or pt-BR"
            )


def _has_host(address: str) -> bool:
    try:
        return bool(urlsplit(address).hostname)
    except ValueError:  # brackets that enclose no IPv6 address
        return False


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


def export_lexicon(
    entries: Sequence[LexiconEntry],
    config: ExportConfig,
    frequency: Mapping[str, int] | None = None,
) -> Iterator[str]:
    """The lines of a file; the most `frequency` makes a term the preferred label of a concept."""
    match config.file_format:
        case "tsv":
            return _tsv(entries)
        case "jsonl":
            return _json_lines(entries)
        case "ttl":
            return _turtle(entries, config, frequency or {})
        case "solr":
            return _solr(entries)


def _tsv(entries: Iterable[LexiconEntry]) -> Iterator[str]:
    columns = [f"evidence_{number + 1}" for number in range(EVIDENCE_COLUMNS)]
    yield "\t".join(["x", "relation", "y", "probability", *columns, *REVIEW_COLUMNS]) + "\n"
    for entry in entries:
        texts = [sentence.text for sentence in entry.evidence[:EVIDENCE_COLUMNS]]
        texts += [""] * (EVIDENCE_COLUMNS - len(texts))
        cells = [entry.x, entry.relation, entry.y, f"{entry.probability:.4f}", *texts]
        cells += ["x" if entry.accepted else "", ""]
        yield "\t".join(" ".join(cell.split()) for cell in cells) + "\n"


def _json_lines(entries: Iterable[LexiconEntry]) -> Iterator[str]:
    for entry in entries:
        yield json.dumps(entry.to_json(), ensure_ascii=False) + "\n"


def _turtle(
    entries: Sequence[LexiconEntry], config: ExportConfig, frequency: Mapping[str, int]
) -> Iterator[str]:
    """Concepts of a scheme, what relates them, and a reified statement for each entry."""
    same = config.exact_match if config.merges_synonyms else None
    thesaurus = Thesaurus(entries, frequency, same=same)
    names = _Names(config.base_uri, config.language)
    yield _PREFIXES
    yield f"{names.scheme} a skos:ConceptScheme ; rdfs:label {names.text('pair2vec lexicon')} .\n"
    yield f"{names.probability} a rdf:Property ; rdfs:label {names.text('probability')} .\n"
    for relation in dict.fromkeys(entry.relation for entry in thesaurus.between):
        label = names.text(label_of(relation))
        yield f"{names.relation(relation)} a rdf:Property ; rdfs:label {label} .\n"
    examples = _first_sentences(thesaurus)
    for concept, terms in thesaurus.terms.items():
        term = names.term(concept)
        preferred, *others = (names.text(label_of(word)) for word in terms)
        yield f"{term} a skos:Concept ; skos:inScheme {names.scheme} ; skos:prefLabel {preferred}"
        yield "".join(f" ; skos:altLabel {label}" for label in others)
        yield f" ; skos:example {names.text(examples[concept])}" if concept in examples else ""
        yield " .\n"
    for child, parent in thesaurus.broader:
        yield f"{names.term(child)} skos:broader {names.term(parent)} .\n"
        yield f"{names.term(parent)} skos:narrower {names.term(child)} .\n"
    for concept in thesaurus.top:
        yield f"{names.scheme} skos:hasTopConcept {names.term(concept)} .\n"
        yield f"{names.term(concept)} skos:topConceptOf {names.scheme} .\n"
    for entry in thesaurus.associated:
        yield from _both_ways(names, entry, _association(entry, config))
    for word, entry in thesaurus.label_entries.items():
        label, concept = names.text(label_of(word)), names.term(thesaurus.concept[word])
        yield _statement(names, entry, concept, "skos:altLabel", label)
    for entry in thesaurus.between:
        x, relation, y = names.term(entry.x), names.relation(entry.relation), names.term(entry.y)
        yield f"{x} {relation} {y} .\n"
        yield _statement(names, entry, x, relation, y)


class _Names(NamedTuple):
    """Addresses and literals, as Turtle quotes them."""

    base: str
    language: str

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

    def text(self, content: str) -> str:
        # JSON's escapes are a part of Turtle's.
        return f"{json.dumps(content, ensure_ascii=False)}@{self.language}"


def _first_sentences(thesaurus: Thesaurus) -> dict[str, str]:
    """A sentence of each concept: the best one of its most certain entry that has any."""
    found: dict[str, str] = {}
    entries = [*thesaurus.between, *thesaurus.label_entries.values()]
    for entry in sorted(entries, key=lambda entry: -entry.certainty):
        if entry.evidence:
            for word in (entry.x, entry.y):
                found.setdefault(thesaurus.concept[word], entry.evidence[0].text)
    return found


def _association(entry: LexiconEntry, config: ExportConfig) -> str:
    """The property of SKOS for an entry outside the hierarchy."""
    if entry.relation != SYNONYM or config.merges_synonyms:
        return "related"
    return "exactMatch" if entry.certainty >= config.exact_match else "closeMatch"


def _both_ways(names: _Names, entry: LexiconEntry, skos: str) -> Iterator[str]:
    """A symmetric property, for readers that do not infer the other direction."""
    x, y = names.term(entry.x), names.term(entry.y)
    yield f"{x} skos:{skos} {y} .\n"
    yield f"{y} skos:{skos} {x} .\n"


def _statement(names: _Names, entry: LexiconEntry, *triple: str) -> str:
    """A triple, with the probability and the sentences of its entry."""
    x, relation, y = triple
    evidence = "".join(f" ; skos:example {names.text(found.text)}" for found in entry.evidence)
    return (
        f"[] a rdf:Statement ; rdf:subject {x} ; rdf:predicate {relation} ; rdf:object {y} ; "
        f'{names.probability} "{entry.probability:.4f}"^^xsd:decimal{evidence} .\n'
    )


def _solr(entries: Sequence[LexiconEntry]) -> Iterator[str]:
    """Each word with its synonyms, and no two words of a line that an entry has as antonyms.

    Not transitive: a word is expanded to its own synonyms only, not to theirs.
    """
    opposed = {entry.pair for entry in entries if entry.relation == ANTONYM}
    synonyms: defaultdict[str, list[str]] = defaultdict(list)
    for entry in sorted(likeliest(entries), key=lambda entry: -entry.certainty):
        # An analyzer makes no token of what has no letter or digit, and refuses the whole file.
        if entry.relation == SYNONYM and all(map(_has_letter_or_digit, entry.pair)):
            for word, other in ((entry.x, entry.y), (entry.y, entry.x)):
                if not any(frozenset((other, one)) in opposed for one in (word, *synonyms[word])):
                    synonyms[word].append(other)
    for word in sorted(filter(synonyms.get, synonyms)):
        others = ",".join(map(_solr_word, [word, *synonyms[word]]))
        yield f"{_solr_word(word)} => {others}\n"


def _has_letter_or_digit(word: str) -> bool:
    return any(map(str.isalnum, word))


def _solr_word(word: str) -> str:
    """Escaped for Solr, with spaces between the words of a term."""
    for character in "\\,=>#":
        word = word.replace(character, f"\\{character}")
    return word.replace("_", " ")

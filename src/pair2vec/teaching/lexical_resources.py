"""Lexical resources as knowledge of the teachers: what they say of the words of a pair.

- A thesaurus is a text of lines ``head,word,word,…``, such as Moby's.
- Roget's thesaurus has its opposites beside each other, and is read by `roget`.
- A dictionary is one of dictd: the files ``NAME.index`` and ``NAME.dict`` or ``NAME.dict.dz``. Its
  definitions are read as those of GCIDE, of which only what is tagged as Webster's of 1913 counts:
  other parts were taken from WordNet, whose held-out pairs they would give away.

What they say is kept as *links* between base forms: of a head and a word that a thesaurus lists
under it; of a headword and the words of its definitions, its synonyms and what it is opposed to;
and, which needs no file, of words that differ by an affix of opposites.

Shapes: V vocabulary, N base forms, L links, K kinds of links, B pairs, D dimension.
"""

import gzip
import logging
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from pair2vec.arrays import FloatArray, Int64Array
from pair2vec.errors import InputError
from pair2vec.teaching.candidates import affix_pairs
from pair2vec.teaching.labels import shortest_base_form
from pair2vec.teaching.roget import Places, find_places
from pair2vec.teaching.vector_teacher import Features
from pair2vec.text.vocabulary import SPECIAL_TOKENS, Vocabulary
from pair2vec.wordnet.dictionary import WordNet

_log = logging.getLogger(__name__)

LINK_KINDS = ("listed", "defined", "synonym", "opposed", "affix")
_LISTED, _DEFINED, _SYNONYM, _OPPOSED, _AFFIX = range(len(LINK_KINDS))

_FUNCTION_WORDS = 120
"""The most frequent words, which say nothing in a definition."""
_DEFINING_WORDS = 12
"""Of a sense, so many words are read."""
_SENSES = 3
_THESAURUS_SIZE = 128
"""Numbers of a word's thesaurus vector."""

_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

_SOURCE = re.compile(r"^ *\[([^\[\]]*)\]$", re.MULTILINE)
_TRUSTED, _UNTRUSTED = "1913", "WordNet"
"""In the name of a part's source."""
_QUOTATION = re.compile(r"^ {10,}.*$", re.MULTILINE)
_COLLOCATION = re.compile(r"\n\n *\{.*?(?=\n\n|\Z)", re.DOTALL)
_HEAD = re.compile(
    r"^[^\\]*\\[^\\]*\\[,; ]*(\([^)]*\)[,; ]*)?"
    r"((n|v|a|t|i|adv|adj|p|pr|vb|imp|pl|prep|conj|interj)\b[.,;& ]*)*"
)
_BRACKETS = re.compile(r"\[[^\[\]]*\]")
_ASIDE = re.compile(r'"[^"]*"|\([^)]*\)|--\s?[A-Z]\w*\.?(?: [A-Z]\w*\.?)*|[,;:] as,[^.;]*')
_SENSE = re.compile(r"^ +\d+\. ", re.MULTILINE)
_SYNONYMS = re.compile(r"\bSyn:(.*?)(?:\bUsage:|\Z)", re.DOTALL)
_OPPOSITES = re.compile(
    r"(?:opposed to|opposite (?:of|to)|contrary (?:of|to)|reverse of|correlative (?:of|to))"
    r"\s+([^.;:()]{1,80})",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
_ARTICLES = frozenset("a an the to or and of that which what in".split())


class Entry(NamedTuple):
    """What a dictionary says of a headword."""

    senses: list[list[str]]
    """The words of each definition, in their order."""
    synonyms: list[str]
    opposites: list[str]


@dataclass(frozen=True)
class LexicalFiles:
    """Where the resources are; any may be missing."""

    thesaurus: Path | None = None
    dictionary: Path | None = None
    """The index file."""
    roget: Path | None = None

    @property
    def names(self) -> list[str]:
        """For people: of the thesauri, and of the dictionary's index."""
        return [path.name for path in (self.thesaurus, self.dictionary, self.roget) if path]

    @property
    def paths(self) -> list[Path]:
        """The files that are read."""
        files = [path for path in (self.thesaurus, self.roget) if path]
        if self.dictionary:
            files += [self.dictionary, dictionary_text(self.dictionary)]
        return files


def read_thesaurus(path: Path) -> Iterator[list[str]]:
    """The head and the listed words of each line."""
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                words = [word.strip().lower() for word in line.split(",")]
                if len(words) > 1:
                    yield words
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is no text in UTF-8; give lines of head,word,word") from error


def dictionary_text(index: Path) -> Path:
    """The file with the text beside the index of a dictionary.

    Raises:
        InputError: there is none.
    """
    if index.suffix != ".index" or not index.exists():
        raise InputError(f"{index}: no such index of a dictionary; give a file NAME.index of dictd")
    for suffix in (".dict.dz", ".dict"):
        path = index.with_suffix(suffix)
        if path.exists():
            return path
    raise InputError(f"{index.with_suffix('.dict')}: no such file; it belongs to {index.name}")


def read_dictionary(index: Path) -> Iterator[tuple[str, Entry]]:
    """The headwords of a dictionary of dictd and what it says of each."""
    path = dictionary_text(index)
    try:
        # A .dz file is one of gzip with an extra field.
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".dz" else path.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: is damaged: {error}") from error
    for line in index.read_bytes().splitlines():
        try:
            headword, *numbers = line.decode().split("\t")
            start, length = map(_number, numbers)
        except ValueError as error:
            raise InputError(f"{index}: is no index of dictd: {line[:40]!r}") from error
        if start + length > len(text):
            raise InputError(f"{path}: is too short for {index.name}; take both from one package")
        headword = headword.strip().lower()
        if _WORD.fullmatch(headword):
            yield headword, parse_entry(text[start : start + length].decode("utf-8", "replace"))


def _number(digits: str) -> int:
    value = 0
    for digit in digits:
        value = value * len(_BASE64) + _BASE64.index(digit)
    return value


def parse_entry(text: str) -> Entry:
    """The definitions, synonyms and opposites of the trusted parts of an entry."""
    ends = [(match.start(), match.end(), match[1]) for match in _SOURCE.finditer(text)]
    starts = [0, *(end for _, end, _ in ends)]
    trusted = "\n\n".join(
        text[start:end]
        for start, (end, _, source) in zip(starts, ends, strict=False)
        if _TRUSTED in source and _UNTRUSTED not in source
    )
    plain = _without_brackets(_QUOTATION.sub("", trusted))
    synonyms = [
        word
        for match in _SYNONYMS.finditer(plain)
        for part in re.split(r"[,;.]", match[1].replace("{", "").replace("}", ""))
        if (word := _single_word(part))
    ]
    plain = _SYNONYMS.sub("", plain)
    joined = " ".join(plain.split())
    opposites = [word for match in _OPPOSITES.finditer(joined) for word in _opposed_words(match[1])]
    senses = []
    for number, sense in enumerate(_SENSE.split(_COLLOCATION.sub("", plain))):
        definition = " ".join(sense.split())
        definition = definition if number else _HEAD.sub("", definition)
        definition = _OPPOSITES.sub(" ", _ASIDE.sub(" ", definition))
        senses.append(_WORD.findall(definition.lower()))
    return Entry([sense for sense in senses if sense], synonyms, opposites)


def _without_brackets(text: str) -> str:
    """Without etymologies, which have brackets in brackets."""
    shorter = _BRACKETS.sub("", text)
    return text if shorter == text else _without_brackets(shorter)


def _single_word(text: str) -> str | None:
    """The word of a list's item, without *to* of a verb; None if there are several."""
    words = _WORD.findall(text.lower())
    words = words[1:] if words[:1] == ["to"] else words
    return words[0] if len(words) == 1 else None


def _opposed_words(text: str) -> list[str]:
    """The first words after *opposed to*; where some are marked as references, these alone."""
    marked = [word for part in re.findall(r"\{([^{}]*)\}", text) if (word := _single_word(part))]
    if marked:
        return marked
    words = [word for word in _WORD.findall(text.split(",")[0].lower()) if word not in _ARTICLES]
    return words if len(words) == 1 else []


@dataclass(frozen=True)
class LexicalLinks:
    """What lexical resources say of the words of a vocabulary."""

    base: Int64Array
    """The number of each word's base form, (V,)."""
    first: Int64Array
    """Of each base form its most frequent word, (N,)."""
    keys: Int64Array
    """Of a link from base form a to b, a·N + b; sorted, (L,)."""
    values: FloatArray
    """Of each link and kind how strong it is, at most 1, (L, K): for *defined* one over the
    position in the definition, so that 1 is mostly the genus; 0 where there is no link."""
    places: Places | None
    """In Roget's thesaurus."""

    def pairs(self) -> Int64Array:
        """The linked words (2, P), each base form by its most frequent word."""
        strong = (self.values[:, [_LISTED, _SYNONYM, _OPPOSED]] > 0).any(axis=1)
        strong |= self.values[:, _DEFINED] == 1
        forms = [np.stack(np.divmod(self.keys[strong], len(self.first)))]
        if self.places:
            forms.append(self.places.pairs())
        words: Int64Array = self.first[np.concatenate(forms, axis=1)]
        return words

    def features(self, vectors: FloatArray, device: torch.device) -> Features:
        """Of a pair: its links both ways, vectors of definitions and of the thesaurus, and places.

        Args:
            vectors: Of words, (V, D): that of a definition is the mean of those of its words.
            device: Of the features.
        """
        base, keys = (torch.from_numpy(array).to(device) for array in (self.base, self.keys))
        values = torch.from_numpy(self.values).to(device)
        # A row of zeros for pairs without a link.
        values = torch.cat([values, values.new_zeros(1, len(LINK_KINDS))])
        count = len(self.first)
        has = torch.zeros(count, len(LINK_KINDS), device=device)
        has.index_put_((keys // count,), (values[:-1] > 0).float(), accumulate=True)
        has = (has > 0).float()
        unit = functional.normalize(torch.from_numpy(vectors).to(device), dim=1)
        words = unit[torch.from_numpy(self.first).to(device)]
        definitions = functional.normalize(self._definitions(words), dim=1)
        thesaurus = self._thesaurus(device)
        places = [self.places.features(base)] if self.places else []

        def linked(x: Tensor, y: Tensor) -> Tensor:
            wanted = x * count + y
            places = torch.searchsorted(keys, wanted).clamp(max=max(0, len(keys) - 1))
            found = keys[places] == wanted if len(keys) else torch.zeros_like(wanted).bool()
            own = values[torch.where(found, places, len(keys))]
            return torch.cat([own, (own[:, [_DEFINED]] == 1).float()], dim=1)

        def features(x: Tensor, y: Tensor) -> Tensor:
            a, b = base[x], base[y]
            parts = [linked(a, b), linked(b, a), has[a], has[b]]
            for table in (definitions, thesaurus):
                product = table[a] * table[b]
                parts += [table[a], table[b], product, product.sum(dim=1, keepdim=True)]
            for one, other in ((a, y), (b, x)):
                parts.append((definitions[one] * unit[other]).sum(dim=1, keepdim=True))
            parts += [of_places(x, y) for of_places in places]
            return torch.cat(parts, dim=1)

        return features

    def _of_kind(self, kind: int) -> tuple[Int64Array, Int64Array, FloatArray]:
        own = np.flatnonzero(self.values[:, kind])
        return *np.divmod(self.keys[own], len(self.first)), self.values[own, kind]

    def _definitions(self, words: Tensor) -> Tensor:
        """Of each base form the mean of the vectors of its defining words, (N, D)."""
        heads, defining, strength = self._of_kind(_DEFINED)
        weights = strength * _inverse_frequencies(defining, len(words))[defining]
        return _sparse(heads, defining, weights, len(words)).to(words.device) @ words

    def _thesaurus(self, device: torch.device) -> Tensor:
        """Words under the same heads have vectors near each other, (N, S)."""
        heads, listed, _ = self._of_kind(_LISTED)
        count = len(self.first)
        rows, columns = np.concatenate([heads, listed]), np.concatenate([listed, heads])
        weights = _inverse_frequencies(columns, count)[columns]
        lengths = np.sqrt(np.bincount(rows, weights**2, minlength=count)).clip(min=1e-6)
        table = _sparse(rows, columns, weights / lengths[rows].astype(np.float32), count)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            size = min(_THESAURUS_SIZE, count)
            # On the CPU: the same vectors everywhere.
            left, singular, _ = torch.svd_lowrank(table, q=size, niter=4)
        return functional.normalize(left * singular, dim=1).to(device)


def _inverse_frequencies(words: Int64Array, count: int) -> FloatArray:
    frequency = np.bincount(words, minlength=count)
    weights: FloatArray = np.log((1 + count) / (1 + frequency)).astype(np.float32)
    return weights


def _sparse(rows: Int64Array, columns: Int64Array, values: FloatArray, count: int) -> Tensor:
    indices = torch.from_numpy(np.stack([rows, columns]))
    return torch.sparse_coo_tensor(
        indices, torch.from_numpy(values), (count, count), check_invariants=True
    ).coalesce()


def find_links(files: LexicalFiles, vocabulary: Vocabulary, wordnet: WordNet) -> LexicalLinks:
    """The links between the words of a vocabulary."""
    forms = [shortest_base_form(wordnet, word) for word in vocabulary.words]
    numbers: dict[str, int] = {}
    base = np.array([numbers.setdefault(form, len(numbers)) for form in forms], np.int64)
    _, first = np.unique(base, return_index=True)
    known = dict(numbers)

    def number(word: str) -> int:
        """Of its base form; -1 for one that no word of the vocabulary has."""
        if word not in known:
            known[word] = numbers.get(shortest_base_form(wordnet, word), -1)
        return known[word]

    frequent = set(vocabulary.words[: len(SPECIAL_TOKENS) + _FUNCTION_WORDS])
    x, y = base[np.stack(np.divmod(affix_pairs(vocabulary), len(vocabulary)))]
    opposites = {(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True) if a != b}
    found = [
        (a * len(numbers) + b, _AFFIX, 1.0) for pair in opposites for a, b in (pair, pair[::-1])
    ]
    for head, kind, words in _statements(files, frequent):
        own = number(head)
        for position, other in enumerate(map(number, words if own >= 0 else [])):
            if other not in {-1, own}:
                strength = 1 / (1 + position) if kind == _DEFINED else 1.0
                found.append((own * len(numbers) + other, kind, strength))
    columns = np.array(found, np.float64).reshape(-1, 3).T
    keys, rows = np.unique(columns[0].astype(np.int64), return_inverse=True)
    values = np.zeros((len(keys), len(LINK_KINDS)), np.float32)
    np.maximum.at(values, (rows, columns[1].astype(np.int64)), columns[2].astype(np.float32))
    counts = dict(zip(LINK_KINDS, (values > 0).sum(axis=0).tolist(), strict=True))
    _log.info("lexical links: %s", counts)
    places = find_places(files.roget, number, len(numbers), opposites) if files.roget else None
    return LexicalLinks(base, first.astype(np.int64), keys, values, places)


def _statements(files: LexicalFiles, frequent: set[str]) -> Iterator[tuple[str, int, list[str]]]:
    """Heads, kinds of links, and the words they lead to."""
    if files.thesaurus:
        for head, *words in read_thesaurus(files.thesaurus):
            yield head, _LISTED, words
    if files.dictionary:
        for head, entry in read_dictionary(files.dictionary):
            yield head, _SYNONYM, entry.synonyms
            yield head, _OPPOSED, entry.opposites
            for sense in entry.senses[:_SENSES]:
                words = [word for word in sense if word not in frequent]
                yield head, _DEFINED, words[:_DEFINING_WORDS]

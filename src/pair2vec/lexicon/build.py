"""The entries of some terms: candidates, their relations, and what the text says of them.

Done by any number of processes, each of which opens corpus and model once.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pair2vec.api import Pair2vec, load
from pair2vec.errors import UsageError
from pair2vec.lexicon.candidates import CandidatePairs, Terms, terms_of
from pair2vec.lexicon.evidence import Evidence, EvidenceScorer, find_evidence
from pair2vec.lexicon.export import Format, LexiconEntry, export_lexicon
from pair2vec.lexicon.inverted_index import InvertedIndex, open_index
from pair2vec.relations.definitions import NONE
from pair2vec.runtime.storage import write_file, writing
from pair2vec.text.corpus import open_corpus, read_manifest
from pair2vec.text.engines import local_engine
from pair2vec.text.vocabulary import WordPair


@dataclass(frozen=True, kw_only=True, slots=True)
class LexiconConfig:
    """What is an entry."""

    relations: tuple[str, ...] = ()
    """Which are wanted; none means all."""
    probability: float = 0.65
    """The least of an entry."""
    unrelated: float = 0.9
    """The share of candidates that have none of the relations."""
    per_term: int = 20
    """The most entries of a term, the likeliest."""
    evidence: int = 3
    """The most sentences of an entry."""
    needs_evidence: bool = False
    """Whether an entry without a sentence is left out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LexiconInputs:
    """Where everything is; small, to be sent to other processes."""

    corpus: Path
    model: Path
    relations: Path | None
    terms: tuple[str, ...]


class LexiconTask(NamedTuple):
    """A part of the work: the terms from one number to another."""

    places: LexiconInputs
    config: LexiconConfig
    first: int
    last: int


class LexiconPart(NamedTuple):
    """A part of the lexicon."""

    first: int
    last: int
    entries: list[LexiconEntry]


def build_part(portion: LexiconTask) -> LexiconPart:
    """The entries of its terms, in the order of the terms, the likeliest first."""
    workshop = _workshop(portion.places)
    entries: list[LexiconEntry] = []
    for term in range(portion.first, portion.last):
        entries += workshop.entries(term, portion.config)
    return LexiconPart(portion.first, portion.last, entries)


@cache
def _workshop(places: LexiconInputs) -> "LexiconWorker":
    return LexiconWorker(places)


class LexiconWorker:
    """Everything open that the work needs."""

    def __init__(self, places: LexiconInputs) -> None:
        self._model: Pair2vec = load(places.model)
        self._index: InvertedIndex = open_index(open_corpus(places.corpus))
        vocabulary = self._index.corpus.vocabulary
        self._terms: Terms = terms_of(places.terms, vocabulary, self._model.vocabulary)
        self._candidates = CandidatePairs(self._index, self._terms, self._model.unit_words)
        self._relations = self._model.relations(places.relations)
        self._telling = EvidenceScorer(self._model, self._relations.definitions, vocabulary)

    def entries(self, term: int, config: LexiconConfig) -> list[LexiconEntry]:
        """Of one term."""
        words = self._terms.words
        partners = self._candidates.of(term).tolist()
        if not partners:
            return []
        pairs = [(words[term], words[other]) for other in partners]
        found = self._relations.score(pairs, unrelated=config.unrelated)
        names = np.array(self._relations.names)
        best = found.argmax(axis=1)
        likely = found[np.arange(len(partners)), best]
        wanted = (names[best] != NONE) & (likely >= config.probability)
        if config.relations:
            wanted &= np.isin(names[best], config.relations)
        order = [row for row in np.argsort(-likely, kind="stable").tolist() if wanted[row]]
        made = (
            self._entry(term, partners[row], str(names[best[row]]), float(likely[row]), config)
            for row in order
        )
        kept = (entry for entry in made if entry.evidence or not config.needs_evidence)
        return [entry for entry, _ in zip(kept, range(config.per_term), strict=False)]

    def _entry(
        self, term: int, other: int, relation: str, probability: float, config: LexiconConfig
    ) -> LexiconEntry:
        ids = self._terms.in_corpus
        pair = WordPair(int(ids[term]), int(ids[other]))
        fit = self._telling.of(relation)
        evidence = find_evidence(self._index, pair, fit, top=config.evidence)
        words = self._terms.words
        return LexiconEntry(words[term], relation, words[other], probability, evidence)


def lexicon_tasks(
    places: LexiconInputs, config: LexiconConfig, done: Sequence[int], size: int
) -> list[LexiconTask]:
    """The work that is left; `done` are the first terms of what is there already."""
    starts = range(0, len(places.terms), size)
    return [
        LexiconTask(places, config, start, min(start + size, len(places.terms)))
        for start in starts
        if start not in done
    ]


# == A whole lexicon, made in portions that are kept: stopped at any moment, it goes on from there.


_JOB = "job.json"
_TERMS_AT_ONCE = 50


def build_lexicon(
    places: LexiconInputs,
    config: LexiconConfig,
    out: Path,
    kind: Format,
    *,
    workers: int = 1,
    overwrite: bool = False,
    report: Callable[[int, int], None] = lambda done, all_: None,
) -> list[LexiconEntry]:
    """Make a lexicon, or finish one that was begun, and write it to `out`.

    `report` is told how many terms of how many are done.

    Raises:
        UsageError: `out` is there already, or another lexicon was begun there.
    """
    if out.exists() and not overwrite:
        raise UsageError(f"{out}: is there already; --overwrite replaces it")
    folder = _claim(out, _job(places, config), overwrite=overwrite)
    done = {made.first: made for made in _parts(folder)}
    left = lexicon_tasks(places, config, list(done), _TERMS_AT_ONCE)
    with local_engine(workers) as ordered_map:
        for made in ordered_map(build_part, left):
            _keep(folder, made)
            done[made.first] = made
            report(sum(part.last - part.first for part in done.values()), len(places.terms))
    whole = [entry for first in sorted(done) for entry in done[first].entries]
    with writing(out) as file:
        for line in export_lexicon(whole, kind):
            file.write(line.encode())
    shutil.rmtree(folder)
    return whole


def _job(places: LexiconInputs, config: LexiconConfig) -> dict[str, Any]:
    """What a begun lexicon may go on with."""
    definitions = places.relations.read_bytes() if places.relations else b""
    return {
        "corpus": read_manifest(places.corpus).fingerprint,
        "model": os.fspath(places.model.resolve()),
        "relations": hashlib.sha256(definitions).hexdigest(),
        "terms": hashlib.sha256("\n".join(places.terms).encode()).hexdigest(),
        "settings": {**asdict(config), "relations": list(config.relations)},
    }


def _claim(out: Path, job: dict[str, Any], *, overwrite: bool) -> Path:
    """The folder beside `out` for portions of this very job."""
    folder = out.with_name(f"{out.name}.begun")
    path = folder / _JOB
    if path.exists() and json.loads(path.read_bytes()) != job:
        if not overwrite:
            raise UsageError(
                f"{folder}: was begun with another corpus, model, terms or settings; go on with "
                "the same ones, or --overwrite"
            )
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_file(path, json.dumps(job, indent=2).encode())
    return folder


def _keep(folder: Path, made: LexiconPart) -> None:
    entries = [
        {**entry._asdict(), "evidence": [one._asdict() for one in entry.evidence]}
        for entry in made.entries
    ]
    content = json.dumps({"first": made.first, "last": made.last, "entries": entries})
    write_file(folder / f"terms-{made.first:08d}.json", content.encode())


def _parts(folder: Path) -> Iterator[LexiconPart]:
    for path in sorted(folder.glob("terms-*.json")):
        saved = json.loads(path.read_bytes())
        entries = [
            LexiconEntry(**{**entry, "evidence": [Evidence(**one) for one in entry["evidence"]]})
            for entry in saved["entries"]
        ]
        yield LexiconPart(saved["first"], saved["last"], entries)
